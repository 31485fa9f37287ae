"""A kernel's arguments in Lean: as the tensors of a theorem, and as the bags of the specification.

An argument of shape ``["b", "n", "d"]`` is a tensor; at the index ``q`` of the result and the row ``r`` it is
read at ``(q.1, r.1, q.2.1, ())``. Where a bag is the whole of its tensors, these are written themselves.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from maskpool_verify.constraints import Constraint
from maskpool_verify.dims import Size
from maskpool_verify.lean.syntax import list_text
from maskpool_verify.manifest import ArgumentSpec, Kernel, Role, Shape
from maskpool_verify.names import binders

EXTRA = "extra"
"""The number of padded rows, where sizes are open."""

_INTEGERS = ("int32", "int64")


def coordinate(index: str, axis: int) -> str:
    """The coordinate of the index ``index`` along ``axis``: ``q.2.1``"""
    return index + ".2" * axis + ".1"


def index_text(coordinates: Sequence[str]) -> str:
    """``(q.1, r.1, ())``"""
    return f"({', '.join((*coordinates, '()'))})" if coordinates else "()"


def entry(tensor: str, coordinates: Sequence[str]) -> str:
    """``x (q.1, r.1, ())``"""
    return f"{tensor} {index_text(coordinates)}"


def entries(spec: ArgumentSpec, numbers: str) -> str:
    """The type of the entries; ``numbers`` is that of floating-point numbers."""
    if spec.dtype == "bool":
        return "Bool"
    return "Int" if spec.dtype in _INTEGERS else numbers


def _keys(axes: Sequence[str | int]) -> tuple[str, ...]:
    """A name for each axis: its symbol, or the number of its occurrence among those without one."""
    count = iter(range(len(axes)))
    return tuple(axis if isinstance(axis, str) else f"#{next(count)}" for axis in axes)


def prime(name: str) -> str:
    """``x'``"""
    return f"{name[:-1]}'»" if name.endswith("»") else f"{name}'"


def junk(name: str) -> str:
    """The padded rows of an argument."""
    return f"junk_{name.strip('«»')}"


def hypothesis(name: str) -> str:
    """What is assumed of an argument."""
    return f"h_{name.strip('«»')}"


def finite(tensor: str, sizes: Sequence[Size]) -> str:
    """A tensor of numbers among infinities and NaN; ``sizes`` are its shape."""
    if tensor.isidentifier():
        return f"{tensor}.finite"
    shape = f"(s := {list_text(sizes)}) " if tensor.startswith("fun ") else ""
    return f"Tensor.finite {shape}({tensor})"


OPEN = "symbolic"
"""The name of the shape whose sizes are left open."""


def shape_name(shape: Shape) -> str:
    """``n4_d3`` for ``{"n": 4, "d": 3}``; ``symbolic`` where the sizes are open."""
    if any(isinstance(size, str) for size in shape.values()):
        return OPEN
    return "_".join(f"{symbol}{size}" for symbol, size in shape.items())


