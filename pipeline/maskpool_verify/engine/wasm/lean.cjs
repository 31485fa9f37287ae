// Run the embedded Lean once:
//   node lean.cjs INSTALLATION BUILD WORK LEAN-ARGUMENTS...
// INSTALLATION is the patched package. BUILD is a project's build directory; compiled modules are found in
// BUILD/lib. WORK, below BUILD, becomes the working directory. Lean sees nothing else of the machine, and
// sees these under fixed names, so any path works and none gets into an artifact.
'use strict';
const fs = require('fs');
const path = require('path');
const vm = require('vm');

const CANNOT_START = 71; // as in build.py
const [installation, build, work] = process.argv.slice(2, 5).map((name) => path.resolve(name));
const LEAN = '/lean';
const BUILD = '/project/.maskpool/build/wasm';

// This build of Lean traces its progress on stderr in lines of these forms.
const TRACE = /^\[DEBUG:|^  - \S*\.olean$|^  mainModule\? = /;

process.on('uncaughtException', (error) => { // without the excerpt of lean.js that Node prints
  fs.writeSync(2, `Lean crashed: ${error?.message ?? error}\n`);
  process.exit(70);
});

globalThis.require = require;
globalThis.__dirname = installation; // where the glue looks for lean.sym
globalThis.Module = {
  arguments: process.argv.slice(5),
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
  print: (line) => fs.writeSync(1, line + '\n'),
  printErr: (line) => { if (!TRACE.test(line)) fs.writeSync(2, line + '\n'); },
  preRun: [() => {
    const { FS, NODEFS, ENV } = globalThis;
    for (const [name, root] of [[LEAN, installation], [BUILD, build]]) {
      FS.mkdirTree(name);
      FS.mount(NODEFS, { root }, name);
    }
    ENV.PWD = path.posix.join(BUILD, path.relative(build, work)); // the glue goes there
    ENV.LEAN_PATH = `${BUILD}/lib`;
    ENV.LLVM_PROFILE_FILE = '/dev/null'; // the build would write default.profraw here
  }],
};
process.argv.length = 1;
delete process.env.LEAN_PATH;
process.exitCode = 70; // until Lean has set it
const script = path.join(installation, 'lean.js');
let glue;
try {
  glue = new vm.Script(fs.readFileSync(script, 'utf8'), { filename: script });
} catch (error) {
  fs.writeSync(2, `${error.message}\n`);
  process.exit(CANNOT_START);
}
glue.runInThisContext();
