"""Find the logits that a kernel computes inside: the value that ``exp`` makes weights of, row by row.

The result is a hint. Lean proves that the kernel is attention pooling with these logits, each of which is
what the kernel computes for a bag of one instance; a wrong hint only makes that proof fail.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import IntEnum

from maskpool_verify import dims
from maskpool_verify.errors import UnsupportedError
from maskpool_verify.manifest import Kernel, Shape
from maskpool_verify.tracing import Aval, FlatEquation, FlatJaxpr, FlatLiteral, FlatOperand, FlatVar


class _Reach(IntEnum):
    """Of which rows a value depends on: of none, entry by entry of its own one, or of several."""

    NONE = 0
    ROW = 1
    SEVERAL = 2


_ALONG: Mapping[str, str] = {
    "reduce_sum": "axes",
    "reduce_max": "axes",
    "reduce_min": "axes",
    "reduce_prod": "axes",
    "reduce_or": "axes",
    "reduce_and": "axes",
    "cumsum": "axis",
    "cumprod": "axis",
    "cummax": "axis",
    "cummin": "axis",
    "cumlogsumexp": "axis",
    "rev": "dimensions",
}
"""Primitives that bring rows together along the axes in one parameter."""


def find_scores(flat: FlatJaxpr, kernel: Kernel, shape: Shape) -> int:
    """The variable of ``flat`` that holds the logits.

    Raises:
        UnsupportedError: there is none, or its axes are not axes of the result.
    """
    search = _Search(flat, str(shape[kernel.rows]))
    found = search.scores()
    if found is None:
        raise UnsupportedError(
            f'{flat.label}: no argument has role "logits", and no exp of a value that is computed row by row '
            'was found; pass the logits as an argument, or use spec "none".'
        )
    known = {shape[axis] for axis in (kernel.rows, *kernel.result_axes) if isinstance(axis, str)}
    sizes = search.avals[found].shape
    if not set(sizes) <= known or len(set(sizes)) < len(sizes):
        source = search.definition(found)
        where = f" at {source.source}" if source else ""
        raise UnsupportedError(
            f"{flat.label}{where}: the logits have the axes {search.avals[found]}, which are not axes of the "
            "rows and of the result; pass the logits as an argument."
        )
    return found


class _Search:
    def __init__(self, flat: FlatJaxpr, rows: str) -> None:
        self.flat = flat
        self.rows = rows
        self.avals: list[Aval] = [*flat.inputs, *(equation.aval for equation in flat.equations)]
        self.reach = [_Reach.ROW if self.row_axes(aval) else _Reach.NONE for aval in flat.inputs]
        for equation in flat.equations:
            self.reach.append(self._reach(equation))

    def row_axes(self, aval: Aval) -> list[int]:
        return [axis for axis, size in enumerate(aval.shape) if size == self.rows]

    def definition(self, index: int) -> FlatEquation | None:
        """The equation of a variable; ``None`` for an argument."""
        number = index - len(self.flat.inputs)
        return self.flat.equations[number] if number >= 0 else None

    def _reach(self, equation: FlatEquation) -> _Reach:
        variables = [operand for operand in equation.operands if isinstance(operand, FlatVar)]
        before = max((self.reach[v.index] for v in variables), default=_Reach.NONE)
        here = self.row_axes(equation.aval)
        if before is _Reach.SEVERAL or len(here) > 1:
            return _Reach.SEVERAL
        if any(self.rows in dims.symbols(size) for size in equation.aval.shape if size != self.rows):
            return _Reach.SEVERAL
        if not here:
            return _Reach.SEVERAL if before is _Reach.ROW else _Reach.NONE
        along = equation.params.get(_ALONG.get(equation.primitive, ""), ())
        axes = (along,) if isinstance(along, int) else tuple(along)
        if any(axis in self.row_axes(self.avals[v.index]) for v in variables for axis in axes):
            return _Reach.SEVERAL
        return _Reach.ROW

    def scores(self) -> int | None:
        """The argument of the last ``exp`` that comes from one row; a shift may have been added to it."""
        for equation in reversed(self.flat.equations):
            if equation.primitive in ("exp", "exp2"):
                found = self._unshifted(equation.operands)
                if found is not None:
                    return found
        return None

    def _unshifted(self, operands: Sequence[FlatOperand]) -> int | None:
        """The first of the operands that is computed row by row, or is so up to a shift."""
        for operand in operands:
            if isinstance(operand, FlatLiteral):
                continue
            reach = self.reach[operand.index]
            if reach is _Reach.ROW:
                return operand.index
            equation = self.definition(operand.index)
            if reach is _Reach.NONE or equation is None:
                continue
            inner: Sequence[FlatOperand] = ()
            match equation.primitive:
                case "sub" | "add" | "broadcast_in_dim" | "reshape" | "squeeze" | "transpose":
                    inner = equation.operands
                case "convert_element_type" | "stop_gradient" | "copy" | "copy_p":
                    inner = equation.operands
                case "select_n":
                    inner = equation.operands[:0:-1]  # what a true mask selects comes first
            if (found := self._unshifted(inner)) is not None and self.row_axes(self.avals[found]):
                return found
        return None
