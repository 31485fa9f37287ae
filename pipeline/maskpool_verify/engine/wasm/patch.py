"""Makes the published WebAssembly build of Lean start in 2 s instead of 140 s.

Of 201,110 exports, 162 are used. Every thread prepared all of them in JavaScript, and ``dlsym`` searched
them one by one. Here the unused exports are dropped, their addresses go to a sorted table
(``lean.sym``), and the JavaScript that Emscripten generated (``lean.js``, the glue) is changed to match.
Each change must find its place exactly once, so nothing is changed by guess.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from pathlib import Path

from maskpool_verify.engine.wasm.binary import Kind, WasmModule, encode_symbols, require

_ASSIGNMENTS = re.compile(r"\bvar ((?:\w+,)+wasmTable);function assignWasmExports\(wasmExports\)\{([^{}]*)\}")
_ASSIGNMENT = re.compile(r'(\w+)=.*wasmExports\["(\w+)"\](?:\.value)?')
_IDENTIFIER = re.compile(r"[\w$]+")


@dataclass(frozen=True)
class Change:
    """A replacement in ``lean.js``. ``old`` must occur exactly once."""

    why: str
    old: str
    new: str


_CHANGES = (
    Change(
        "the address of a function is known: do not search the table for it",
        'if(typeof value=="function"){newValue=addFunction(value)}',
        'if(typeof value=="function"){newValue=tableIndex[symName]}',
    ),
    Change(
        "nothing asks any more which place in the table a function has",
        "functionsInTableMap=new WeakMap;updateTableMap(0,wasmTable.length)",
        "functionsInTableMap=new WeakMap",
    ),
    Change(
        "dlsym: binary search in lean.sym",
        "newSymIndex=Object.keys(lib.exports).indexOf(symbol);",
        "var known=findSymbol(symbol);if(known)return known;"
        "newSymIndex=Object.keys(lib.exports).indexOf(symbol);",
    ),
    Change("start threads when they are needed", "var pthreadPoolSize=4;", "var pthreadPoolSize=0;"),
    Change(
        "stack enough that Lean's own recursion limit is reached first; the default is 4 MB",
        'worker=new Worker(pthreadMainJs,{workerData:"em-pthread",',
        'worker=new Worker(pthreadMainJs,{resourceLimits:{stackSizeMb:16},workerData:"em-pthread",',
    ),
    Change(
        "the main thread waits in pause(), not in fixed steps of 1 ms",
        "__emscripten_thread_init(tb,!ENVIRONMENT_IS_WORKER,1,!ENVIRONMENT_IS_WEB,",
        "__emscripten_thread_init(tb,!ENVIRONMENT_IS_WORKER,1,0,",
    ),
    Change(
        "the loop of the main thread reads the clock in every round",
        "var _emscripten_get_now=()=>performance.timeOrigin+performance.now();",
        "var _emscripten_get_now=()=>pause(performance.timeOrigin+performance.now());",
    ),
    Change(
        "a thread that needs the main thread wakes it up",
        "var proxyToMainThread=(funcIndex,emAsmAddr,sync,...callArgs)=>{",
        "var proxyToMainThread=(funcIndex,emAsmAddr,sync,...callArgs)=>{requestMainThread();",
    ),
    Change(
        "directories are mounted by lean.cjs, under names that do not depend on the machine",
        'FS.mount(NODEFS,{root:"/home"},"/home");FS.mount(NODEFS,{root:"/tmp"},"/tmp");var cwd=process.cwd();'
        'if(cwd.startsWith("/private/tmp/")){cwd=cwd.replace("/private/tmp/","/tmp/")}'
        'else if(cwd==="/private/tmp"){cwd="/tmp"}FS.chdir(cwd)',
        "FS.chdir(ENV.PWD)",
    ),
    Change(
        "Lean finds its library from its own path",
        "if(isNode){path=__filename}",
        'if(isNode){path="/lean/bin/lean"}',
    ),
    *(
        Change(
            "a file that is only read needs no help of the main thread",
            f"function {signature}{{if(ENVIRONMENT_IS_PTHREAD)",
            f"function {signature}{{var done={call};if(done!==undefined)return done;"
            "if(ENVIRONMENT_IS_PTHREAD)",
        )
        for signature, call in (
            ("___syscall_openat(dirfd,path,flags,varargs)", "openHere(path,flags)"),
            ("___syscall_stat64(path,buf)", "statHere(path,buf)"),
            ("___syscall_lstat64(path,buf)", "statHere(path,buf)"),
            ("___syscall_newfstatat(dirfd,path,buf,flags)", "statHere(path,buf)"),
            ("___syscall_fstat64(fd,buf)", "fstatHere(fd,buf)"),
            ("_fd_read(fd,iov,iovcnt,pnum)", "readHere(fd,iov,iovcnt,pnum)"),
            ("_fd_seek(fd,offset,whence,newOffset)", "seekHere(fd,offset,whence,newOffset)"),
            ("_fd_close(fd)", "closeHere(fd)"),
        )
    ),
)


@dataclass(frozen=True)
class Patched:
    """The patched files, by content."""

    wasm: bytes
    glue: str
    symbols: bytes


def patch(wasm: bytes, glue: str) -> Patched:
    """Patch ``lean.wasm`` and ``lean.js`` of the published package.

    Raises:
        EnvironmentFault: they are not the expected ones.
    """
    module = WasmModule(wasm)
    addresses = module.assign_addresses()
    glue, kept = _reduce_glue(glue, module)
    for change in _CHANGES:
        glue = _replace_once(glue, change.old, change.new)
    functions = {n: addresses[n] for n in sorted(kept) if module.exports.get(n, (None,))[0] == Kind.FUNCTION}
    prelude = Path(__file__).with_name("prelude.js").read_text(encoding="utf-8")
    return Patched(
        wasm=module.encode(kept),
        glue=f"var tableIndex = {json.dumps(functions)};\n{prelude}{glue}",
        symbols=encode_symbols(addresses),
    )


def _reduce_glue(glue: str, module: WasmModule) -> tuple[str, set[str]]:
    """Drop the assignments of unused exports; return the glue and the names of the exports to keep."""
    found = _ASSIGNMENTS.findall(glue)
    require(len(found) == 1, f"lean.js has {len(found)} functions assignWasmExports")
    names, assignments = found[0]
    others = glue.replace(names, "", 1).replace(assignments, "", 1)
    used = set(_IDENTIFIER.findall(others))

    # Needed: what the module itself takes from its global offset table, what the glue names in any form
    # (such as wasmExports["name"]), and the thread-local data that dylink.0 lists.
    kept = set(module.global_offset_names)
    kept.update(name for name in module.exports if name in used or name.encode() in module.dylink)
    kept_names: list[str] = []
    kept_assignments: list[str] = []
    for assignment in assignments.split(";"):
        match = _ASSIGNMENT.fullmatch(assignment)
        require(match, f"lean.js assigns {assignment[:70]!r}")
        if match and match[1] in used:
            kept_names.append(match[1])
            kept_assignments.append(assignment)
            kept.add(match[2])
    glue = _replace_once(glue, names + ";", ",".join(kept_names) + ";")
    return _replace_once(glue, assignments, ";".join(kept_assignments)), kept


def _replace_once(text: str, old: str, new: str) -> str:
    require(text.count(old) == 1, f"lean.js has {text.count(old)} places for {old[:70]!r}")
    return text.replace(old, new)
