"""The Jaxpr as a plain Lean function, which the translation theorem compares with the imported program.

This is a second reading of the Jaxpr. It shares no code with the importer: it computes every coordinate map
itself, as an index expression, while Lean derives those of the imported program from JAX's parameters. A
mistake in one of the two makes the translation theorem fail.

Each equation becomes one ``share``; ``t5`` is the value of the variable that the program calls ``v#5``.
Entries of a tensor of rank three are read at ``(i, j, k, ())``; the index of the result is ``j`` with the
coordinates ``j.1``, ``j.2.1``, ``j.2.2.1``; a reduction runs over ``k``.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from maskpool_verify.errors import UnsupportedError
from maskpool_verify.tracing import Aval, FlatEquation, FlatJaxpr, FlatLiteral, FlatOperand

_FORMATS = {"float16": ".f16", "bfloat16": ".bf16", "float32": ".f32", "float64": ".f64"}

_UNARY = {
    "neg": "Ops.neg {0}",
    "exp": "Ops.exp {0}",
    "log": "Ops.log {0}",
    "tanh": "Ops.tanh {0}",
    "logistic": "Ops.logistic {0}",
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
_BOOL_BINARY = {"and": "{0} && {1}", "or": "{0} || {1}"}
_REDUCTIONS = {"reduce_sum": "fsum", "reduce_max": "fmax", "reduce_or": "fany", "reduce_and": "fall"}


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


def _list(items: Sequence[int]) -> str:
    return "[" + ", ".join(str(item) for item in items) + "]"


def tensor_type(aval: Aval, numbers: str = "α") -> str:
    """``Tensor α [4, 3]``"""
    return f"Tensor {'Bool' if aval.dtype == 'bool' else numbers} {_list(aval.shape)}"


def _coordinate(index: str, axis: int) -> str:
    """The coordinate of the index ``index`` along ``axis``."""
    return index + ".2" * axis + ".1"


def _literal(literal: FlatLiteral) -> str:
    """A number or truth value."""
    if isinstance(literal.value, bool):
        return "true" if literal.value else "false"
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

    def spread(self, operand: _Value, shape: tuple[int, ...]) -> _Value:
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
        entries = [f"({x.at('j')})" if parenthesize else x.at("j") for x in operands]
        return form.format(*entries)

    return read


def _conversion(equation: FlatEquation, x: _Value) -> str:
    old, new = x.aval.dtype, equation.aval.dtype
    if old == "bool" and new in _FORMATS:
        return f"if {x.at('j')} then Ops.lit 1 1 else Ops.lit 0 1"
    if old in _FORMATS and new in _FORMATS:
        return f"Ops.convert {_FORMATS[old]} {_FORMATS[new]} ({x.at('j')})"
    raise ValueError(f"a conversion from {old} to {new} has no readable form")


def _broadcast(equation: FlatEquation, x: _Value) -> str:
    target = equation.aval.shape
    return x.read(
        [
            _coordinate("j", to) if size == target[to] else "0"
            for size, to in zip(x.aval.shape, equation.params["broadcast_dimensions"], strict=True)
        ]
    )


def _reshape(equation: FlatEquation, x: _Value) -> str:
    long = iter([axis for axis, size in enumerate(equation.aval.shape) if size != 1])
    return x.read(["0" if size == 1 else _coordinate("j", next(long)) for size in x.aval.shape])


def _squeeze(equation: FlatEquation, x: _Value) -> str:
    dropped = equation.params["dimensions"]
    kept = iter(range(len(equation.aval.shape)))
    return x.read(
        ["0" if axis in dropped else _coordinate("j", next(kept)) for axis in range(len(x.aval.shape))]
    )


def _transpose(equation: FlatEquation, x: _Value) -> str:
    permutation = list(equation.params["permutation"])
    return x.read([_coordinate("j", permutation.index(axis)) for axis in range(len(permutation))])


def _reduction(form: str) -> Callable[..., str]:
    def read(equation: FlatEquation, x: _Value) -> str:
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
    **{name: _elementwise(form) for name, form in {**_UNARY, **_FLOAT_BINARY}.items()},
    **{name: _elementwise(form, parenthesize=False) for name, form in _BOOL_BINARY.items()},
    **{name: _reduction(form) for name, form in _REDUCTIONS.items()},
    "not": _elementwise("!{0}"),
    "select_n": _elementwise("if {0} then {2} else {1}", parenthesize=False),
    "convert_element_type": _conversion,
    "broadcast_in_dim": _broadcast,
    "reshape": _reshape,
    "squeeze": _squeeze,
    "transpose": _transpose,
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
