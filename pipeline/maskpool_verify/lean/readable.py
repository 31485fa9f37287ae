"""The Jaxpr as a plain Lean function, which the translation theorem compares with the imported program.

This is a second reading of the Jaxpr. It shares no code with the importer: it computes every coordinate map
itself, as an index expression, while Lean derives those of the imported program from JAX's parameters. A
mistake in one of the two makes the translation theorem fail.

Each equation becomes one ``share``; ``t5`` is the value of the variable that the program calls ``v#5``.
Entries of a tensor of rank three are read at ``(i, j, k, ())``; the index of the result is ``j`` with the
coordinates ``j.1``, ``j.2.1``, ``j.2.2.1``; a reduction runs over ``k``. A coordinate that is computed is a
number, which has to be proved to be on the axis: ``inside`` is the name of that fact.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import isinf, isnan

from maskpool_verify import dims
from maskpool_verify.dims import Size
from maskpool_verify.errors import UnsupportedError
from maskpool_verify.tracing import Aval, FlatEquation, FlatJaxpr, FlatLiteral, FlatOperand, size_of

_FORMATS = {"float16": ".f16", "bfloat16": ".bf16", "float32": ".f32", "float64": ".f64"}

_UNARY = {
    "neg": "Ops.neg {0}",
    "exp": "Ops.exp {0}",
    "log": "Ops.log {0}",
    "tanh": "Ops.tanh {0}",
    "logistic": "Ops.logistic {0}",
    "is_finite": "Ops.isFinite {0}",
    **{
        name: f"Ops.apply .{name} {{0}}"
        for name in (
            *("sqrt", "rsqrt", "cbrt", "exp2", "expm1", "log1p", "erf", "erfc", "erf_inv", "abs", "sign"),
            *("floor", "ceil", "sin", "cos", "tan", "asin", "acos", "atan"),
            *("sinh", "cosh", "asinh", "acosh", "atanh"),
        )
    },
}
_FLOAT_BINARY = {
    "add": "Ops.add {0} {1}",
    "sub": "Ops.sub {0} {1}",
    "mul": "Ops.mul {0} {1}",
    "div": "Ops.div {0} {1}",
    "max": "Ops.max {0} {1}",
    "min": "Ops.min {0} {1}",
    "lt": "Ops.lt {0} {1}",
    "le": "Ops.le {0} {1}",
    "gt": "Ops.lt {1} {0}",
    "ge": "Ops.le {1} {0}",
    "eq": "Ops.eq {0} {1}",
    "ne": "!Ops.eq {0} {1}",
}
_INT_BINARY = {
    "add": "{0} + {1}",
    "sub": "{0} - {1}",
    "mul": "{0} * {1}",
    "div": "if {1} = 0 then -1 else Int.tdiv ({0}) ({1})",
    "max": "max ({0}) ({1})",
    "min": "min ({0}) ({1})",
    "lt": "decide ({0} < {1})",
    "le": "decide ({0} ≤ {1})",
    "gt": "decide ({1} < {0})",
    "ge": "decide ({1} ≤ {0})",
    "eq": "decide ({0} = {1})",
    "ne": "!decide ({0} = {1})",
}
_BOOL_BINARY = {"and": "{0} && {1}", "or": "{0} || {1}", "xor": "{0} ^^ {1}"}
_REDUCTIONS = {
    "reduce_sum": "fsum",
    "reduce_prod": "fprod",
    "reduce_max": "fmax",
    "reduce_min": "fmin",
    "reduce_or": "fany",
    "reduce_and": "fall",
}
_INT_REDUCTIONS = {
    "int32": {
        "reduce_sum": "isum",
        "reduce_prod": "iprod",
        "reduce_max": f"imax ({-(2**31)})",
        "reduce_min": f"imin {2**31 - 1}",
    },
    "int64": {
        "reduce_sum": "isum",
        "reduce_prod": "iprod",
        "reduce_max": f"imax ({-(2**63)})",
        "reduce_min": f"imin {2**63 - 1}",
    },
}
_CUMULATIVE = {"cumsum": ".sum", "cumprod": ".prod", "cummax": ".max", "cummin": ".min"}
_INT_FORMATS = {"int32": ".i32", "int64": ".i64"}


@dataclass(frozen=True)
class Line:
    """``share name : type := value;``"""

    name: str
    type: str
    value: str


@dataclass(frozen=True)
class ReadableFunction:
    """The body of the function: its shared values, and the tensor it returns."""

    lines: tuple[Line, ...]
    result: str


@dataclass(frozen=True)
class _Value:
    """An operand as Lean text: a tensor by its name, or a literal number or truth value."""

    text: str
    aval: Aval
    is_literal: bool

    def at(self, index: str) -> str:
        """The entry at an index."""
        return self.text if self.is_literal else f"{self.text} {index}"

    def read(self, coordinates: Sequence[str]) -> str:
        return self.at("(" + ", ".join((*coordinates, "()")) + ")" if coordinates else "()")


def _list(items: Sequence[Size]) -> str:
    return "[" + ", ".join(map(dims.lean, items)) + "]"


def tensor_type(aval: Aval, numbers: str = "α") -> str:
    """``Tensor α [4, 3]``"""
    entries = "Bool" if aval.dtype == "bool" else "Int" if aval.dtype in _INT_FORMATS else numbers
    return f"Tensor {entries} {_list(aval.shape)}"


def _coordinate(index: str, axis: int) -> str:
    """The coordinate of the index ``index`` along ``axis``."""
    return index + ".2" * axis + ".1"


def _literal(literal: FlatLiteral) -> str:
    """A number or truth value."""
    if isinstance(literal.value, bool):
        return "true" if literal.value else "false"
    if literal.aval.dtype in _INT_FORMATS:
        return str(literal.value) if literal.value >= 0 else f"({literal.value})"
    if isnan(literal.value):
        return "Ops.nan"
    if isinf(literal.value):
        return f"Ops.infinity {'true' if literal.value < 0 else 'false'}"
    value = Fraction(literal.value)
    numerator = str(value.numerator) if value.numerator >= 0 else f"({value.numerator})"
    return f"Ops.lit {numerator} {value.denominator}"


def _bound(index: str, body: str) -> str:
    """The name of the index in ``fun index => body``; one that is not used is not named."""
    return index if re.search(rf"(?<![A-Za-z0-9_.]){index}(?![A-Za-z0-9_])", body) else "_"


def _function(body: str) -> str:
    """``fun j => body``"""
    return f"fun {_bound('j', body)} => {body}"


class _Reading:
    """The lines so far, and what every variable of the Jaxpr has become."""

    def __init__(self, flat: FlatJaxpr, arguments: Sequence[str]) -> None:
        self.label = flat.label
        self.values = [_Value(name, aval, False) for name, aval in zip(arguments, flat.inputs, strict=True)]
        self.bound = len(arguments)
        self.lines: list[Line] = []

    def share(self, aval: Aval, value: str) -> _Value:
        """Add a line."""
        name = f"t{self.bound}"
        self.bound += 1
        self.lines.append(Line(name, tensor_type(aval), value))
        return _Value(name, aval, False)

    def value(self, operand: FlatOperand) -> _Value:
        if isinstance(operand, FlatLiteral):
            return _Value(_literal(operand), operand.aval, True)
        return self.values[operand.index]

    def add(self, equation: FlatEquation) -> None:
        """Read one equation."""
        operands = [self.value(operand) for operand in equation.operands]
        if equation.primitive in ("stop_gradient", "copy", "copy_p"):
            self.values.append(operands[0])
            return
        if equation.primitive in _ELEMENTWISE:
            operands = [self.spread(operand, equation.aval.shape) for operand in operands]
        read = _READERS.get(equation.primitive)
        if read is None:
            raise UnsupportedError(
                f'{self.label} at {equation.source}: primitive "{equation.primitive}" has no readable form.'
            )
        try:
            body = read(equation, *operands)
        except ValueError as error:
            raise UnsupportedError(f"{self.label} at {equation.source}: {error}.") from None
        self.values.append(self.share(equation.aval, _function(body)))

    def spread(self, operand: _Value, shape: tuple[Size, ...]) -> _Value:
        """JAX combines an array with a scalar, or with one whose axes have size one.

        Such an operand is first repeated, as a value of its own.
        """
        if operand.is_literal or operand.aval.shape == shape:
            return operand
        sizes = enumerate(operand.aval.shape)
        coordinates = [_coordinate("j", axis) if size == shape[axis] else "0" for axis, size in sizes]
        return self.share(Aval(operand.aval.dtype, shape), _function(operand.read(coordinates)))


# -- the primitives: the entry of the result at the index ``j``


def _elementwise(form: str, *, parenthesize: bool = True) -> Callable[..., str]:
    def read(_: FlatEquation, *operands: _Value) -> str:
        entries = [_atom(x.at("j")) if parenthesize else x.at("j") for x in operands]
        return form.format(*entries)

    return read


def _arithmetic(name: str) -> Callable[..., str]:
    """Of floating-point numbers by ``Ops``, of integers by Lean's own operations."""

    def read(_: FlatEquation, *operands: _Value) -> str:
        if operands[0].aval.dtype not in _INT_FORMATS:
            return _FLOAT_BINARY[name].format(*(_atom(x.at("j")) for x in operands))
        entries = [x.at("j") for x in operands]
        if all(x.is_literal for x in operands):
            entries[0] = f"({entries[0]} : Int)"
        return _INT_BINARY[name].format(*entries)

    return read


