"""Drawings of counterexamples: what is drawn is what the counterexample holds."""

from __future__ import annotations

from xml.etree import ElementTree
from xml.etree.ElementTree import Element

import pytest
from samples import corpus_report

from maskpool_verify.formats.drawing import Layout, draw
from maskpool_verify.refute import Counterexample

LAYOUTS: tuple[Layout, ...] = ("beside", "below")


def counterexample(kernel: str, property_: str) -> Counterexample:
    (found,) = corpus_report(kernel).kernels
    (wanted,) = [c for c in found.counterexamples if c.property == property_]
    return wanted


def drawn(found: Counterexample, layout: Layout = "beside") -> Element:
    return ElementTree.fromstring(draw(found, layout, "k"))


def texts(svg: Element, *kinds: str) -> list[str]:
    return [t.text or "" for t in svg.iter("text") if not kinds or t.get("class") in kinds]


def rows(svg: Element, kind: str) -> int:
    return sum(kind in (r.get("class") or "").split() for r in svg.iter("rect"))


@pytest.mark.parametrize("layout", LAYOUTS)
def test_rows_that_are_masked_and_rows_that_are_new(layout: Layout):
    found = counterexample("features_zeroed_only", "padding")
    assert (found.left.sizes["n"], found.rows) == (1, (1,)), "one row, and a second one as padding"
    svg = drawn(found, layout)
    assert (rows(svg, "row"), rows(svg, "masked"), rows(svg, "marked")) == (3, 1, 1)
    assert texts(svg, "mark") == ["new"]
    assert texts(svg, "unequal") == ["≠"]
    assert texts(svg, "value") == ["[1]", "[1]", "[1]", "[1/2]", "[0.5]", "[0.5]"]
    assert len(list(svg.iter("path"))) == (3 if layout == "beside" else 2), "two arrows, and one join"


def test_a_permutation_is_drawn_by_lines():
    found = counterexample("mask_shifted_by_one", "permutation")
    assert found.orders == ((1, 0),)
    svg = drawn(found)
    assert [t for t in texts(svg, "cell") if t in ("0", "1")][::2] == ["0", "1", "1", "0"]
    lines = [p.get("d", "") for p in svg.iter("path") if p.get("class") == "join"]
    ends = [(line.split("C")[0].split(" ")[1], line.rsplit(" ", 1)[1]) for line in lines]
    (first, second) = ends
    assert first == second[::-1], "they cross"
    assert first[0] != first[1]


@pytest.mark.parametrize("layout", LAYOUTS)
def test_one_run_and_what_is_expected(layout: Layout):
    svg = drawn(counterexample("features_zeroed_only", "specification"), layout)
    assert texts(svg, "unequal") == ["≠  expected [1]"]
    assert rows(svg, "row") == 2


def test_rows_beyond_the_length_are_masked():
    found = counterexample("length_inclusive", "masked_irrelevance")
    (length,) = [i for i in found.left.inputs if i.role == "length"]
    masked = found.left.sizes["n"] - int(length.values.entries[0])
    assert masked > 0
    assert rows(drawn(found), "masked") == 2 * masked


def test_several_bags_name_their_orders():
    found = counterexample("softmax_over_batch", "permutation")
    assert len(set(found.orders)) == 2
    assert texts(drawn(found), "note") == ["bag 0: rows 0, 1", "bag 1: rows 1, 0"]


@pytest.mark.parametrize("layout", LAYOUTS)
def test_everything_lies_inside(layout: Layout, corpus):
    """Letters are 0.6 em wide in monospaced fonts."""
    for kernel in corpus.kernels:
        for found in kernel.counterexamples:
            svg = drawn(found, layout)
            width, height = map(float, svg.get("viewBox", "").split()[2:])
            for group in svg.iter("g"):
                shift = group.get("transform", "translate(0 0)")[10:-1].split()
                for text in group.findall("text"):
                    x, y = float(text.get("x", "")), float(text.get("y", ""))
                    right = x + float(shift[0]) + 7.5 * len(text.text or "")
                    assert text.get("text-anchor") == "middle" or right <= width + 1
                    assert y + float(shift[1]) <= height


def test_it_is_described_for_those_who_do_not_see_it():
    found = counterexample("features_zeroed_only", "padding")
    svg = drawn(found)
    assert svg.get("role") == "img"
    title, description = svg.find("title"), svg.find("desc")
    assert title is not None
    assert description is not None
    assert svg.get("aria-labelledby") == f"{title.get('id')} {description.get('id')}"
    assert title.text == "Counterexample to padding"
    assert description.text is not None
    assert description.text.startswith(f"{found.sentence} The results: [1] (exact) and [1/2] (exact).")


def test_long_numbers_are_cut():
    found = counterexample("features_zeroed_only", "padding")
    entry = "1" * 100
    result = found.left.model_copy(
        update={"result": found.left.result and found.left.result.model_copy(update={"entries": (entry,)})}
    )
    shown = texts(drawn(found.model_copy(update={"left": result})), "value")[0]
    assert len(shown) == 28
    assert shown.endswith("…")
