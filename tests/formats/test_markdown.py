"""Markdown: tables as a parser of GitHub's dialect sees them, and text that stays text."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from markdown_it.token import Token

from maskpool_verify.formats import markdown
from maskpool_verify.formats.findings import findings
from maskpool_verify.report import Report

PARSER = MarkdownIt("commonmark").enable(["table", "strikethrough"])


def plain(token: Token) -> str:
    """The text of a cell or a paragraph; line breaks are blanks."""
    texts = {"text": lambda t: t.content, "softbreak": lambda t: "\n", "html_inline": lambda t: "\n"}
    return "".join(texts.get(child.type, lambda t: "")(child) for child in token.children or [])


def tables(text: str) -> list[list[list[str]]]:
    """The cells of all tables, row by row."""
    found: list[list[list[str]]] = []
    for token in PARSER.parse(text):
        if token.type == "table_open":
            found.append([])
        elif token.type == "tr_open":
            found[-1].append([])
        elif token.type == "inline" and found and token.level >= 4:
            found[-1][-1].append(plain(token))
    return found


def test_every_kernel_has_a_row(corpus: Report):
    header, *rows = tables(markdown.render(corpus))[0]
    assert header == ["kernel", "verdict", "what is known"]
    assert [(row[0], row[1].split()[-1]) for row in rows] == [(k.name, k.verdict) for k in corpus.kernels]
    assert rows[0][2].splitlines() == [
        "proved over any arithmetic: translation, masked_irrelevance_any_arithmetic,"
        " all_masked_any_arithmetic",
        "proved over the reals: specification, permutation, padding, masked_irrelevance, all_masked",
    ]


def test_every_theorem_has_a_row(corpus: Report):
    _, *by_kernel = tables(markdown.render(corpus))
    with_theorems = [kernel for kernel in corpus.kernels if kernel.theorems]
    assert len(by_kernel) == len(with_theorems)
    for rows, kernel in zip(by_kernel, with_theorems, strict=True):
        assert {(row[0], row[2]) for row in rows[1:]} == {(t.property, t.status) for t in kernel.theorems}


def test_counterexamples_are_code_as_they_are(any_report: Report):
    blocks = [t.content for t in PARSER.parse(markdown.render(any_report)) if t.type == "fence"]
    shown = [finding.text for finding in findings(any_report)]
    assert len(blocks) == len(shown)
    for block, text in zip(blocks, shown, strict=True):
        assert [line.rstrip() for line in block.splitlines()] == [
            "".join(" " if ord(letter) < 32 and letter != "\t" else letter for letter in line).rstrip()
            for line in text.split("\n")
        ]


def test_no_name_becomes_markup(hostile: Report):
    for token in PARSER.parse(markdown.render(hostile)):
        if token.type == "html_block":
            assert "<script>" not in token.content
        for child in token.children or []:
            assert child.type in ("text", "softbreak", "html_inline", "strong_open", "strong_close")
            assert child.type != "html_inline" or child.content == "<br>"


@given(st.text(st.characters(codec="utf-8", exclude_categories=["Cs", "Cc", "Zs", "Zl", "Zp"]), min_size=1))
def test_any_text_stays_text(text: str):
    (_, inline, _) = PARSER.parse(markdown.escaped(text))
    assert plain(inline) == text