def _conversion(equation: FlatEquation, x: _Value) -> str:
    old, new = x.aval.dtype, equation.aval.dtype
    if old == "bool" and new in _INT_FORMATS:
        return f"if {x.at('j')} then 1 else 0"
    if old in _INT_FORMATS and new in _FORMATS:
        return f"Ops.lit {x.at('j') if x.is_literal else _atom(x.at('j'))} 1"
    if (old in _INT_FORMATS and new in _INT_FORMATS) or old == new == "bool":
        return x.at("j")
    if old in _INT_FORMATS and new == "bool":
        entry = f"({x.text} : Int)" if x.is_literal else x.at("j")
        return f"!decide ({entry} = 0)"
    if old in _FORMATS and new == "bool":
        return f"!Ops.eq ({x.at('j')}) (Ops.lit 0 1)"
    if old == "bool" and new in _FORMATS:
        return f"if {x.at('j')} then Ops.lit 1 1 else Ops.lit 0 1"
    if old in _FORMATS and new in _FORMATS:
        return f"Ops.convert {_FORMATS[old]} {_FORMATS[new]} {_atom(x.at('j'))}"
    raise ValueError(f"a conversion from {old} to {new} has no readable form")


def _broadcast(equation: FlatEquation, x: _Value) -> str:
    target = equation.aval.shape
    return x.read(
        [
            _coordinate("j", to) if size == target[to] else "0"
            for size, to in zip(x.aval.shape, equation.params["broadcast_dimensions"], strict=True)
        ]
    )