@dataclass(frozen=True)
class Bag:
    """The arguments of ``kernel`` at one shape."""

    kernel: Kernel
    shape: Shape

    @property
    def is_open(self) -> bool:
        """Whether the sizes are variables of the theorems."""
        return self.shape == self.kernel.open_shape

    @property
    def rows(self) -> str:
        """The number of rows, in Lean."""
        return str(self.shape[self.kernel.rows])

    @property
    def names(self) -> Mapping[str, str]:
        """The bound variables of the arguments, by the names of the arguments."""
        specs = self.kernel.arguments
        taken = [*map(shape_name, self.kernel.shapes)]
        taken += [size for size in self.shape.values() if isinstance(size, str)]
        names = binders((spec.name for spec in specs), taken)
        return {spec.name: name for spec, name in zip(specs, names, strict=True)}

    def name(self, spec: ArgumentSpec) -> str:
        """The bound variable of an argument."""
        return self.names[spec.name]

    # -- binders

    @property
    def sizes(self) -> tuple[str, ...]:
        """``{n d : Nat}`` where sizes are open."""
        names = [size for size in self.shape.values() if isinstance(size, str)]
        return (f"{{{' '.join(names)} : Nat}}",) if names else ()

    @property
    def assumed(self) -> Mapping[str, Constraint]:
        """What is assumed of open sizes, by the names of the hypotheses."""
        if not self.is_open:
            return {}
        taken = [hypothesis(name) for name in (*self.names.values(), "valid", "mask", "length")]
        found: dict[str, Constraint] = {}
        for constraint in self.kernel.given.items:
            name = constraint.name
            while name in taken or name in found:
                name += "_"
            found[name] = constraint
        return found

    @property
    def hypotheses(self) -> tuple[str, ...]:
        """``(h_n_pos : 0 < n)`` for each constraint on open sizes."""
        return tuple(f"({name} : {constraint.lean()})" for name, constraint in self.assumed.items())

    def type(self, spec: ArgumentSpec, numbers: str, **other: Size) -> str:
        """``Tensor R [4, 3]``; ``other`` are other sizes of some symbols."""
        return f"Tensor {entries(spec, numbers)} {list_text(spec.sizes({**self.shape, **other}))}"

    def quantified(self, spec: ArgumentSpec, numbers: str = "R") -> str:
        """The type of the variable of a theorem about a property: masks are truth values in all of them."""
        if spec.role == "mask":
            return f"Tensor Bool {list_text(spec.sizes(self.shape))}"
        return self.type(spec, numbers)

    def binders(self, numbers: str) -> tuple[str, ...]:
        """The arguments with the types that the program gives them."""
        return tuple(f"({self.name(spec)} : {self.type(spec, numbers)})" for spec in self.kernel.arguments)

    def bound(self, numbers: str = "R", *, masks: bool = True) -> tuple[str, ...]:
        """The arguments of a theorem about a property."""
        return tuple(
            f"({self.name(spec)} : {self.quantified(spec, numbers)})"
            for spec in self.kernel.arguments
            if masks or spec.role != "mask"
        )

    # -- the program

    def inputs(
        self,
        replaced: Mapping[Role, Callable[[ArgumentSpec], str]] | None = None,
        *,
        rows: str | None = None,
        converted: bool = True,
    ) -> tuple[str, ...]:
        """What the program is applied to; see :meth:`call`."""
        inputs = []
        for spec in self.kernel.arguments:
            make = (replaced or {}).get(spec.role)
            text = make(spec) if make else self.name(spec)
            if converted and spec.role == "mask" and spec.dtype != "bool":
                text = f"{text}.indicator" if text.isidentifier() else f"Tensor.indicator ({text})"
            if converted and spec.is_float and self.kernel.arithmetic == "extended":
                sizes = spec.sizes({**self.shape, self.kernel.rows: rows or self.shape[self.kernel.rows]})
                text = finite(text, sizes)
            inputs.append(text)
        return tuple(inputs)

    def values(self, rows: str | None = None) -> str:
        """The values of the open sizes, in the order of their numbers: ``[n, d]``; ``rows`` replaces one."""
        if not self.is_open:
            return "[]"
        sizes = {**self.shape, self.kernel.rows: rows or self.rows}.values()
        return f"[{', '.join(map(str, sizes))}]"

    def call(
        self,
        replaced: Mapping[Role, Callable[[ArgumentSpec], str]] | None = None,
        *,
        program: str = "program",
        rows: str | None = None,
        converted: bool = True,
    ) -> str:
        """The program applied to the arguments, or to what ``replaced`` makes of those of some roles.

        ``rows`` is another number of rows. Masks are truth values, which are ``converted`` to the numbers
        that the program takes, and these to numbers among infinities and NaN if the theorems are about such.
        """
        inputs = self.inputs(replaced, rows=rows, converted=converted)
        return f"{program}.eval {self.values(rows)} {index_text(inputs)}"

    # -- reading at an index of the result

    def at(self, spec: ArgumentSpec, row: str) -> tuple[str, ...]:
        """The coordinates at which an argument is read, at the index ``q`` of the result and a row."""
        result = _keys(self.kernel.result_axes)
        return tuple(
            row if key == self.kernel.rows else coordinate("q", result.index(key))
            for key in _keys(spec.shape)
        )

    def own(self, spec: ArgumentSpec, row: str) -> tuple[str, ...]:
        """The coordinates of an argument's own index ``q``, with ``row`` as that of the row."""
        return tuple(
            row if axis == self.kernel.rows else coordinate("q", number)
            for number, axis in enumerate(spec.shape)
        )

    def own_row(self, spec: ArgumentSpec) -> str:
        """The row of an argument's own index ``q``."""
        return coordinate("q", spec.shape.index(self.kernel.rows))

    def order(self, axes: Sequence[str | int], index: str = "q") -> str:
        """The bijection of the rows of the bag at an index, whose axes are ``axes``."""
        return " ".join(["σ", *(coordinate(index, axes.index(axis)) for axis in self.kernel.batch_axes)])

    def is_vector(self, spec: ArgumentSpec) -> bool:
        """Whether an argument has the rows as its only axis."""
        return spec.shape == (self.kernel.rows,)

    @property
    def is_plain(self) -> bool:
        """Whether there is one bag, with the rows first and the result's axes after them."""
        kernel = self.kernel
        vectors = kernel.having("logits", "mask")
        return (
            kernel.spec == "attention"
            and all(map(self.is_vector, vectors))
            and kernel.features.shape == (kernel.rows, *kernel.result_axes)
            and all(spec.shape == () for spec in kernel.having("length"))
        )
