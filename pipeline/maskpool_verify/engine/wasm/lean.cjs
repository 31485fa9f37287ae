// The embedded Lean, building one module after another:
//   node lean.cjs INSTALLATION BUILD [CODE SHA256]
// CODE is machine code that another process has saved; it is used if it has the checksum SHA256 and this Node
// takes it. INSTALLATION is the patched package. BUILD is a project's build directory; compiled modules are found in
// BUILD/lib. Lean sees nothing else of the machine, and sees these under fixed names, so any path works and
// none gets into an artifact.
//
// A request is a line of JSON on standard input:
//   {"token": TOKEN, "work": DIRECTORY, "file": FILE, "olean": FILE, "ilean": FILE}
// DIRECTORY, below BUILD, becomes the working directory. What Lean prints is followed by a line
//   TOKEN STATUS BYTES
// with Lean's exit status and the size of its memory, which only grows. Lean starts once, before the first
// request; that takes five times as long as loading the imports of a module. A request
//   {"token": TOKEN, "save": FILE, "from": BYTES}
// saves the machine code of this process, if there are that many bytes of it; the status says so by 0.
'use strict';
const crypto = require('crypto');
const fs = require('fs');
const path = require('path');
const v8 = require('v8');
const vm = require('vm');
const workers = require('worker_threads');

const CANNOT_START = 71; // as in session.py
const [installation, build] = process.argv.slice(2, 4).map((name) => fs.realpathSync(name));
const [code, checksum] = process.argv.slice(4);
const LEAN = '/lean';
const BUILD = '/project/.maskpool/build/wasm';
const MOUNTS = [[LEAN, installation], [BUILD, build]];