@dataclass(frozen=True)
class _Computed:
    """A coordinate that is computed as a number, on an axis of some size."""

    position: str
    size: Size


def _atom(text: str) -> str:
    """``text`` as an argument of a function, or as an operand of an infix operator."""
    return f"({text})" if " " in text else text


def _number(axis: int) -> str:
    """The coordinate of the result along ``axis``, as a number."""
    return f"{_coordinate('j', axis)}.val"


def _read_inside(x: _Value, coordinates: Sequence[str | _Computed], outside: str) -> str:
    """The entry of ``x``, or ``outside`` if a computed coordinate is not on its axis."""
    known: list[str] = []
    tests: list[str] = []
    for coordinate in coordinates:
        if isinstance(coordinate, _Computed):
            name = f"inside{len(tests) + 1}" if tests else "inside"
            tests.append(f"if {name} : {coordinate.position} < {dims.lean(coordinate.size)} then ")
            known.append(f"⟨{coordinate.position}, {name}⟩")
        else:
            known.append(coordinate)
    return "".join(tests) + x.read(known) + f" else {outside}" * len(tests)


def _zero(aval: Aval) -> str:
    return "false" if aval.dtype == "bool" else "0" if aval.dtype in _INT_FORMATS else "Ops.lit 0 1"


def _slice(equation: FlatEquation, x: _Value) -> str:
    coordinates: list[str | _Computed] = []
    starts = equation.params["start_indices"]
    steps = equation.params["strides"] or (1,) * len(starts)
    for axis, (size, start, step) in enumerate(zip(x.aval.shape, starts, steps, strict=True)):
        if (start, step) == (0, 1) and equation.aval.shape[axis] == size:
            coordinates.append(_coordinate("j", axis))
        else:
            position = _number(axis) if step == 1 else f"{step} * {_number(axis)}"
            coordinates.append(
                _Computed(position if start == 0 else f"{dims.lean(start)} + {position}", size)
            )
    return _read_inside(x, coordinates, _zero(x.aval))


