"""Derived primitives in terms of basic ones.

JAX has primitives that are combinations of others: a ``clamp`` is a maximum and a minimum, an
``integer_pow`` is a product, a ``gather`` at fixed positions is a slice. :func:`lowered` writes them out, so
that both readings of a kernel know the basic ones only. That a kernel and its lowered equations are the same
function is tested on numbers, by comparing the imported program with JAX.

``max(-inf, x)`` and ``min(inf, x)`` are ``x``, for NaN as well. A selection by a condition on sizes alone is
what it selects: ``jnp.var`` divides by ``n - ddof`` only if that is positive.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from math import inf
from typing import Any, NoReturn

from maskpool_verify import dims
from maskpool_verify.dims import Size
from maskpool_verify.errors import UnsupportedError
from maskpool_verify.tracing import (
    Aval,
    FlatEquation,
    FlatJaxpr,
    FlatLiteral,
    FlatOperand,
    FlatVar,
    restricted,
    size_of,
)


def lowered(flat: FlatJaxpr) -> FlatJaxpr:
    """The same function with derived primitives written out.

    Raises:
        UnsupportedError: a position is not known when tracing, or may lie outside of its axis.
    """
    lowering = _Lowering(flat)
    for number, equation in enumerate(flat.equations):
        lowering.add(number, equation)
    result = replace(flat, equations=tuple(lowering.equations), output=lowering.operand(flat.output))
    return restricted(result, result.output.index) if isinstance(result.output, FlatVar) else result


def _is_int(aval: Aval) -> bool:
    return aval.dtype.startswith("int")


class _Lowering:
    """The equations so far; ``operands[k]`` is what variable ``k`` of the jaxpr has become."""

    def __init__(self, flat: FlatJaxpr) -> None:
        self.flat = flat
        self.given = flat.given
        self.avals = list(flat.inputs)
        self.operands: list[FlatOperand] = [FlatVar(number) for number in range(len(flat.inputs))]
        self.equations: list[FlatEquation] = []
        self.place: FlatEquation | None = None
        self.number = 0

    def operand(self, operand: FlatOperand) -> FlatOperand:
        return self.operands[operand.index] if isinstance(operand, FlatVar) else operand

    def aval(self, operand: FlatOperand) -> Aval:
        return self.avals[operand.index] if isinstance(operand, FlatVar) else operand.aval

    def definition(self, operand: FlatVar) -> FlatEquation | None:
        """The equation of a variable; ``None`` for an argument."""
        number = operand.index - len(self.flat.inputs)
        return self.equations[number] if number >= 0 else None

    def add(self, number: int, equation: FlatEquation) -> None:
        self.place, self.number = equation, number
        operands = [self.operand(operand) for operand in equation.operands]
        rule = _RULES.get(equation.primitive)
        result = rule(self, equation, operands) if rule else None
        if result is None:
            result = self.emit(equation.primitive, equation.params, operands, equation.aval)
        self.operands.append(result)

    def emit(
        self, primitive: str, params: Mapping[str, Any], operands: Sequence[FlatOperand], aval: Aval
    ) -> FlatVar:
        """Add an equation at the place of the one that is being lowered."""
        assert self.place is not None
        self.equations.append(FlatEquation(primitive, params, tuple(operands), aval, self.place.source))
        self.avals.append(aval)
        return FlatVar(len(self.avals) - 1)

    def refuse(self, reason: str) -> NoReturn:
        assert self.place is not None
        raise UnsupportedError(
            f"{self.flat.label} at {self.place.source}, equation {self.number}: primitive "
            f'"{self.place.primitive}" is not supported here: {reason}.'
        )

    def slice(
        self,
        x: FlatOperand,
        starts: Sequence[Size],
        sizes: Sequence[Size],
        strides: Sequence[int] | None = None,
    ) -> FlatOperand:
        """A part of an array, of the shape ``sizes``; itself if it is all of it."""
        aval = self.aval(x)
        if tuple(sizes) == aval.shape:
            return x
        steps = strides or [1] * len(sizes)
        spans = [dims.add(dims.mul(step, dims.sub(n, 1)), 1) for n, step in zip(sizes, steps, strict=True)]
        params = {
            "start_indices": tuple(starts),
            "limit_indices": tuple(map(dims.add, starts, spans)),
            "strides": None if set(steps) == {1} else tuple(steps),
        }
        return self.emit("slice", params, [x], Aval(aval.dtype, tuple(sizes)))

    def broadcast(self, x: FlatOperand, shape: Sequence[Size], dimensions: Sequence[int]) -> FlatVar:
        params = {"shape": tuple(shape), "broadcast_dimensions": tuple(dimensions), "sharding": None}
        return self.emit("broadcast_in_dim", params, [x], Aval(self.aval(x).dtype, tuple(shape)))

    def concatenate(self, parts: Sequence[FlatOperand], dimension: int) -> FlatOperand:
        """The parts one behind the other, two at a time."""
        joined, *rest = parts
        for part in rest:
            left, right = self.aval(joined), self.aval(part)
            shape = list(left.shape)
            shape[dimension] = dims.add(left.shape[dimension], right.shape[dimension])
            aval = Aval(left.dtype, tuple(shape))
            joined = self.emit("concatenate", {"dimension": dimension}, [joined, part], aval)
        return joined

    # -- numbers that are known when tracing

    def known(self, operand: FlatOperand) -> tuple[Size, ...] | None:
        """The entries of an array of rank 0 or 1 that does not depend on the arguments.

        They are integers, in any dtype that holds them exactly; false is 0 and true is 1.
        """
        if isinstance(operand, FlatLiteral):
            exact = _is_int(operand.aval) or operand.value in range(_EXACT)
            return (int(operand.value),) if exact else None
        equation = self.definition(operand)
        if equation is None or len(equation.aval.shape) > 1:
            return None
        if equation.primitive == "dim_as_value":
            return (size_of(equation.params["dim"]),)
        values = [self.known(x) for x in equation.operands]
        if any(value is None for value in values):
            return None
        entries = [value for value in values if value is not None]
        match equation.primitive, entries:
            case "convert_element_type", [x] if equation.aval.dtype != "bool":
                return x
            case (("broadcast_in_dim" | "reshape" | "squeeze"), [x]) if len(x) == 1 == _count(equation.aval):
                return x
            case "concatenate", [*parts]:
                return tuple(entry for part in parts for entry in part)
            case ("add" | "sub" | "mul") as name, [x, y] if len(x) == len(y) == 1:
                return (_SUMS[name](x[0], y[0]),)
            case ("lt" | "gt") as name, [[x], [y]]:
                less, greater = (x, y) if name == "lt" else (y, x)
                if self.given.nonnegative(dims.sub(dims.sub(greater, less), 1)):
                    return (1,)
                return (0,) if self.given.nonnegative(dims.sub(less, greater)) else None
            case "select_n", [[int(which)], *cases]:
                return cases[which]
        return None

    def progression(self, operand: FlatOperand) -> tuple[Size, int] | None:
        """The first entry and the step of an array ``[start, start + step, …]`` of integers.

        Further axes of the array have size 1.
        """
        equation = self.definition(operand) if isinstance(operand, FlatVar) else None
        if equation is None or not _is_int(equation.aval):
            return None
        match equation.primitive, equation.operands:
            case "iota", []:
                return (0, 1) if len(equation.aval.shape) == 1 else None
            case "convert_element_type", [x]:
                return self.progression(x)
            case "broadcast_in_dim", [x] if equation.params["broadcast_dimensions"] == (0,):
                same = equation.aval.shape == (*self.aval(x).shape, 1)
                return self.progression(x) if same else None
            case ("add" | "mul") as name, [x, y]:
                known, other = (x, y) if self.known(x) is not None else (y, x)
                scalar, found = self.known(known), self.progression(other)
                if scalar is None or len(scalar) != 1 or found is None:
                    return None
                (number,), (start, step) = scalar, found
                if name == "add":
                    return dims.add(start, number), step
                return (dims.mul(start, number), step * number) if isinstance(number, int) else None
        return None

    def positions(self, operands: Sequence[FlatOperand]) -> tuple[Size, ...]:
        """The positions that the operands hold, one after the other."""
        found: list[Size] = []
        for operand in operands:
            entries = self.known(operand)
            if entries is None:
                self.refuse("its positions are not known when tracing")
            found += entries
        return tuple(found)

    def require_inside(self, x: FlatOperand, starts: Sequence[Size], sizes: Sequence[Size]) -> None:
        """JAX moves a slice that does not lie inside of its axis; such ones are refused."""
        for length, start, size in zip(self.aval(x).shape, starts, sizes, strict=True):
            rest = dims.sub(length, dims.add(start, size))
            if not (self.given.nonnegative(start) and self.given.nonnegative(rest)):
                last = dims.sub(dims.add(start, size), 1)
                span = f"position {start}" if size == 1 else f"positions {start} to {last}"
                self.refuse(f"{span} of an axis of size {length} may lie outside of it")


_EXACT = 2**8
"""Natural numbers below are exact in every float dtype."""

_SUMS: Mapping[str, Callable[[Size, Size], Size]] = {"add": dims.add, "sub": dims.sub, "mul": dims.mul}


def _count(aval: Aval) -> Size:
    return dims.mul(*aval.shape)


# -- the rules: what an equation has become, or `None` if it stays


def _clamp(low: _Lowering, equation: FlatEquation, operands: list[FlatOperand]) -> FlatOperand:
    least, x, greatest = operands
    raised = low.emit("max", {}, [least, x], equation.aval)
    return low.emit("min", {}, [greatest, raised], equation.aval)


def _square(low: _Lowering, equation: FlatEquation, operands: list[FlatOperand]) -> FlatOperand:
    (x,) = operands
    return low.emit("mul", {}, [x, x], equation.aval)


def _integer_pow(low: _Lowering, equation: FlatEquation, operands: list[FlatOperand]) -> FlatOperand:
    """By squaring, in the order in which JAX multiplies."""
    (x,), aval = operands, equation.aval
    exponent = equation.params["y"]
    one = FlatLiteral(1 if _is_int(aval) else 1.0, Aval(aval.dtype, ()))
    power: FlatOperand | None = None
    rest = abs(exponent)
    while rest:
        if rest & 1:
            power = x if power is None else low.emit("mul", {}, [power, x], aval)
        rest >>= 1
        if rest:
            x = low.emit("mul", {}, [x, x], aval)
    if power is None:
        return low.broadcast(one, aval.shape, ())
    return low.emit("div", {}, [one, power], aval) if exponent < 0 else power


def _sign_of_ints(low: _Lowering, equation: FlatEquation, operands: list[FlatOperand]) -> FlatOperand | None:
    """Negation, absolute value and sign of integers."""
    (x,), aval = operands, equation.aval
    if not _is_int(aval):
        return None

    def literal(value: int) -> FlatLiteral:
        return FlatLiteral(value, Aval(aval.dtype, ()))

    if equation.primitive == "sign":
        raised = low.emit("max", {}, [x, literal(-1)], aval)
        return low.emit("min", {}, [raised, literal(1)], aval)
    negated = low.emit("sub", {}, [literal(0), x], aval)
    return low.emit("max", {}, [x, negated], aval) if equation.primitive == "abs" else negated


def _of_bools(low: _Lowering, equation: FlatEquation, operands: list[FlatOperand]) -> FlatOperand | None:
    """Comparisons, extrema and products of truth values; and extrema with infinite literals."""
    name, aval = equation.primitive, equation.aval
    if low.aval(operands[0]).dtype != "bool":
        return _without_infinity(low, equation, operands)
    if name in ("eq", "ne"):
        different = low.emit("xor", {}, operands, aval)
        return low.emit("not", {}, [different], aval) if name == "eq" else different
    connectives = {
        "max": "or",
        "min": "and",
        "mul": "and",
        "reduce_max": "reduce_or",
        "reduce_min": "reduce_and",
        "reduce_prod": "reduce_and",
    }
    return low.emit(connectives[name], {**equation.params}, operands, aval)


def _without_infinity(
    low: _Lowering, equation: FlatEquation, operands: list[FlatOperand]
) -> FlatOperand | None:
    neutral = {"max": -inf, "min": inf}.get(equation.primitive)
    if neutral is None:
        return None
    kept = [x for x in operands if not (isinstance(x, FlatLiteral) and x.value == neutral)]
    return kept[0] if len(kept) == 1 and low.aval(kept[0]) == equation.aval else None


def _concatenate(low: _Lowering, equation: FlatEquation, operands: list[FlatOperand]) -> FlatOperand:
    return low.concatenate(operands, equation.params["dimension"])


def _stack(low: _Lowering, equation: FlatEquation, operands: list[FlatOperand]) -> FlatOperand:
    axis, shape = equation.params["axis"], list(equation.aval.shape)
    shape[axis] = 1
    kept = [k for k in range(len(shape)) if k != axis]
    return low.concatenate([low.broadcast(x, shape, kept) for x in operands], axis)


def _select(low: _Lowering, equation: FlatEquation, operands: list[FlatOperand]) -> FlatOperand | None:
    which, *cases = operands
    match low.known(which) if low.aval(which).shape == () else None:
        case (int(number),) if low.aval(cases[number]) == equation.aval:
            return cases[number]
    return None


def _pad(low: _Lowering, equation: FlatEquation, operands: list[FlatOperand]) -> FlatOperand:
    x, value = operands
    for axis, config in enumerate(equation.params["padding_config"]):
        before, after, interior = map(size_of, config)
        if interior != 0 or not low.given.nonnegative(before) or not low.given.nonnegative(after):
            low.refuse(f"the padding ({before}, {after}, {interior}) of axis {axis} removes or parts entries")
        shape = low.aval(x).shape
        parts: list[FlatOperand] = [x]
        if before != 0:
            parts.insert(0, low.broadcast(value, (*shape[:axis], before, *shape[axis + 1 :]), ()))
        if after != 0:
            parts.append(low.broadcast(value, (*shape[:axis], after, *shape[axis + 1 :]), ()))
        x = low.concatenate(parts, axis)
    return x


def _slice(low: _Lowering, equation: FlatEquation, operands: list[FlatOperand]) -> FlatOperand | None:
    starts = tuple(map(size_of, equation.params["start_indices"]))
    return low.slice(operands[0], starts, equation.aval.shape, equation.params["strides"])


def _dynamic_slice(low: _Lowering, equation: FlatEquation, operands: list[FlatOperand]) -> FlatOperand:
    x, *positions = operands
    starts, sizes = low.positions(positions), tuple(map(size_of, equation.params["slice_sizes"]))
    low.require_inside(x, starts, sizes)
    return low.slice(x, starts, sizes)


def _gather(low: _Lowering, equation: FlatEquation, operands: list[FlatOperand]) -> FlatOperand:
    """A gather of one slice at a position that is known, or of entries at regular distances along an axis."""
    x, indices = operands
    numbers, sizes = equation.params["dimension_numbers"], tuple(map(size_of, equation.params["slice_sizes"]))
    if (found := _regular(low, equation, x, indices)) is not None:
        return found
    if len(low.aval(indices).shape) != 1 or numbers.operand_batching_dims:
        low.refuse("it reads more than one slice")
    starts: list[Size] = [0] * len(sizes)
    for axis, position in zip(numbers.start_index_map, low.positions([indices]), strict=True):
        starts[axis] = position
    low.require_inside(x, starts, sizes)
    part = low.slice(x, starts, sizes)
    dropped = tuple(sorted(numbers.collapsed_slice_dims))
    if not dropped:
        return part
    return low.emit("squeeze", {"dimensions": dropped}, [part], equation.aval)


def _regular(
    low: _Lowering, equation: FlatEquation, x: FlatOperand, indices: FlatOperand
) -> FlatOperand | None:
    """What ``x[start::step]`` is traced to for open sizes: every ``step``-th entry along one axis."""
    numbers, shape = equation.params["dimension_numbers"], low.aval(x).shape
    progression = low.progression(indices)
    if progression is None or numbers.operand_batching_dims or len(numbers.start_index_map) != 1:
        return None
    (axis,), (start, step) = numbers.start_index_map, progression
    others = tuple(k for k in range(len(shape)) if k != axis)
    sizes = list(shape)
    sizes[axis] = count = low.aval(indices).shape[0]
    if (numbers.collapsed_slice_dims, numbers.offset_dims) != ((axis,), others) or step < 1:
        return None
    starts, strides = [start if k == axis else 0 for k in range(len(shape))], [1] * len(shape)
    strides[axis] = step
    low.require_inside(
        x, starts, [*shape[:axis], dims.add(dims.mul(step, dims.sub(count, 1)), 1), *shape[axis + 1 :]]
    )
    return low.slice(x, starts, sizes, strides)


_Rule = Callable[[_Lowering, FlatEquation, "list[FlatOperand]"], "FlatOperand | None"]

_RULES: Mapping[str, _Rule] = {
    "clamp": _clamp,
    "square": _square,
    "integer_pow": _integer_pow,
    **dict.fromkeys(("neg", "abs", "sign"), _sign_of_ints),
    **dict.fromkeys(("eq", "ne", "max", "min", "mul"), _of_bools),
    **dict.fromkeys(("reduce_max", "reduce_min", "reduce_prod"), _of_bools),
    "concatenate": _concatenate,
    "stack": _stack,
    "select_n": _select,
    "pad": _pad,
    "slice": _slice,
    "dynamic_slice": _dynamic_slice,
    "gather": _gather,
}

LOWERED_PRIMITIVES = (
    "clamp",
    "square",
    "integer_pow",
    "stack",
    "pad",
    "split",
    "dynamic_slice",
    "gather",
    "scan",
)
"""The primitives that are supported because they are written out in terms of others."""
