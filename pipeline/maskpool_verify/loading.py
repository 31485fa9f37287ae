"""From ``"path.py:function"`` or ``"package.module:function"`` to the Python function.

The user's tree is left as it is: no bytecode is written, and ``sys.path`` is as before afterwards.
"""

from __future__ import annotations

import hashlib
import importlib
import importlib.util
import inspect
import sys
import traceback
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any, TypeAlias

from maskpool_verify.errors import ManifestError, TraceError
from maskpool_verify.manifest import Kernel, suggestion

KernelFunction: TypeAlias = Callable[..., Any]

_GIVEN = "<given>"
_given: dict[str, KernelFunction] = {}


@contextmanager
def given(name: str, function: KernelFunction) -> Iterator[str]:
    """Let a function object be that of a kernel within this block.

    Gives what the key ``function`` of the kernel has to be.
    """
    _given[name] = function
    try:
        yield f"{_GIVEN}:{name}"
    finally:
        del _given[name]


def load_function(kernel: Kernel, root: Path) -> KernelFunction:
    """Import the function of ``kernel``; ``root`` is the directory of the manifest.

    :class:`ManifestError` if there is no such file, module or function, or if its signature does not fit the
    arguments of the manifest; :class:`TraceError` if importing it raises.
    """
    where = f'Kernel "{kernel.name}"'
    target, _, name = kernel.function.partition(":")
    if target == _GIVEN and name in _given:
        _check_signature(where, _given[name], [argument.name for argument in kernel.arguments])
        return _given[name]
    module = _from_file(where, target, root) if target.endswith(".py") else _from_module(where, target, root)
    function = vars(module).get(name)
    if function is None:
        names = [key for key, value in vars(module).items() if callable(value) and not key.startswith("_")]
        raise ManifestError(f'{where}: {target} has no function "{name}"{suggestion(name, names)}.')
    if not callable(function):
        kind = type(function).__name__
        raise ManifestError(f'{where}: "{name}" in {target} is not a function but has type {kind}.')
    _check_signature(where, function, [argument.name for argument in kernel.arguments])
    return function  # type: ignore[no-any-return]  # callable() narrows Any to a callable only in newer mypy


def definition(function: KernelFunction) -> tuple[Path, int] | None:
    """The file and line of the definition of ``function``, if it is written in Python."""
    code = getattr(inspect.unwrap(function), "__code__", None)
    return None if code is None else (Path(code.co_filename), code.co_firstlineno)


@dataclass(frozen=True)
class UserFiles:
    """Which files are the user's own, and how to name a place in them.

    ``root`` is the directory of the manifest; ``kernel_file`` is where the function is defined, which may be
    elsewhere.
    """

    root: Path
    kernel_file: Path | None = None

    def owns(self, file: str) -> bool:
        """True for the kernel's file and all files under ``root`` but installed ones and ours."""
        path = Path(file).resolve()
        if self.kernel_file is not None and path == self.kernel_file.resolve():
            return True
        ours = path.is_relative_to(Path(__file__).resolve().parent)
        return path.is_relative_to(self.root.resolve()) and "site-packages" not in path.parts and not ours

    def name(self, file: str) -> str:
        """``file`` relative to ``root`` where possible, with forward slashes."""
        path, root = Path(file).resolve(), self.root.resolve()
        return path.relative_to(root).as_posix() if path.is_relative_to(root) else path.as_posix()

    def describe(self, error: BaseException) -> str:
        """``"ValueError at kernels/pool.py:12: first line of the message"``, at the user's deepest frame."""
        frames = [frame for frame in traceback.extract_tb(error.__traceback__) if self.owns(frame.filename)]
        place = f" at {self.name(frames[-1].filename)}:{frames[-1].lineno}" if frames else ""
        message = next((line.strip() for line in str(error).splitlines() if line.strip()), "")
        return f"{type(error).__name__}{place}" + (f": {message.rstrip('.')}" if message else "")