def _reverse(equation: FlatEquation, x: _Value) -> str:
    coordinates = [
        _Computed(f"{dims.lean(size)} - 1 - {_number(axis)}", size)
        if axis in equation.params["dimensions"]
        else _coordinate("j", axis)
        for axis, size in enumerate(x.aval.shape)
    ]
    return _read_inside(x, coordinates, _zero(x.aval))


def _concatenation(equation: FlatEquation, x: _Value, y: _Value) -> str:
    dimension = equation.params["dimension"]
    rank, size = len(equation.aval.shape), x.aval.shape[dimension]

    def read(value: _Value, position: str, outside: str) -> str:
        coordinates: list[str | _Computed] = [_coordinate("j", axis) for axis in range(rank)]
        coordinates[dimension] = _Computed(position, value.aval.shape[dimension])
        return _read_inside(value, coordinates, outside)

    place = _number(dimension)
    return read(x, place, read(y, f"{place} - {_atom(dims.lean(size))}", _zero(y.aval)))


def _reshape(equation: FlatEquation, x: _Value) -> str:
    """Axes of size 1 have the coordinate 0. Of the others, the first and the last ones that both shapes share
    stay; between them the number of the entry in row-major order is the same.
    """
    source = [size for size in x.aval.shape if size != 1]
    target = [(size, axis) for axis, size in enumerate(equation.aval.shape) if size != 1]
    before: list[str | _Computed] = []
    while source and target and source[0] == target[0][0]:
        before.append(_coordinate("j", target[0][1]))
        source, target = source[1:], target[1:]
    after: list[str | _Computed] = []
    while source and target and source[-1] == target[-1][0]:
        after.insert(0, _coordinate("j", target[-1][1]))
        source, target = source[:-1], target[:-1]
    number = _number(target[0][1]) if target else "0"
    for size, axis in target[1:]:
        number = f"{_atom(number)} * {_atom(dims.lean(size))} + {_number(axis)}"
    between: list[str | _Computed] = []
    for axis, size in enumerate(source):
        position = number
        if axis + 1 < len(source):
            position = f"{_atom(number)} / {_atom(_product(source[axis + 1 :]))}"
        if axis > 0:
            position = f"{position if axis + 1 < len(source) else _atom(number)} % {_atom(dims.lean(size))}"
        between.append(_Computed(position, size))
    long = iter([*before, *between, *after])
    coordinates = ["0" if size == 1 else next(long) for size in x.aval.shape]
    return _read_inside(x, coordinates, _zero(x.aval))


def _product(sizes: Sequence[Size]) -> str:
    first, *rest = [_atom(dims.lean(size)) for size in sizes]
    return f"{first} * {_atom(_product(sizes[1:]))}" if rest else first


def _squeeze(equation: FlatEquation, x: _Value) -> str:
    dropped = equation.params["dimensions"]
    kept = iter(range(len(equation.aval.shape)))
    return x.read(
        ["0" if axis in dropped else _coordinate("j", next(kept)) for axis in range(len(x.aval.shape))]
    )


def _transpose(equation: FlatEquation, x: _Value) -> str:
    permutation = list(equation.params["permutation"])
    return x.read([_coordinate("j", permutation.index(axis)) for axis in range(len(permutation))])