// This build of Lean traces its progress on stderr in lines of these forms.
const TRACE = /^\[DEBUG:|^  - \S*\.olean$|^  mainModule\? = /;

process.on('uncaughtException', (error) => { // without the excerpt of lean.js that Node prints
  fs.writeSync(2, `Lean crashed: ${error?.message ?? error}\n`);
  process.exit(70);
});

// Calls a function of V8 that has no name in JavaScript; undefined where V8 has it not.
function native(name, ...values) {
  const parameters = values.map((_, number) => `value${number}`);
  try {
    v8.setFlagsFromString('--allow-natives-syntax');
    return new Function(...parameters, `return %${name}(${parameters})`)(...values);
  } catch {
    return undefined;
  } finally {
    v8.setFlagsFromString('--no-allow-natives-syntax');
  }
}

// Lean, with the machine code that was given; undefined without, or if V8 does not take it.
function loadCode(wasm) {
  if (code === undefined) return undefined;
  try {
    const saved = new Uint8Array(fs.readFileSync(code)).buffer; // a buffer of its own
    const found = crypto.createHash('sha256').update(new Uint8Array(saved)).digest('hex');
    if (found === checksum) return native('DeserializeWasmModule', saved, wasm);
  } catch { /* it was replaced, or is not readable */ }
  return undefined;
}

// Whether there were so many bytes of machine code, which are now in the file.
let lean; // WebAssembly.Module
function saveCode({ save, from }) {
  const saved = native('SerializeWasmModule', lean);
  if (!saved || saved.byteLength < from) return false;
  fs.writeFileSync(save, new Uint8Array(saved));
  return true;
}

// The next line of standard input, or null at its end.
let received = '';
function readLine() {
  const chunk = Buffer.alloc(65536);
  while (!received.includes('\n')) {
    const length = fs.readSync(0, chunk);
    if (length === 0) return null;
    received += chunk.toString('utf8', 0, length);
  }
  const end = received.indexOf('\n');
  const line = received.slice(0, end);
  received = received.slice(end + 1);
  return line;
}

// The options of Lean's command line by the letters under which Lean's shell knows them.
const options = ({ olean, ilean }) => [['J', null], ['R', '.'], ['o', olean], ['i', ilean]];

// Lean's own `main`, which initializes Lean, and ends in `exit`; for a module with nothing in it.
function start() {
  globalThis.FS.writeFile('/start.lean', 'module\nprelude\n');
  globalThis.ENV.PWD = '/';
  const status = globalThis.callMain(['/start.lean']);
  if (status !== 0) process.exit(CANNOT_START);
}

// A module: what `main` does after the initialization, with the threads that it has started.
function run(request) {
  const { findSymbol, wasmTable, stackAlloc, stackSave, stackRestore, stringToUTF8OnStack } = globalThis;
  const call = (name, ...values) => wasmTable.get(findSymbol(name))(...values);
  const stack = stackSave();
  try {
    const [shell, status, argv] = [stackAlloc(16), stackAlloc(16), stackAlloc(16)];
    call('_ZN4lean16mk_shell_optionsEv', shell);
    for (const [letter, value] of options(request)) {
      const text = value === null ? 0 : stringToUTF8OnStack(value);
      const name = '_ZN4lean20process_shell_optionERNS_10object_refEiPKcRi';
      if (call(name, shell, letter.charCodeAt(0), text, status)) throw Error(`no option -${letter}`);
    }
    new DataView(globalThis.HEAPU8.buffer).setUint32(argv, stringToUTF8OnStack(request.file), true);
    return call('_ZN4lean14run_shell_mainEiPPcRKNS_10object_refE', 1, argv, shell);
  } catch (error) {
    if (error?.name !== 'ExitStatus') throw error;
    return error.status;
  } finally {
    stackRestore(stack);
  }
}

function serve() {
  const { FS, ENV, findSymbol, wasmTable } = globalThis;
  const answer = (request, status) =>
    fs.writeSync(1, `${request.token} ${status} ${globalThis.HEAPU8.byteLength}\n`);
  start();
  for (let line; (line = readLine()) !== null;) {
    const request = JSON.parse(line);
    if (request.save !== undefined) {
      answer(request, saveCode(request) ? 0 : 1);
      continue;
    }
    ENV.PWD = path.posix.join(BUILD, path.relative(build, fs.realpathSync(request.work)));
    FS.chdir(ENV.PWD);
    const status = run(request);
    wasmTable.get(findSymbol('fflush'))(0);
    answer(request, status);
  }
  process.exit(0);
}

globalThis.require = require;
globalThis.__dirname = installation; // where the glue looks for lean.sym
globalThis.Module = {
  noInitialRun: true,
  noExitRuntime: true, // `exit` is the end of a module only
  thisProgram: `${LEAN}/bin/lean`,
  mainScriptUrlOrBlob: path.join(installation, 'lean.js'), // run by the threads
  instantiateWasm: (imports, done) => {
    let instance;
    try {
      const wasm = fs.readFileSync(path.join(installation, 'lean.wasm'));
      lean = loadCode(wasm) ?? new WebAssembly.Module(wasm);
      instance = new WebAssembly.Instance(lean, imports);
    } catch (error) {
      fs.writeSync(2, `${error.message}\n`);
      process.exit(CANNOT_START);
    }
    done(instance, lean);
  },
  stdin: () => null, // the requests are not for Lean
  print: (line) => fs.writeSync(1, line + '\n'),
  printErr: (line) => { if (!TRACE.test(line)) fs.writeSync(2, line + '\n'); },
  preRun: [() => {
    const { FS, NODEFS, ENV } = globalThis;
    for (const [name, root] of MOUNTS) {
      FS.mkdirTree(name);
      FS.mount(NODEFS, { root }, name);
    }
    ENV.LEAN_PATH = `${LEAN}/lib/lean:${BUILD}/lib`;
    ENV.LLVM_PROFILE_FILE = '/dev/null'; // the build would write default.profraw here
  }],
  postRun: [serve],
};
workers.setEnvironmentData('mounts', MOUNTS.map((names) => names.map((name) => `${name}/`)));
process.argv.length = 1;
delete process.env.LEAN_PATH;
const script = path.join(installation, 'lean.js');
let glue;
try {
  glue = new vm.Script(fs.readFileSync(script, 'utf8'), { filename: script });
} catch (error) {
  fs.writeSync(2, `${error.message}\n`);
  process.exit(CANNOT_START);
}
glue.runInThisContext();
