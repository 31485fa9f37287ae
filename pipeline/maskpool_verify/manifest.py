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
from functools import cache
from itertools import permutations
from pathlib import Path
from typing import Any, Literal, TypeAlias

from pydantic import BaseModel, ConfigDict, ValidationError, model_validator
from pydantic_core import ErrorDetails

from maskpool_verify import dims
from maskpool_verify.constraints import UNCONSTRAINED, Constraint, Constraints
from maskpool_verify.dims import Size
from maskpool_verify.errors import ManifestError, UsageError
from maskpool_verify.names import symbol_names

DType: TypeAlias = Literal["float16", "bfloat16", "float32", "float64", "int32", "int64", "bool"]
Role: TypeAlias = Literal["features", "logits", "mask", "length", "parameter"]
Library: TypeAlias = Literal["package", "project"]
Arithmetic: TypeAlias = Literal["real", "extended"]
"""Real numbers, or real numbers with infinities and NaN."""
Shape: TypeAlias = dict[str, int | str]
"""A size for every symbol, such as ``{"n": 4, "d": 3}``; the symbol itself where its size is left open."""
OptionalProperty: TypeAlias = Literal["masked_irrelevance_any_arithmetic", "all_masked_any_arithmetic"]
"""A property that is tried for every kernel, and that a kernel has to have only if it is required."""

ALL = "all"
"""In the manifest: trace the kernel once, for all sizes."""

ROW_ROLES: tuple[Role, ...] = ("features", "logits", "mask")
"""The roles of arguments that have an entry for each row."""

_IDENTIFIER = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