def _reduction(name: str) -> Callable[..., str]:
    def read(equation: FlatEquation, x: _Value) -> str:
        form = _INT_REDUCTIONS.get(x.aval.dtype, _REDUCTIONS)[name]
        axes = list(equation.params["axes"])
        kept = iter(range(len(equation.aval.shape)))
        coordinates = [
            _coordinate("k", axes.index(axis)) if axis in axes else _coordinate("j", next(kept))
            for axis in range(len(x.aval.shape))
        ]
        over = _list([x.aval.shape[axis] for axis in axes])
        entry = x.read(coordinates)
        return f"{form} fun {_bound('k', entry)} : Index {over} => {entry}"

    return read


def _cumulation(name: str) -> Callable[..., str]:
    def read(equation: FlatEquation, x: _Value) -> str:
        axis = equation.params["axis"]
        coordinates = [_coordinate("j", other) for other in range(len(x.aval.shape))]
        coordinates[axis] = "k.1"
        form = f"icumulative {_INT_FORMATS[x.aval.dtype]}" if x.aval.dtype in _INT_FORMATS else "fcumulative"
        values = f"fun k : Index {_list([x.aval.shape[axis]])} => {x.read(coordinates)}"
        return f"{form} {_CUMULATIVE[name]} ({values}) {_number(axis)}"

    return read


def _iota(equation: FlatEquation) -> str:
    coordinate = _number(equation.params["dimension"])
    return coordinate if equation.aval.dtype in _INT_FORMATS else f"Ops.lit {coordinate} 1"


def _size_value(equation: FlatEquation) -> str:
    return dims.lean(size_of(equation.params["dim"]), as_value=True)


def _contraction(equation: FlatEquation, x: _Value, y: _Value) -> str:
    contract, batch = equation.params["dimension_numbers"]
    next_free = len(batch[0])
    reads = []
    for value, summed, batched in zip((x, y), contract, batch, strict=True):
        coordinates = []
        for axis in range(len(value.aval.shape)):
            if axis in summed:
                coordinates.append(_coordinate("k", list(summed).index(axis)))
            elif axis in batched:
                coordinates.append(_coordinate("j", list(batched).index(axis)))
            else:
                coordinates.append(_coordinate("j", next_free))
                next_free += 1
        reads.append(value.read(coordinates))
    over = _list([x.aval.shape[axis] for axis in contract[0]])
    left, right = reads
    return f"fdot (fun {_bound('k', left)} : Index {over} => {left}) (fun {_bound('k', right)} => {right})"


_READERS: Mapping[str, Callable[..., str]] = {
    **{name: _elementwise(form) for name, form in _UNARY.items()},
    **{name: _arithmetic(name) for name in _FLOAT_BINARY},
    **{name: _elementwise(form, parenthesize=False) for name, form in _BOOL_BINARY.items()},
    **{name: _reduction(name) for name in _REDUCTIONS},
    **{name: _cumulation(name) for name in _CUMULATIVE},
    "not": _elementwise("!{0}"),
    "select_n": _elementwise("if {0} then {2} else {1}", parenthesize=False),
    "convert_element_type": _conversion,
    "broadcast_in_dim": _broadcast,
    "reshape": _reshape,
    "squeeze": _squeeze,
    "transpose": _transpose,
    "slice": _slice,
    "rev": _reverse,
    "concatenate": _concatenation,
    "iota": _iota,
    "dim_as_value": _size_value,
    "dot_general": _contraction,
}
_ELEMENTWISE = frozenset({*_FLOAT_BINARY, *_BOOL_BINARY, "select_n"})


def read_jaxpr(flat: FlatJaxpr, arguments: Sequence[str]) -> ReadableFunction:
    """The Jaxpr as a function of ``arguments``, the names of its inputs in Lean.

    Raises:
        UnsupportedError: a primitive has no readable form.
    """
    reading = _Reading(flat, arguments)
    for equation in flat.equations:
        reading.add(equation)
    result = reading.value(flat.output)
    return ReadableFunction(
        tuple(reading.lines), f"fun _ => {result.text}" if result.is_literal else result.text
    )
