"""The manifest ``maskpool.toml``: which kernels there are, what their arguments mean, and at which shapes.

Every problem is one :class:`ManifestError` that names the file, the kernel and the key.
"""

from __future__ import annotations

import difflib
import re
import tomllib
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import permutations
from pathlib import Path
from typing import Any, Literal, TypeAlias

from pydantic import BaseModel, ConfigDict, ValidationError
from pydantic_core import ErrorDetails

from maskpool_verify.errors import ManifestError, UsageError

DType: TypeAlias = Literal["float16", "bfloat16", "float32", "float64", "bool"]
Role: TypeAlias = Literal["features", "logits", "mask", "parameter"]
Shape: TypeAlias = dict[str, int]
"""A size for every symbol, such as ``{"n": 4, "d": 3}``."""

_IDENTIFIER = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


class _Model(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class ArgumentSpec(_Model):
    """One argument of a kernel; an entry of ``shape`` is a symbol or a size."""

    name: str
    role: Role
    dtype: DType
    shape: tuple[str | int, ...]

    def sizes(self, shape: Mapping[str, int]) -> tuple[int, ...]:
        """The shape of the argument when the symbols have the sizes ``shape``."""
        return tuple(shape[axis] if isinstance(axis, str) else axis for axis in self.shape)


class Kernel(_Model):
    """One ``[[kernel]]`` table. ``rows`` is the symbol of the instance axis of the bag."""

    name: str
    function: str
    spec: Literal["attention"]
    rows: str
    shapes: tuple[Shape, ...]
    arguments: tuple[ArgumentSpec, ...]

    def argument(self, role: Literal["features", "logits", "mask"]) -> ArgumentSpec:
        """The one argument with this role."""
        return next(argument for argument in self.arguments if argument.role == role)

    def padding_pairs(self) -> tuple[tuple[Shape, Shape], ...]:
        """All pairs (short, long) of shapes that differ in nothing but a greater number of rows."""
        return tuple(
            (short, long)
            for short, long in permutations(self.shapes, 2)
            if short[self.rows] < long[self.rows] and {**short, self.rows: 0} == {**long, self.rows: 0}
        )


class _ManifestFile(_Model):
    kernel: tuple[Kernel, ...]


@dataclass(frozen=True)
class Manifest:
    """A valid manifest. Paths of kernels are relative to :attr:`root`."""

    path: Path
    kernels: tuple[Kernel, ...]

    @property
    def root(self) -> Path:
        """The directory of the manifest."""
        return self.path.parent

    def kernel(self, name: str) -> Kernel:
        """The kernel called ``name``; :class:`UsageError` with a suggestion if there is none."""
        for kernel in self.kernels:
            if kernel.name == name:
                return kernel
        names = [kernel.name for kernel in self.kernels]
        hint = suggestion(name, names)
        raise UsageError(f'{self.path} has no kernel "{name}"; it has {", ".join(names)}{hint}.')


def suggestion(word: str, words: Iterable[str]) -> str:
    """``; did you mean "x"``, to end a sentence with; empty if nothing in ``words`` is near."""
    near = difflib.get_close_matches(word, list(words), n=1)
    return f'; did you mean "{near[0]}"' if near else ""


def load_manifest(path: Path) -> Manifest:
    """Read and check a manifest; :class:`ManifestError` for the first problem found."""
    try:
        data = tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise ManifestError(f"There is no manifest {path}; create it or name another one.") from None
    except UnicodeDecodeError:
        raise ManifestError(f"{path} is not UTF-8 text; save it as UTF-8.") from None
    except OSError as error:
        raise ManifestError(f"{path} cannot be read: {error.strerror}; name a readable file.") from None
    except tomllib.TOMLDecodeError as error:
        raise ManifestError(f"{path} is not valid TOML: {error}.") from None
    try:
        file = _ManifestFile.model_validate(_tuples(data))
    except ValidationError as error:
        # A misspelt key is also a missing one: the unknown key is the better complaint.
        first = min(error.errors(), key=lambda each: each["type"] != "extra_forbidden")
        raise ManifestError(_sentence(path, data, first)) from None
    if not file.kernel:
        raise ManifestError(f"{path} has no kernel; add a [[kernel]] table.")
    for number, kernel in enumerate(file.kernel):
        problem = _problem(kernel)
        if problem is None and kernel.name in [earlier.name for earlier in file.kernel[:number]]:
            problem = "name: another kernel has this name; kernel names must differ"
        if problem is not None:
            raise ManifestError(f'{path}, kernel "{kernel.name}", {problem}.')
    return Manifest(path=path, kernels=file.kernel)


def _tuples(value: Any) -> Any:
    """Arrays of TOML as tuples, which is what strict validation wants."""
    match value:
        case dict():
            return {key: _tuples(item) for key, item in value.items()}
        case list():
            return tuple(map(_tuples, value))
    return value


_TABLES: dict[int, type[BaseModel]] = {1: _ManifestFile, 3: Kernel, 5: ArgumentSpec}
"""The model of a table, by the length of its keys' locations (such as ``kernel, 0, arguments, 1, name``)."""


def _sentence(path: Path, data: Mapping[str, Any], error: ErrorDetails) -> str:
    """One sentence for a complaint of pydantic."""
    # An entry of a union such as `str | int` adds the names of its members to the location.
    location = [part for part in error["loc"] if part not in ("str", "int", "[key]")]
    if not location:
        return f"{path} must be a TOML table with [[kernel]] tables."
    where = str(path)
    if len(location) > 2 and location[0] == "kernel" and isinstance(location[1], int):
        name = data["kernel"][location[1]].get("name")
        where += f', kernel "{name}"' if isinstance(name, str) else f", kernel {location[1] + 1}"
        location_shown = location[2:]
    else:
        location_shown = location
    key = ".".join(map(str, location_shown))
    match error["type"]:
        case "missing" if location == ["kernel"]:
            return f"{path} has no kernel; add a [[kernel]] table."
        case "missing":
            return f"{where}, {key}: the key is missing; add it."
        case "extra_forbidden":
            known = list(_TABLES[len(location)].model_fields)
            hint = suggestion(str(location[-1]), known)
            return f"{where}, {key}: unknown key; the keys are {', '.join(known)}{hint}."
        case "literal_error":
            return f"{where}, {key}: {error['input']!r} is not one of {error.get('ctx', {}).get('expected')}."
    shown = error["input"] if isinstance(error["input"], str | int | float) else type(error["input"]).__name__
    return f"{where}, {key}: {error['msg'].replace('Input', 'the value', 1)}, but it is {shown!r}."


def _problem(kernel: Kernel) -> str | None:
    """``"key: what is wrong; what to do"`` for the first inconsistency of a kernel, or ``None``."""
    checks = (_names_problem, _spec_problem, _symbols_problem, _pairs_problem)
    return next((problem for check in checks if (problem := check(kernel)) is not None), None)


def _names_problem(kernel: Kernel) -> str | None:
    named = [("name", kernel.name), ("rows", kernel.rows)]
    named += [("arguments", argument.name) for argument in kernel.arguments]
    named += [("shapes", symbol) for shape in kernel.shapes for symbol in shape]
    for argument in kernel.arguments:
        symbols = [axis for axis in argument.shape if isinstance(axis, str)]
        named += [(f"arguments.{argument.name}.shape", symbol) for symbol in symbols]
    for key, name in named:
        if not _IDENTIFIER.fullmatch(name):
            return f'{key}: "{name}" is not an ASCII identifier; use letters, digits and underscores'
    if not re.fullmatch(r"[^:]+:[^:]+", kernel.function):
        return f'function: "{kernel.function}" is neither "path.py:function" nor "package.module:function"'
    counts = Counter(argument.name for argument in kernel.arguments)
    for name, count in counts.items():
        if count > 1:
            return f'arguments: {count} arguments are called "{name}"; names must differ'
    return None


def _spec_problem(kernel: Kernel) -> str | None:
    """The demands of ``spec = "attention"``: one bag of rows with a logit and a mask entry for each row."""
    for role in ("features", "logits", "mask"):
        found = [argument.name for argument in kernel.arguments if argument.role == role]
        if len(found) != 1:
            have = f"{len(found)} ({', '.join(found)})" if found else "none"
            return f'arguments: spec "attention" needs exactly one with role "{role}", and there is {have}'
    features, logits, mask = (kernel.argument("features"), kernel.argument("logits"), kernel.argument("mask"))
    for argument in (logits, mask):
        if argument.shape != (kernel.rows,):
            return f'arguments.{argument.name}.shape: the {argument.role} must have shape ["{kernel.rows}"]'
    if features.shape[:1] != (kernel.rows,) or kernel.rows in features.shape[1:]:
        return (
            f"arguments.{features.name}.shape: the features must have the row symbol "
            f'"{kernel.rows}" as first axis and nowhere else'
        )
    if mask.dtype != "bool":
        return f'arguments.{mask.name}.dtype: the mask must be "bool", not "{mask.dtype}"'
    for argument in kernel.arguments:
        if argument is not mask and argument.dtype == "bool":
            return f"arguments.{argument.name}.dtype: the {argument.role} must have a float dtype"
        if argument.role == "parameter" and kernel.rows in argument.shape:
            return f'arguments.{argument.name}.shape: a parameter has the row symbol "{kernel.rows}"'
    if features.dtype != logits.dtype:
        return (
            f"arguments.{logits.name}.dtype: logits ({logits.dtype}) and features ({features.dtype}) "
            "must have the same dtype"
        )
    return None


def _symbols_problem(kernel: Kernel) -> str | None:
    used = {axis for argument in kernel.arguments for axis in argument.shape if isinstance(axis, str)}
    if not kernel.shapes:
        return "shapes: there is none; give at least one, such as { n = 4, d = 3 }"
    for argument in kernel.arguments:
        for axis in argument.shape:
            if isinstance(axis, int) and axis < 1:
                return f"arguments.{argument.name}.shape: the size {axis} is not positive"
    for number, shape in enumerate(kernel.shapes):
        for symbol in sorted(used - shape.keys()):
            hint = suggestion(symbol, shape.keys() - used)
            return f'shapes.{number}: the symbol "{symbol}" has no size{hint}'
        for symbol in sorted(shape.keys() - used):
            return f'shapes.{number}: no argument uses the symbol "{symbol}"{suggestion(symbol, used)}'
        for symbol, size in shape.items():
            if size < 1:
                return f"shapes.{number}.{symbol}: the size {size} is not positive"
        if shape in kernel.shapes[:number]:
            return f"shapes.{number}: this shape is given twice; remove one"
    return None


def _pairs_problem(kernel: Kernel) -> str | None:
    if len(kernel.shapes) == 1 or kernel.padding_pairs():
        return None
    return (
        "shapes: no two shapes pair up for the padding property, which compares shapes that differ "
        f'in "{kernel.rows}" and in nothing else; add such a shape or keep only one'
    )