class _Model(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class ArgumentSpec(_Model):
    """One argument of a kernel; an entry of ``shape`` is a symbol or a size."""

    name: str
    role: Role
    dtype: DType
    shape: tuple[str | int, ...]

    def sizes(self, shape: Mapping[str, Size]) -> tuple[Size, ...]:
        """The shape of the argument when the symbols have the sizes ``shape``."""
        return tuple(shape[axis] if isinstance(axis, str) else axis for axis in self.shape)

    @property
    def is_float(self) -> bool:
        """Whether the entries are floating-point numbers."""
        return "float" in self.dtype


class Kernel(_Model):
    """One ``[[kernel]]`` table.

    ``rows`` is the symbol of the instance axis of the bag, ``constraints`` are assumed of the sizes that are
    left open, ``result`` are the axes of what the kernel returns; :attr:`result_axes` if they are not given.
    ``arithmetic`` is what the theorems are about; ``require`` are the further properties without which the
    kernel is not verified.
    """

    name: str
    function: str
    spec: Literal["attention", "none"]
    rows: str
    shapes: tuple[Shape, ...]
    constraints: tuple[str, ...] = ()
    arguments: tuple[ArgumentSpec, ...]
    result: tuple[str | int, ...] | None = None
    require: tuple[OptionalProperty, ...] = ()
    arithmetic: Arithmetic = "real"

    @model_validator(mode="before")
    @classmethod
    def _open_sizes(cls, data: Any) -> Any:
        """Replace ``"all"`` by the shape that gives each symbol itself."""
        if not isinstance(data, dict) or not isinstance(arguments := data.get("arguments"), tuple):
            return data
        shapes = data.get("shapes")
        given = (shapes,) if isinstance(shapes, str) else shapes
        if not isinstance(given, tuple) or ALL not in given:
            return data
        axes = [a.get("shape") for a in arguments if isinstance(a, dict)]
        names = [
            axis for shape in axes if isinstance(shape, tuple) for axis in shape if isinstance(axis, str)
        ]
        everything = _open_shape(names)
        return {**data, "shapes": tuple(everything if shape == ALL else shape for shape in given)}

    def having(self, *roles: Role) -> tuple[ArgumentSpec, ...]:
        """The arguments with one of these roles, in call order."""
        return tuple(argument for argument in self.arguments if argument.role in roles)

    def argument(self, role: Role) -> ArgumentSpec | None:
        """The first argument with this role."""
        return next(iter(self.having(role)), None)

    @property
    def features(self) -> ArgumentSpec:
        """The features of a kernel whose specification is attention pooling."""
        return self.having("features")[0]

    @property
    def selection(self) -> ArgumentSpec:
        """The argument that says which rows count: the mask or the length."""
        return self.having("mask", "length")[0]

    @property
    def computes_logits(self) -> bool:
        """Whether the specification is attention pooling, with logits that the kernel computes itself."""
        return self.spec == "attention" and self.argument("logits") is None

    def optional_obstacle(self) -> str | None:
        """Why there are no theorems over any arithmetic about the kernel; ``None`` if there are."""
        selection = self.selection
        if not self.is_open:
            return 'they are about all sizes at once, and shapes has no "all"'
        if selection.role == "length":
            return "the checker of selections knows masks, and no lengths"
        if selection.is_float:
            return "nothing is known of comparisons with a mask of floating-point numbers"
        for axis in selection.shape:
            if axis not in (self.rows, *self.result_axes):
                return f'the mask has the axis "{axis}", and the result does not'
        return None

    @property
    def symbols(self) -> tuple[str, ...]:
        """The symbols of the shapes, in the order of their first appearance."""
        axes = (axis for argument in self.arguments for axis in argument.shape if isinstance(axis, str))
        return tuple(dict.fromkeys(axes))

    @property
    def open_shape(self) -> Shape:
        """The shape that leaves all sizes open: each symbol under its name in Lean."""
        return _open_shape(self.symbols)

    @property
    def assumed(self) -> Constraints:
        """The constraints, on the symbols of the manifest."""
        return _constraints(self.constraints)

    @property
    def given(self) -> Constraints:
        """The constraints, on the names in Lean of the sizes that are left open."""
        names = {symbol: str(name) for symbol, name in self.open_shape.items()}
        return _constraints(self.assumed.substitute(names).texts)

    @property
    def is_open(self) -> bool:
        """Whether the manifest asks for all sizes at once."""
        return self.open_shape in self.shapes

    @property
    def result_axes(self) -> tuple[str | int, ...]:
        """The axes of the result: as given, else those of the logits, then the other ones of the features.

        The row axis is left out.
        """
        if self.result is not None:
            return self.result
        logits = self.argument("logits")
        outer = [axis for axis in logits.shape if axis != self.rows] if logits else []
        features = self.having("features")
        rest = [a for a in features[0].shape if a != self.rows and a not in outer] if features else []
        return (*outer, *rest)

    @property
    def batch_axes(self) -> tuple[str, ...]:
        """The axes of the result along which every argument with rows is a bag of its own.

        Without a specification there is one bag.
        """
        if self.spec == "none":
            return ()
        shapes = [argument.shape for argument in self.having(*ROW_ROLES)]
        if length := self.argument("length"):
            shapes.append(length.shape)
        return tuple(
            axis for axis in self.result_axes if isinstance(axis, str) and all(axis in s for s in shapes)
        )

    @property
    def row_axes(self) -> tuple[int | None, ...]:
        """For each argument the number of its row axis."""
        return tuple(a.shape.index(self.rows) if self.rows in a.shape else None for a in self.arguments)

    def padding_pairs(self) -> tuple[tuple[Shape, Shape], ...]:
        """All pairs (short, long) of shapes that differ in nothing but a greater number of rows.

        There are none where the manifest asks for all sizes at once.
        """
        if self.is_open:
            return ()
        return tuple(
            (short, long)
            for short, long in permutations(self.shapes, 2)
            if int(short[self.rows]) < int(long[self.rows])
            and {**short, self.rows: 0} == {**long, self.rows: 0}
        )


@cache
def _constraints(texts: tuple[str, ...]) -> Constraints:
    """One object for the same constraints, which remembers what it has found out."""
    return Constraints.parse(texts)


def _open_shape(names: Iterable[str]) -> Shape:
    distinct = tuple(dict.fromkeys(names))
    return dict(zip(distinct, symbol_names(distinct), strict=True))


class _ManifestFile(_Model):
    library: Library = "package"
    kernel: tuple[Kernel, ...]


@dataclass(frozen=True)
class Manifest:
    """A valid manifest. Paths of kernels are relative to :attr:`root`.

    ``library`` says which Lean library is built: the one that comes with this program, or the one that lies
    beside the manifest.
    """

    path: Path
    kernels: tuple[Kernel, ...]
    library: Library = "package"

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
    file = _validated(str(path), data)
    return Manifest(path=path, kernels=file.kernel, library=file.library)


def validated_kernel(where: str, table: Mapping[str, Any]) -> Kernel:
    """Check one ``[[kernel]]`` table that is in no file; :class:`ManifestError` begins with ``where``."""
    return _validated(where, {"kernel": [table]}).kernel[0]


def _validated(where: str, data: Mapping[str, Any]) -> _ManifestFile:
    """What TOML, or the like, gave."""
    try:
        file = _ManifestFile.model_validate(_tuples(data))
    except ValidationError as error:
        # A misspelt key is also a missing one: the unknown key is the better complaint.
        first = min(error.errors(), key=lambda each: each["type"] != "extra_forbidden")
        raise ManifestError(_sentence(where, data, first)) from None
    if not file.kernel:
        raise ManifestError(f"{where} has no kernel; add a [[kernel]] table.")
    for number, kernel in enumerate(file.kernel):
        problem = _problem(kernel)
        if problem is None and kernel.name in [earlier.name for earlier in file.kernel[:number]]:
            problem = "name: another kernel has this name; kernel names must differ"
        if problem is not None:
            raise ManifestError(f'{where}, kernel "{kernel.name}", {problem}.')
    return file


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


def _sentence(file: str, data: Mapping[str, Any], error: ErrorDetails) -> str:
    """One sentence for a complaint of pydantic."""
    # An entry of a union such as `str | int` adds the names of its members to the location.
    location = [part for part in error["loc"] if part not in ("str", "int", "[key]")]
    if not location:
        return f"{file} must be a TOML table with [[kernel]] tables."
    where = file
    if len(location) > 2 and location[0] == "kernel" and isinstance(location[1], int):
        name = data["kernel"][location[1]].get("name")
        where += f', kernel "{name}"' if isinstance(name, str) else f", kernel {location[1] + 1}"
        location_shown = location[2:]
    else:
        location_shown = location
    key = ".".join(map(str, location_shown))
    match error["type"]:
        case "missing" if location == ["kernel"]:
            return f"{file} has no kernel; add a [[kernel]] table."
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
    spec = _attention_problem if kernel.spec == "attention" else _free_problem
    checks = (
        _names_problem,
        _roles_problem,
        spec,
        _result_problem,
        _symbols_problem,
        _constraints_problem,
        _pairs_problem,
        _require_problem,
    )
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


def _count_problem(kernel: Kernel, roles: tuple[Role, ...], wanted: str) -> str | None:
    """A complaint if the number of arguments with one of the roles is not ``wanted``."""
    found = [argument.name for argument in kernel.having(*roles)]
    if {"exactly one": len(found) == 1, "at most one": len(found) <= 1, "any": bool(found)}[wanted]:
        return None
    have = f"{len(found)} ({', '.join(found)})" if found else "none"
    named = " or ".join(f'"{role}"' for role in roles)
    demand = "at least one" if wanted == "any" else wanted
    return f'arguments: spec "{kernel.spec}" needs {demand} with role {named}, and there is {have}'


def _roles_problem(kernel: Kernel) -> str | None:
    """What an argument may be, by its role."""
    rows = kernel.rows
    for argument in kernel.arguments:
        where, role = f"arguments.{argument.name}", argument.role
        symbols = [axis for axis in argument.shape if isinstance(axis, str)]
        if len(set(symbols)) < len(symbols):
            return f"{where}.shape: a symbol occurs twice; give each axis a symbol of its own"
        if role in ROW_ROLES and rows not in argument.shape:
            return f'{where}.shape: the {role} must have the row symbol "{rows}" as an axis'
        if role not in ROW_ROLES and rows in argument.shape:
            return f'{where}.shape: a {role} has the row symbol "{rows}"'
        if role in ("features", "logits") and not argument.is_float:
            return f"{where}.dtype: the {role} must have a float dtype"
        if role == "length" and argument.dtype not in ("int32", "int64"):
            return f'{where}.dtype: the length must be "int32" or "int64", not "{argument.dtype}"'
    return None


def _attention_problem(kernel: Kernel) -> str | None:
    """The demands of ``spec = "attention"``: rows of features with a logit and a mask entry for each row."""
    counts: tuple[tuple[tuple[Role, ...], str], ...] = (
        (("features",), "exactly one"),
        (("logits",), "at most one"),
        (("mask", "length"), "exactly one"),
    )
    for roles, wanted in counts:
        if problem := _count_problem(kernel, roles, wanted):
            return problem
    features, logits = kernel.features, kernel.argument("logits")
    if logits and features.dtype != logits.dtype:
        return (
            f"arguments.{logits.name}.dtype: logits ({logits.dtype}) and features ({features.dtype}) "
            "must have the same dtype"
        )
    if not logits and not kernel.is_open:
        return (
            'shapes: there is no argument with role "logits", and a kernel that computes them itself is '
            'certified for all sizes at once; add "all"'
        )
    return None


def _free_problem(kernel: Kernel) -> str | None:
    """The demands of ``spec = "none"``: rows, one mask, and sizes that are left open."""
    if problem := _count_problem(kernel, ("mask",), "exactly one"):
        return problem
    if problem := _count_problem(kernel, ("features", "logits"), "any"):
        return problem
    if length := kernel.argument("length"):
        return f'arguments.{length.name}.role: spec "none" knows masks, and no length; pass a mask'
    if kernel.arithmetic != "real":
        return 'arithmetic: spec "none" is proved over the real numbers only; remove the key'
    if not kernel.is_open:
        return 'shapes: spec "none" is proved for all sizes at once; add "all"'
    return None


def _result_problem(kernel: Kernel) -> str | None:
    """The result is indexed by axes of the arguments, and not by the rows."""
    axes = kernel.result_axes
    symbols = [axis for axis in axes if isinstance(axis, str)]
    if kernel.rows in symbols:
        return f'result: it has the row symbol "{kernel.rows}"; a pooled result has no row axis'
    if len(set(symbols)) < len(symbols):
        return "result: a symbol occurs twice; give each axis a symbol of its own"
    for symbol in symbols:
        if symbol not in kernel.symbols:
            hint = suggestion(symbol, kernel.symbols)
            return f'result: no argument uses the symbol "{symbol}"{hint}'
    if kernel.spec == "none":
        return None
    for argument in kernel.having("features", "logits", "mask", "length"):
        for axis in argument.shape:
            if axis != kernel.rows and axis not in axes:
                return (
                    f'result: the axis "{axis}" of {argument.name} is missing; attention pooling keeps all '
                    "axes but the rows"
                )
            if isinstance(axis, int) and argument.role != "features":
                return f'arguments.{argument.name}.shape: the axis {axis} needs a symbol, as "b" or "h"'
    return None


def _symbols_problem(kernel: Kernel) -> str | None:
    used = set(kernel.symbols)
    if not kernel.shapes:
        return 'shapes: there is none; write "all", or give at least one, such as { n = 4, d = 3 }'
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
            if isinstance(size, str) and shape != kernel.open_shape:
                return f'shapes.{number}.{symbol}: "{size}" is not a size; give a number'
            if isinstance(size, int) and size < 1:
                return f"shapes.{number}.{symbol}: the size {size} is not positive"
        if shape in kernel.shapes[:number]:
            return f"shapes.{number}: this shape is given twice; remove one"
    return None


def _require_problem(kernel: Kernel) -> str | None:
    if not kernel.require:
        return None
    if obstacle := kernel.optional_obstacle():
        return f'require: there is no theorem "{kernel.require[0]}" about this kernel, because {obstacle}'
    if kernel.spec == "none" and "all_masked_any_arithmetic" in kernel.require:
        return 'require: "all_masked_any_arithmetic" is about attention pooling; spec is "none"'
    return None


def _constraints_problem(kernel: Kernel) -> str | None:
    """Constraints are well formed, on known symbols, needed, satisfiable, and hold at the listed shapes."""
    for number, text in enumerate(kernel.constraints):
        if problem := _constraint_problem(kernel, text):
            return f"constraints.{number}: {problem}"
    if kernel.constraints and not kernel.is_open:
        return 'constraints: they are about sizes that are left open; add "all" to the shapes'
    assumed = kernel.assumed
    if (needless := assumed.redundant()) is not None:
        return f"constraints: {needless} follows from the others, or holds for all sizes; remove it"
    if assumed.witness is None:
        return (
            f"constraints: no sizes of {', '.join(sorted(assumed.symbols))} that were tried satisfy "
            f"{' and '.join(assumed.texts)}; theorems with these hypotheses would say nothing"
        )
    for number, shape in enumerate(kernel.shapes):
        sizes = {symbol: size for symbol, size in shape.items() if isinstance(size, int)}
        if len(sizes) == len(shape) and (violated := assumed.violated(sizes)) is not None:
            return f"shapes.{number}: the constraint {violated} does not hold there"
    return None


def _constraint_problem(kernel: Kernel, text: str) -> str | None:
    try:
        constraint = Constraint.parse(text)
        for size in (constraint.left, constraint.right):
            UNCONSTRAINED.require_exact(size)
    except ValueError as error:
        return f'{error}; write such as "n >= 1" or "mod(n, 2) == 0"'
    for symbol in sorted(constraint.symbols - set(kernel.symbols)):
        return f'no argument uses the symbol "{symbol}"{suggestion(symbol, kernel.symbols)}'
    if not constraint.symbols:
        return f"{constraint} is about no symbol; remove it"
    terms = dims.polynomial(constraint.left)
    if constraint.comparison == "==" and (len(terms) != 1 or set(terms) <= {()}):
        return f"the left side of {constraint} has to be one product, for JAX replaces it by the right one"
    if constraint.comparison == "==" and constraint.left in kernel.symbols:
        return (
            f"{constraint} gives the symbol {constraint.left} away, which JAX replaces everywhere; write the "
            "size in the shapes of the arguments, or state a divisibility such as mod(d, 4) == 0"
        )
    return None


def _pairs_problem(kernel: Kernel) -> str | None:
    if kernel.is_open or len(kernel.shapes) == 1 or kernel.padding_pairs():
        return None
    return (
        "shapes: no two shapes pair up for the padding property, which compares shapes that differ "
        f'in "{kernel.rows}" and in nothing else; add such a shape or keep only one'
    )
