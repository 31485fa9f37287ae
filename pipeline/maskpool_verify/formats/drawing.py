"""A counterexample as a small drawing: the bags row by row, and the results that should agree.

The colours are CSS classes of the page that the SVG is part of.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias
from xml.etree import ElementTree
from xml.etree.ElementTree import Element, SubElement

from maskpool_verify.dims import assigned
from maskpool_verify.refute import Counterexample
from maskpool_verify.refute.counterexample import Input, RunReport
from maskpool_verify.refute.text import nested, row_values

Layout: TypeAlias = Literal["beside", "below"]
"""Where the second bag is drawn."""

_LETTER, _LINE, _ROW = 7.6, 20.0, 34.0
"""The width of a letter at 12.5 pixels, and the heights of a line of text and of a row."""
_PAD, _GAP, _BETWEEN = 12.0, 90.0, 48.0
"""The space around the text of a cell, and between bags beside and below each other."""
_CUT = 28
"""Letters of a cell; a longer one is cut, and is shown whole in the text beside the drawing."""


@dataclass(frozen=True)
class _Panel:
    """One run: the cells of its table, which rows are masked, and which ones have a mark."""

    title: str
    heads: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    masked: tuple[bool, ...]
    marks: tuple[str, ...]
    notes: tuple[str, ...]
    result: tuple[tuple[str, str], ...]
    expected: str

    @property
    def widths(self) -> list[float]:
        columns = zip(self.heads, *self.rows, strict=True)
        return [max(map(len, column)) * _LETTER + 2 * _PAD for column in columns]

    @property
    def width(self) -> float:
        marks = max((len(mark) for mark in self.marks), default=0) * _LETTER + _PAD
        notes = max((len(note) for note in (*self.notes, self.title, self.expected)), default=0) * _LETTER
        return max(sum(self.widths) + marks, notes, self.result_width)

    @property
    def label_width(self) -> float:
        return (max(len(label) for label, _ in self.result) + 2) * _LETTER

    @property
    def result_width(self) -> float:
        values = max(len(value) for _, value in self.result) * _LETTER
        return max(sum(self.widths), self.label_width + values + 2 * _PAD)

    @property
    def table_height(self) -> float:
        return _LINE * (2 + len(self.notes)) + _ROW * len(self.rows)


def draw(found: Counterexample, layout: Layout, name: str) -> str:
    """The SVG element; ``name`` makes its identifiers unique in the page.

    ``beside``: two bags side by side, lines joining the rows that correspond. ``below``: one below the other,
    for narrow screens.
    """
    panels = _panels(found)
    gap = _GAP if found.right is not None and layout == "beside" else 0.0
    if layout == "beside":
        size = (sum(p.width for p in panels) + gap, max(_height(p) for p in panels))
    else:
        size = (max(p.width for p in panels), sum(map(_height, panels)) + _BETWEEN * (len(panels) - 1))
    box = f"0 0 {size[0] + 2:.0f} {size[1] + 2:.0f}"
    svg = Element("svg", viewBox=box, width=f"{size[0] + 2:.0f}", height=f"{size[1] + 2:.0f}", role="img")
    svg.set("class", f"bags {layout}")
    svg.set("aria-labelledby", f"{name}-title {name}-desc")
    SubElement(
        svg, "title", id=f"{name}-title"
    ).text = f"Counterexample to {found.property.replace('_', ' ')}"
    SubElement(svg, "desc", id=f"{name}-desc").text = _description(found, panels)
    drawing = SubElement(svg, "g", transform="translate(1 1)")
    table = max(p.table_height for p in panels) if layout == "beside" else None
    x = y = 0.0
    for panel in panels:
        _draw_panel(drawing, panel, x, y, table or panel.table_height, f"{name}-hatch")
        if layout == "beside":
            x += panel.width + gap
        else:
            y += _height(panel)
            if panel is not panels[-1]:
                _sign(drawing, panels[0].width / 2, y + _BETWEEN / 2 - 3)
            y += _BETWEEN
    _hatch(svg, f"{name}-hatch")
    if layout == "beside" and found.right is not None:
        _join(drawing, found, panels, table or 0.0)
    return ElementTree.tostring(svg, "unicode")


def _description(found: Counterexample, panels: Sequence[_Panel]) -> str:
    results = " and ".join(f"{value} ({label})" for panel in panels for label, value in panel.result[:1])
    wanted = f", expected {nested(found.expected)}" if found.expected else ""
    return f"{found.sentence} The results: {results}{wanted}. All numbers are in the text that follows."


def _panels(found: Counterexample) -> list[_Panel]:
    runs = [found.left] if found.right is None else [found.left, found.right]
    return [_panel(found, run, second=run is found.right) for run in runs]


def _panel(found: Counterexample, run: RunReport, *, second: bool) -> _Panel:
    given = [i for i in run.inputs if i.row_axis is not None]
    count = run.sizes[found.rows_symbol]
    orders = found.orders if second else ()
    same = orders[0] if len(set(orders)) == 1 else None
    labels = [str(same[row] if same else row) for row in range(count)]
    cells = [tuple(_cut(nested(row_values(each, row))) for each in given) for row in range(count)]
    title = "the bag" if found.right is None else "second run" if second else "first run"
    notes = [f"{i.name} = {_cut(nested(i.values))}" for i in run.inputs if i.row_axis is None]
    if second and len(set(orders)) > 1:
        notes += [f"bag {bag}: rows {', '.join(map(str, order))}" for bag, order in enumerate(orders)]
    mark = "new" if found.property == "padding" else "changed"
    return _Panel(
        title=f"{title}: {assigned(run.sizes)}",
        heads=("row", *(i.name for i in given)),
        rows=tuple((label, *row) for label, row in zip(labels, cells, strict=True)),
        masked=tuple(_is_masked(run.inputs, row) for row in range(count)),
        marks=tuple(mark if second and row in found.rows else "" for row in range(count)),
        notes=tuple(notes),
        result=_results(found, run),
        expected=f"≠  expected {_cut(nested(found.expected))}" if found.expected else "",
    )


def _results(found: Counterexample, run: RunReport) -> tuple[tuple[str, str], ...]:
    exact = [("exact", nested(run.result))] if run.result else []
    jax = [
        (label, nested(values) if values else "raises")
        for label, values in ((f"JAX {found.dtype}", run.jax), ("JAX float64", run.jax_float64))
    ]
    return tuple((label, _cut(value)) for label, value in [*exact, *jax])


def _is_masked(inputs: Sequence[Input], row: int) -> bool:
    """Whether the row counts in no bag."""
    for given in inputs:
        if given.role == "mask" and given.row_axis is not None:
            return all(entry in ("false", "0") for entry in row_values(given, row).entries)
        if given.role == "length":
            return all(entry.isdecimal() and int(entry) <= row for entry in given.values.entries)
    return False


def _cut(text: str) -> str:
    return text if len(text) <= _CUT else f"{text[: _CUT - 1]}…"


def _height(panel: _Panel) -> float:
    return panel.table_height + 30 + _LINE * (len(panel.result) + (1.4 if panel.expected else 0))


# -- drawing


def _draw_panel(parent: Element, panel: _Panel, x: float, y: float, table: float, hatch: str) -> None:
    group = SubElement(parent, "g", transform=f"translate({x:.1f} {y:.1f})")
    _text(group, 0, 13, panel.title, "caption")
    left = 0.0
    lefts = []
    for head, width in zip(panel.heads, panel.widths, strict=True):
        lefts.append(left)
        _text(group, left + _PAD, _LINE + 14, head, "head")
        left += width
    for number, row in enumerate(panel.rows):
        top = 2 * _LINE + number * _ROW
        mark, masked = panel.marks[number], panel.masked[number]
        kind = " ".join(["row", *(["masked"] if masked else []), *(["marked"] if mark else [])])
        box = {"x": "0", "y": f"{top:.1f}", "width": f"{left:.1f}", "height": f"{_ROW - 6:.1f}", "rx": "5"}
        SubElement(group, "rect", box | {"class": kind})
        if masked:
            SubElement(group, "rect", box | {"class": "hatched", "fill": f"url(#{hatch})"})
        for start, cell in zip(lefts, row, strict=True):
            _text(group, start + _PAD, top + 19, cell, "masked" if masked else "cell")
        if mark:
            _text(group, left + 6, top + 19, mark, "mark")
    for number, note in enumerate(panel.notes):
        _text(group, 0, 2 * _LINE + len(panel.rows) * _ROW + 14 + number * _LINE, note, "note")
    middle, bottom = min(left, panel.width) / 2, table
    SubElement(group, "path", {"class": "arrow", "d": f"M{middle:.1f} {bottom + 2:.1f}v14m-4 -5l4 5l4 -5"})
    height = len(panel.result) * _LINE + 8
    box = {"x": "0", "y": f"{bottom + 20:.1f}", "width": f"{panel.result_width:.1f}"}
    SubElement(group, "rect", box | {"height": f"{height:.1f}", "rx": "5", "class": "result"})
    for number, (label, value) in enumerate(panel.result):
        baseline = bottom + 39 + number * _LINE
        _text(group, _PAD, baseline, label, "label")
        _text(group, _PAD + panel.label_width, baseline, value, "value")
    if panel.expected:
        _text(group, _PAD, bottom + 49 + len(panel.result) * _LINE, panel.expected, "unequal")


def _join(parent: Element, found: Counterexample, panels: Sequence[_Panel], table: float) -> None:
    """Lines between the rows that correspond, and the sign between the results."""
    left, right = panels
    start, end = sum(left.widths) + 4, left.width + _GAP - 4
    orders = set(found.orders)
    if len(orders) <= 1:
        order = next(iter(orders), range(len(right.rows)))
        for row, origin in enumerate(order):
            if right.marks[row] or origin >= len(left.rows):
                continue
            y0, y1 = (2 * _LINE + k * _ROW + (_ROW - 6) / 2 for k in (origin, row))
            bend = (end - start) / 2
            curve = f"C{start + bend:.1f} {y0:.1f} {end - bend:.1f} {y1:.1f} {end:.1f} {y1:.1f}"
            SubElement(parent, "path", {"class": "join", "d": f"M{start:.1f} {y0:.1f}{curve}"})
    x, y = (left.result_width + left.width + _GAP) / 2, table + 24 + len(left.result) * _LINE / 2
    _sign(parent, x, y)


def _sign(parent: Element, x: float, y: float) -> None:
    """That the results are not equal."""
    SubElement(parent, "circle", {"class": "sign", "cx": f"{x:.1f}", "cy": f"{y:.1f}", "r": "15"})
    _text(parent, x, y + 5, "≠", "unequal", anchor="middle")


def _hatch(svg: Element, name: str) -> None:
    definitions = SubElement(svg, "defs")
    pattern = SubElement(
        definitions,
        "pattern",
        {"id": name, "width": "7", "height": "7", "patternUnits": "userSpaceOnUse"},
    )
    pattern.set("patternTransform", "rotate(45)")
    SubElement(pattern, "line", {"x1": "0", "y1": "0", "x2": "0", "y2": "7", "class": "hatch"})


def _text(parent: Element, x: float, y: float, text: str, kind: str, *, anchor: str = "start") -> None:
    place = {"x": f"{x:.1f}", "y": f"{y:.1f}", "class": kind, "text-anchor": anchor}
    SubElement(parent, "text", place).text = text
