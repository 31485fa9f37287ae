"""``maskpool-verify doctor``"""

from __future__ import annotations

import platform
import sys
from collections.abc import Callable, Iterator
from functools import partial
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import click

from maskpool_verify.commands.common import manifest_option
from maskpool_verify.engine.select import choose
from maskpool_verify.engine.wasm import WasmEngine, default_cache, verify
from maskpool_verify.engine.wasm.node import node_command
from maskpool_verify.errors import EnvironmentFault, MaskpoolError
from maskpool_verify.manifest import load_manifest


@click.command()
@manifest_option
def doctor(manifest_path: Path) -> int:
    """Say what is installed, and what would keep `check` from running."""
    broken = False
    for title, examine in _checks(manifest_path):
        try:
            found = examine()
            click.echo(f"ok       {title}: {found}")
        except MaskpoolError as error:
            broken = True
            click.echo(f"problem  {title}: {error}")
    return EnvironmentFault.exit_code if broken else 0


def _checks(manifest_path: Path) -> Iterator[tuple[str, Callable[[], str]]]:
    yield "Python", lambda: f"{platform.python_version()} ({sys.executable})"
    for package in ("maskpool-verify", "jax", "jaxlib", "numpy"):
        yield package, partial(_version, package)
    yield "Node.js", lambda: " ".join(node_command())
    yield "embedded Lean", _embedded
    yield "engine that `auto` takes", _engine
    yield "manifest", lambda: f"{len(load_manifest(manifest_path).kernels)} kernels in {manifest_path}"


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        raise EnvironmentFault(f"{package} is not installed; install this project with pip.") from None


def _embedded() -> str:
    if problems := verify(default_cache()):
        raise EnvironmentFault(f"{problems[0]}; run maskpool-verify setup.")
    info = WasmEngine().info()
    return f"Lean {info.lean_version} in {default_cache()}, every checksum as recorded"


def _engine() -> str:
    engine = choose("auto")
    return f"{engine.name}, Lean {engine.info().lean_version}"
