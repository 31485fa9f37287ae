"""The embedded Lean: Lean 4.28 as WebAssembly, on Node.js."""

from maskpool_verify.engine.wasm.build import WasmEngine
from maskpool_verify.engine.wasm.package import InstallStep, default_cache, install, is_installed, verify

__all__ = ["InstallStep", "WasmEngine", "default_cache", "install", "is_installed", "verify"]
