// The embedded Lean, building one module after another:
//   node lean.cjs INSTALLATION BUILD
// INSTALLATION is the patched package. BUILD is a project's build directory; compiled modules are found in
// BUILD/lib. Lean sees nothing else of the machine, and sees these under fixed names, so any path works and
// none gets into an artifact.
//
// A request is a line of JSON on standard input:
//   {"token": TOKEN, "work": DIRECTORY, "file": FILE, "olean": FILE, "ilean": FILE}
// DIRECTORY, below BUILD, becomes the working directory. What Lean prints is followed by a line
//   TOKEN STATUS BYTES
// with Lean's exit status and the size of its memory, which only grows. Lean starts once, for the first
// request; that takes twice as long as loading the imports of a module.
'use strict';
const fs = require('fs');
const path = require('path');
const vm = require('vm');

const CANNOT_START = 71; // as in session.py
const [installation, build] = process.argv.slice(2, 4).map((name) => path.resolve(name));
const LEAN = '/lean';
const BUILD = '/project/.maskpool/build/wasm';

// This build of Lean traces its progress on stderr in lines of these forms.
const TRACE = /^\[DEBUG:|^  - \S*\.olean$|^  mainModule\? = /;

process.on('uncaughtException', (error) => { // without the excerpt of lean.js that Node prints
  fs.writeSync(2, `Lean crashed: ${error?.message ?? error}\n`);
  process.exit(70);
});

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

// The first module: Lean's own `main`, which initializes Lean, and ends in `exit`.
function start({ file, olean, ilean }) {
  return globalThis.callMain(['--json', file, '-R', '.', '-o', olean, '-i', ilean]);
}

// A further module: what `main` does after the initialization, with the threads that it has started.
function again(request) {
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
  for (let run = start, line; (line = readLine()) !== null; run = again) {
    const request = JSON.parse(line);
    ENV.PWD = path.posix.join(BUILD, path.relative(build, path.resolve(request.work)));
    FS.chdir(ENV.PWD);
    const status = run(request);
    wasmTable.get(findSymbol('fflush'))(0);
    fs.writeSync(1, `${request.token} ${status} ${globalThis.HEAPU8.byteLength}\n`);
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
    let module, instance;
    try {
      module = new WebAssembly.Module(fs.readFileSync(path.join(installation, 'lean.wasm')));
      instance = new WebAssembly.Instance(module, imports);
    } catch (error) {
      fs.writeSync(2, `${error.message}\n`);
      process.exit(CANNOT_START);
    }
    done(instance, module);
  },
  stdin: () => null, // the requests are not for Lean
  print: (line) => fs.writeSync(1, line + '\n'),
  printErr: (line) => { if (!TRACE.test(line)) fs.writeSync(2, line + '\n'); },
  preRun: [() => {
    const { FS, NODEFS, ENV } = globalThis;
    for (const [name, root] of [[LEAN, installation], [BUILD, build]]) {
      FS.mkdirTree(name);
      FS.mount(NODEFS, { root }, name);
    }
    ENV.LEAN_PATH = `${BUILD}/lib`;
    ENV.LLVM_PROFILE_FILE = '/dev/null'; // the build would write default.profraw here
  }],
  postRun: [serve],
};
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