def _from_file(where: str, target: str, root: Path) -> ModuleType:
    file = (root / target).resolve()
    if not file.is_file():
        raise ManifestError(
            f"{where}: there is no file {target} beside the manifest; correct the key function."
        )
    name = f"maskpool_kernel_{file.stem}_{hashlib.sha256(str(file).encode()).hexdigest()[:8]}"
    spec = importlib.util.spec_from_file_location(name, file)
    if spec is None or spec.loader is None:
        raise ManifestError(f"{where}: {target} is not a Python file; correct the key function.")
    module = importlib.util.module_from_spec(spec)
    with _importing(file.parent), _import_errors(where, target, root):
        sys.modules[name] = module
        try:
            spec.loader.exec_module(module)
        except BaseException:
            del sys.modules[name]
            raise
    return module


def _from_module(where: str, target: str, root: Path) -> ModuleType:
    with _importing(root), _import_errors(where, target, root):
        try:
            return importlib.import_module(target)
        except ModuleNotFoundError as error:
            if error.name is not None and f"{target}.".startswith(f"{error.name}."):
                raise ManifestError(
                    f"{where}: there is no module {target}; install it or correct the key function."
                ) from None
            raise


@contextmanager
def _importing(directory: Path) -> Iterator[None]:
    """Import with ``directory`` first on ``sys.path``; no bytecode is written.

    Modules found in ``directory`` are forgotten afterwards, so that a ``helpers.py`` beside one kernel is not
    taken for the ``helpers.py`` beside another one, nor an old version for an edited one.
    """
    directory = directory.resolve()
    path, bytecode, before = list(sys.path), sys.dont_write_bytecode, set(sys.modules)
    sys.path.insert(0, str(directory))
    sys.dont_write_bytecode = True
    importlib.invalidate_caches()
    try:
        yield
    finally:
        sys.path[:] = path
        sys.dont_write_bytecode = bytecode
        files = UserFiles(directory)
        for name in set(sys.modules) - before:
            file = getattr(sys.modules[name], "__file__", None)
            if file is not None and files.owns(file):
                del sys.modules[name]


@contextmanager
def _import_errors(where: str, target: str, root: Path) -> Iterator[None]:
    """Turn whatever an import raises into a :class:`TraceError` with the user's line."""
    try:
        yield
    except ManifestError:
        raise
    except SyntaxError as error:
        file = UserFiles(root).name(error.filename) if error.filename else target
        raise TraceError(f"{where}: {file}:{error.lineno} is not valid Python: {error.msg}.") from None
    except (Exception, SystemExit) as error:
        raise TraceError(f"{where}: importing {target} raises {UserFiles(root).describe(error)}.") from None


def _check_signature(where: str, function: KernelFunction, names: Sequence[str]) -> None:
    """The arguments of the manifest are passed by position: number and names have to agree."""
    try:
        parameters = list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):
        return
    positional = [p for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    required = [p for p in positional if p.default is p.empty]
    variadic = any(p.kind is p.VAR_POSITIONAL for p in parameters)
    has = f"the function has {len(positional)} ({', '.join(p.name for p in positional)})"
    if len(names) < len(required) or (len(names) > len(positional) and not variadic):
        raise ManifestError(
            f"{where}: the manifest lists {len(names)} arguments ({', '.join(names)}) and {has}; "
            "make them agree."
        )
    for parameter in parameters:
        if parameter.kind is parameter.KEYWORD_ONLY and parameter.default is parameter.empty:
            raise ManifestError(
                f'{where}: the keyword-only parameter "{parameter.name}" of the function has no default; '
                "kernels are called by position."
            )
    for number, (name, parameter) in enumerate(zip(names, positional, strict=False), start=1):
        if name != parameter.name:
            raise ManifestError(
                f'{where}: argument {number} is "{name}" in the manifest and "{parameter.name}" in the '
                "function; list the arguments in call order."
            )
