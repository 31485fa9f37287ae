"""Proofs by the checker of ``MaskPool.Invariance``, which Lean evaluates on the imported program.

Each function gives the term that proves a theorem if the checker accepts, or ``None`` where no law of the
library has the form of the theorem: at listed sizes, for a length in place of a mask, and for a mask with an
axis that the result does not have. Lean alone decides whether the checker accepts.
"""

from __future__ import annotations

from collections.abc import Sequence

from maskpool_verify.lean.bags import EXTRA, Bag, coordinate, entry, hypothesis, index_text
from maskpool_verify.lean.lines import WIDTH, wrapped
from maskpool_verify.lean.syntax import list_text
from maskpool_verify.manifest import ArgumentSpec, Kernel

_INDENT = 6
"""Of the terms in a certificate."""


def permutation(bag: Bag) -> str | None:
    """The rows in another order ``σ``, one for each element of a batch."""
    kernel = bag.kernel
    if not _applies(bag):
        return None
    outer = kernel.batch_axes
    if not outer:
        return _lines([law(bag, "permutation"), "σ", index_text(bag.inputs())])
    parts = [
        f"fun q hq => ⟨{bag.order(spec.shape)}, {_same(bag, spec, outer, 'σ')}, rfl⟩"
        if kernel.rows in spec.shape
        else "by no_rows_at"
        for spec in kernel.arguments
    ]
    orders = f"(fun j => {bag.order(kernel.result_axes, 'j')})"
    return f"{_lines([law(bag, 'permutation_batch', outer), orders, 'fun j =>'])}\n{_tuple(parts)}"


def padding(bag: Bag, nonempty: str | None = None) -> str | None:
    """Further rows, whose number is ``extra``; ``nonempty`` proves that the bag has a row, where it must."""
    if not _applies(bag):
        return None
    if nonempty is None:
        return _lines([law(bag, "padding", EXTRA), "(h := by padded_arguments)"])
    return _lines([law(bag, "padding_nonempty", EXTRA), nonempty, "(h := by padded_arguments)"])


def first_difference(bag: Bag, law_: str) -> str | None:
    """A tactic that fails, and names the first equation at which the checker refuses; not for batches."""
    if bag.kernel.batch_axes or _outer_axes(bag):
        return None
    rows, mask = positions(bag.kernel)
    return f"name_difference (program.firstBad {law_} {rows} {mask})"


def masked_irrelevance(bag: Bag, changed: Sequence[ArgumentSpec], ending: str = "") -> str | None:
    """Other entries of the arguments ``changed`` in masked rows; ``ending`` is that of the law's name."""
    if not _applies(bag):
        return None
    kernel, outer = bag.kernel, _outer_axes(bag)
    mask = bag.name(kernel.selection)
    if not outer:
        parts = []
        for spec in kernel.arguments:
            rows = f"fun q h => {hypothesis(bag.name(spec))} q (h _ (.head _))"
            parts += [rows if spec in changed else "by same_rows", "by same_rows"]
        live = f"(fun r => {entry(mask, ['r'])})"
        return f"{_lines([law(bag, f'masked_irrelevance{ending}'), live])}\n{_tuple(parts)}"
    parts = []
    for spec in kernel.arguments:
        if spec in changed:
            missing = "".join(f" {_at(bag, axis)}" for axis in outer if axis not in spec.shape)
            rows = f"fun h => {hypothesis(bag.name(spec))} q{missing} (h _ (.head _))"
            parts += [*_element(bag, spec), f"{rows}⟩"]
        else:
            parts.append("by same_rows_at")
        if spec is kernel.selection:
            parts += [*_element(bag, spec), "by masked_rows⟩"]
        else:
            parts.append("by same_rows_at")
    masks = f"(fun j r => {entry(mask, [_at(bag, axis) for axis in kernel.selection.shape])})"
    first = law(bag, f"masked_irrelevance_batch{ending}", outer)
    return f"{_lines([first, masks, 'fun j =>'])}\n{_tuple(parts)}"


def _applies(bag: Bag) -> bool:
    kernel = bag.kernel
    outer = _outer_axes(bag)
    return bag.is_open and kernel.selection.role == "mask" and all(a in kernel.result_axes for a in outer)


def _outer_axes(bag: Bag) -> tuple[str, ...]:
    """The axes of the mask beside the rows."""
    return tuple(str(axis) for axis in bag.kernel.selection.shape if axis != bag.kernel.rows)


def positions(kernel: Kernel) -> tuple[int, int]:
    """The numbers by which the checker knows the rows among the sizes, and the mask among the arguments."""
    return kernel.symbols.index(kernel.rows), kernel.arguments.index(kernel.selection)


def law(bag: Bag, name: str, more: str | Sequence[str] = "") -> str:
    """A law of the library, applied to the sizes and to the verdict of the checker.

    ``more`` is a further argument, or the axes of a batch.
    """
    kernel = bag.kernel
    rows, mask = positions(kernel)
    given = more if isinstance(more, str) else list_text([kernel.symbols.index(axis) for axis in more])
    sizes = " ".join(filter(None, (bag.values(), given)))
    return f"program.{name} {sizes} (rows := {rows}) (mask := {mask}) (by eq_refl)"


def _at(bag: Bag, axis: str | int) -> str:
    """The coordinate along an axis of the mask, at the row ``r`` and the index ``j`` of the result."""
    kernel = bag.kernel
    return "r" if axis == kernel.rows else coordinate("j", kernel.result_axes.index(axis))


def _same(bag: Bag, spec: ArgumentSpec, outer: Sequence[str], function: str) -> str:
    """``function`` has the same value at the index ``q`` of an argument as at the element of the index ``j``.

    It is a function of the coordinates along those of the axes ``outer`` that the argument has.
    """
    same = f"congrArg {function}"
    axes = [axis for axis in outer if axis in spec.shape]
    for number, axis in enumerate(axes):
        equal = f"(Fin.ext (hq.at {bag.kernel.symbols.index(axis)} {spec.shape.index(axis)}))"
        same = f"congr ({same}) {equal}" if number else f"{same} {equal}"
    return same if axes else "rfl"


def _element(bag: Bag, spec: ArgumentSpec) -> tuple[str, str]:
    """The mask of the element of the batch to which the index ``q`` of an argument belongs."""
    outer = _outer_axes(bag)
    selection = bag.kernel.selection
    own = {axis: coordinate("q", spec.shape.index(axis)) for axis in outer if axis in spec.shape}
    names = dict(zip(own, ("i", "k", "l", "m"), strict=False))
    at_element = entry(bag.name(selection), [own.get(str(a), _at(bag, a)) for a in selection.shape])
    at_names = entry(bag.name(selection), [names.get(str(a), _at(bag, a)) for a in selection.shape])
    same = _same(bag, spec, outer, f"(fun {' '.join(names.values())} r => {at_names})")
    return f"fun q {'hq' if own else '_'} => ⟨fun r => {at_element},", f"{same},"


def _lines(parts: Sequence[str]) -> str:
    return wrapped(parts[1:], parts[0], "  ", WIDTH - _INDENT - len("exact "))


def _tuple(parts: Sequence[str]) -> str:
    """``⟨a, b, trivial⟩``, on as many lines as it takes."""
    first, *rest = [part if part.endswith(",") else f"{part}," for part in parts]
    return wrapped((*rest, "trivial⟩"), f"  ⟨{first}", "   ", WIDTH - _INDENT)
