"""A counterexample as a block of text that can be checked by hand."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import zip_longest

from maskpool_verify.dims import assigned
from maskpool_verify.refute.counterexample import Broken, Counterexample, Input, Values

_LABELS = {"proved": "proved over the reals", "observed": "observed with JAX in float64, not proved"}


def render(found: Counterexample) -> str:
    """The block; lines have no trailing blanks."""
    name = found.property.replace("_", " ")
    lines = [f"Counterexample to {name} ({_LABELS[found.evidence]}):"]
    symbol = found.rows_symbol
    blocks = [bag(found.left.sizes, found.left.inputs, symbol)]
    if found.right is not None:
        right = found.right
        blocks.append(bag(right.sizes, right.inputs, symbol, starred=found.rows, orders=found.orders))
    lines += [f"  {line}" for line in beside(blocks)]
    lines += [f"  {line}" for line in _results(found)]
    lines.append(f"  {found.sentence}")
    if found.undefined:
        lines.append("  The result has no real value: there is a division by zero or the like at")
        lines += [f"    {line}" for line in broken_lines(found.undefined)]
    if found.broken:
        lines.append("  The first equation that depends on what masked rows hold:" if found.right is None else
                     "  The first equation at which the two runs do not correspond:")  # fmt: skip
        lines += [f"    {line}" for line in broken_lines(found.broken)]
    if not found.confirmed_by_jax:
        lines.append("  JAX does not show the difference on this input; it is one of exact arithmetic.")
    return "\n".join(line.rstrip() for line in lines)


def broken_lines(broken: Broken) -> list[str]:
    """The equation below its line of code."""
    return [f"{broken.source}: {broken.code}" if broken.code else broken.source, f"  {broken.equation}"]


def bag(
    sizes: Mapping[str, int],
    inputs: Sequence[Input],
    rows_symbol: str,
    *,
    starred: Collection[int] = (),
    orders: Sequence[Sequence[int]] = (),
) -> list[str]:
    """The sizes, a table with a line for each row, and the arguments without rows.

    ``starred`` rows are marked. ``orders`` are the rows of another bag that this one has, for each bag of a
    batch.
    """
    with_rows = [i for i in inputs if i.row_axis is not None]
    table = [["row", *(i.name for i in with_rows)]]
    same = len(set(map(tuple, orders))) == 1
    for row in range(sizes[rows_symbol]):
        marked = str(orders[0][row]) if same else f"{row}*" if row in starred else str(row)
        table.append([marked, *(nested(row_values(each, row)) for each in with_rows)])
    lines = [assigned(sizes), *_aligned(table)]
    lines += [f"{i.name} = {nested(i.values)}" for i in inputs if i.row_axis is None]
    if orders and not same:
        shown = " ".join(f"[{', '.join(map(str, order))}]" for order in orders)
        lines.append(f"order of the rows in each bag: {shown}")
    return lines


def row_values(given: Input, row: int) -> Values:
    """What an argument, which has a row axis, holds for one row."""
    axis, shape = given.row_axis, given.values.shape
    assert axis is not None
    step = 1
    for size in shape[axis + 1 :]:
        step *= size
    kept = [entry for number, entry in enumerate(given.values.entries) if number // step % shape[axis] == row]
    return Values(shape=(*shape[:axis], *shape[axis + 1 :]), entries=tuple(kept))


def nested(values: Values) -> str:
    """An array with brackets, as NumPy writes it in one line."""
    if not values.shape:
        return _entry(values.entries[0])
    if len(values.shape) == 1:
        return f"[{', '.join(map(_entry, values.entries))}]"
    size = len(values.entries) // values.shape[0]
    parts = [
        Values(shape=values.shape[1:], entries=values.entries[k * size : (k + 1) * size])
        for k in range(values.shape[0])
    ]
    return f"[{', '.join(map(nested, parts))}]"


def _entry(entry: str) -> str:
    return {"true": "yes", "false": "no"}.get(entry, entry)


def _aligned(table: Sequence[Sequence[str]]) -> list[str]:
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    return ["  ".join(cell.rjust(width) for cell, width in zip(line, widths, strict=True)) for line in table]


def beside(blocks: Sequence[Sequence[str]]) -> Iterator[str]:
    """Blocks side by side if that is narrow enough, else below each other."""
    widths = [max(map(len, block)) for block in blocks]
    if sum(widths) + 6 * (len(blocks) - 1) > 92:
        for block in blocks:
            yield from block
        return
    for line in zip_longest(*blocks, fillvalue=""):
        yield "      ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True))


def _results(found: Counterexample) -> list[str]:
    """A line for each arithmetic, with both results."""
    second = "expected" if found.right is None else "second"
    runs = [found.left] if found.right is None else [found.left, found.right]
    table = [["", "result" if found.right is None else "first", second]]
    for label, field in (("exact", "result"), (f"JAX {found.dtype}", "jax"), ("JAX float64", "jax_float64")):
        cells = [getattr(run, field) for run in runs]
        if field == "result" and cells[0] is None:
            continue
        shown = ["raises" if cell is None else nested(cell) for cell in cells]
        if found.right is None:
            shown.append(nested(found.expected) if found.expected and len(table) == 1 else "")
        table.append([label, *shown])
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    return ["  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)) for line in table]
