"""The export reduction, on small modules that Node.js itself validates and runs."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from maskpool_verify.engine.wasm import patch as patch_module
from maskpool_verify.engine.wasm.binary import WasmModule, encode_symbols, read_number, write_number
from maskpool_verify.engine.wasm.node import node_command
from maskpool_verify.engine.wasm.patch import patch
from maskpool_verify.errors import EnvironmentFault


def _vector(items: list[bytes]) -> bytes:
    return write_number(len(items)) + b"".join(items)


def _name(text: str) -> bytes:
    return _vector([bytes([byte]) for byte in text.encode()])


def _module() -> bytes:
    """Functions 0 to 2 return 10, 11, 12; only 1 is in the table, at 1. All are exported, and global 7."""
    sections = {
        1: _vector([b"\x60\x00\x01\x7f"]),
        2: _vector([_name("GOT.func") + _name("ten") + b"\x03\x7f\x01"]),
        3: _vector([b"\0"] * 3),
        4: b"\1\x70\0\2",
        6: _vector([b"\x7f\0\x41\x07\x0b"]),
        7: _vector(
            [_name(n) + b"\0" + bytes([i]) for i, n in enumerate(["ten", "eleven", "twelve"])]
            + [_name("seven") + b"\3\1", _name("table") + b"\1\0"]
        ),
        9: b"\1\0\x41\1\x0b\1\1",
        10: _vector([b"\4\0\x41" + bytes([10 + i]) + b"\x0b" for i in range(3)]),
    }
    body = b"".join(bytes([n]) + write_number(len(s)) + s for n, s in sections.items())
    return b"\0asm\1\0\0\0" + body


def _node(script: str, *arguments: str) -> object:
    command = [*node_command(), "-e", script, *arguments]
    return json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)


@given(st.integers(0, 2**40), st.binary())
def test_numbers_are_read_as_written(value: int, after: bytes) -> None:
    encoded = write_number(value)
    assert read_number(encoded + after, 0) == (value, len(encoded))


def test_every_function_can_be_called_through_its_address(tmp_path: Path) -> None:
    module = WasmModule(_module())
    addresses = module.assign_addresses()
    assert addresses == {"ten": 2, "eleven": 1, "twelve": 3, "seven": 7}
    (tmp_path / "reduced.wasm").write_bytes(module.encode({"table", "twelve"}))
    script = """
      const wasm = new WebAssembly.Module(require('fs').readFileSync(process.argv[1]));
      const ten = new WebAssembly.Global({ value: 'i32', mutable: true }, 0);
      const { exports } = new WebAssembly.Instance(wasm, { 'GOT.func': { ten } });
      console.log(JSON.stringify([Object.keys(exports), [1, 2, 3].map((i) => exports.table.get(i)())]));
    """
    assert _node(script, str(tmp_path / "reduced.wasm")) == [["twelve", "table"], [11, 10, 12]]


@given(
    st.dictionaries(
        st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"])), st.integers(1, 2**31)
    )
)
def test_symbol_table_layout(addresses: dict[str, int]) -> None:
    encoded = encode_symbols(addresses)
    words = memoryview(encoded)[: 4 + 8 * len(addresses)].cast("I")
    text = encoded[4 + 8 * len(addresses) :]
    count = words[0]
    names = [text[start : text.index(b"\0", start)] for start in words[1 : 1 + count]]
    assert names == sorted(names)
    assert {name.decode(): words[1 + count + i] for i, name in enumerate(names)} == addresses


def test_find_symbol_finds_what_is_there_and_nothing_else(tmp_path: Path) -> None:
    addresses = {f"l_Lean_{i:x}": i + 1 for i in range(500)} | {"l_Lean": 900, "é": 901, "": 902}
    (tmp_path / "lean.sym").write_bytes(encode_symbols(addresses))
    absent = ["l_Lea", "l_Lean_", "l_Lean_1ff", "z", "è"]
    script = f"""
      var fs = require('fs'), scriptDirectory = process.argv[1] + '/', log = console.log;
      {Path(patch_module.__file__).with_name("prelude.js").read_text("utf-8")}
      log(JSON.stringify(JSON.parse(process.argv[2]).map(findSymbol)));
    """
    found = _node(script, str(tmp_path), json.dumps([*addresses, *absent]))
    assert found == [*addresses.values(), *[0] * len(absent)]


def _glue(extra: str = "") -> str:
    changes = "".join(change.old for change in patch_module._CHANGES)
    assignments = ";".join(f'_{n}=Module["_{n}"]=wasmExports["{n}"]' for n in ("eleven", "twelve", "table"))
    names = "_eleven,_twelve,_table,wasmTable"
    return f"var {names};function assignWasmExports(wasmExports){{{assignments}}}_twelve();{changes}{extra}"


def test_patch_keeps_the_exports_that_are_used() -> None:
    patched = patch(_module(), _glue())
    assert (
        'var _twelve;function assignWasmExports(wasmExports){_twelve=Module["_twelve"]=wasmExports["twelve"]}'
        in (patched.glue)
    )
    assert patched.glue.startswith('var tableIndex = {"ten": 2, "twelve": 3};\n')
    assert set(WasmModule(patched.wasm).exports) == {"ten", "twelve"}


@pytest.mark.parametrize("change", patch_module._CHANGES, ids=lambda change: change.why)
def test_patch_refuses_a_glue_with_no_place_or_two_for_a_change(change: patch_module.Change) -> None:
    for glue in (_glue(change.old), _glue().replace(change.old, "")):
        with pytest.raises(EnvironmentFault, match=r"not as expected: lean\.js has [02] places"):
            patch(_module(), glue)


def test_patch_refuses_other_assignments() -> None:
    with pytest.raises(EnvironmentFault, match="not as expected"):
        patch(_module(), _glue().replace('wasmExports["twelve"]', "0"))
