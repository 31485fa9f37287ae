"""Install the fake package, in a process of its own: fake_install.py CACHE TARBALL MODE LOG."""

import sys
from pathlib import Path

from maskpool_verify.engine.wasm import package
from maskpool_verify.engine.wasm.patch import Patched

cache, tarball, mode, log = sys.argv[1:]
package.INTEGRITY = package._integrity(Path(tarball))
package.patch = lambda wasm, glue: Patched(wasm, glue, b"symbols")
npm = [sys.executable, str(Path(__file__).with_name("fake_npm.py")), mode, tarball, log]
package.install(Path(cache), lambda step: print(step.phase, flush=True), npm=npm)
