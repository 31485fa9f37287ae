"""The files of the corpus fit each other, the design of the manifest, and the size that was promised."""

from __future__ import annotations

import inspect
from collections import Counter

import pytest
from expectations import CORPUS, INVARIANCES, Entry, entries, expectations, module

from maskpool_verify.manifest import load_manifest

ENTRIES = entries()
EXPECTATIONS = expectations()
MANIFEST = load_manifest(CORPUS / "corpus.toml")


def test_manifest_and_expectations_list_the_same_kernels_in_the_same_order() -> None:
    names = [entry.name for entry in ENTRIES]
    assert names == list(EXPECTATIONS)
    assert names == [kernel.name for kernel in MANIFEST.kernels]
    assert max(Counter(names).values()) == 1


def test_every_public_function_is_in_the_manifest_in_the_order_of_its_file() -> None:
    for theme in dict.fromkeys(entry.theme for entry in ENTRIES):
        defined = vars(module(f"kernels/{theme}.py"))
        here = [
            n for n, f in defined.items() if callable(f) and f.__module__ == f"corpus_{theme}" and n[0] != "_"
        ]
        assert here == [entry.name for entry in ENTRIES if entry.theme == theme]
    files = {file.stem for file in (CORPUS / "kernels").glob("*.py")}
    assert files == {entry.theme for entry in ENTRIES}


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry.name)
def test_a_kernel_has_a_name_arguments_and_a_docstring(entry: Entry) -> None:
    function = entry.load()
    assert entry.function.endswith(f":{entry.name}")
    assert list(inspect.signature(function).parameters) == [argument.name for argument in entry.arguments]
    assert function.__doc__ is not None
    assert "\n" not in function.__doc__
    assert function.__doc__.endswith(".")


def test_our_reading_of_the_manifest_is_the_products() -> None:
    """The oracle reads result and batch axes on its own; a difference would compare unlike things."""
    for entry, kernel in zip(ENTRIES, MANIFEST.kernels, strict=True):
        assert (entry.is_open, entry.symbols) == (kernel.is_open, kernel.symbols)
        if entry.spec == "attention":
            assert (entry.result_axes, entry.batch_axes) == (kernel.result_axes, kernel.batch_axes)


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry.name)
def test_an_expectation_is_consistent(entry: Entry) -> None:
    expected = EXPECTATIONS[entry.name]
    right = not expected.breaks
    assert {"verified": right, "unproved": right, "refuted": not right}.get(expected.verdict, True)
    assert not set(expected.breaks) & set(expected.undefined)
    assert not (expected.undefined and expected.verdict == "verified")
    if entry.spec == "none":
        assert set(expected.breaks + expected.undefined) <= set(INVARIANCES)
    elif expected.breaks:
        assert "specification" in expected.breaks  # from which the other properties follow


def test_sentences_are_of_one_line_and_kernels_differ_in_what_they_stand_for() -> None:
    for expected in EXPECTATIONS.values():
        for sentence in filter(None, (expected.practice, expected.floats)):
            assert "\n" not in sentence
            assert sentence.endswith(".")
    practices = Counter(expected.practice for expected in EXPECTATIONS.values())
    assert [practice for practice, count in practices.items() if count > 1] == []


def test_the_corpus_is_large_and_has_right_and_wrong_kernels() -> None:
    verdicts = Counter(expected.verdict for expected in EXPECTATIONS.values())
    assert verdicts["verified"] >= 80
    assert verdicts["refuted"] >= 45
    assert verdicts["unproved"] + verdicts["unsupported"] >= 8
    assert sum(bool(expected.breaks) for expected in EXPECTATIONS.values()) >= 45
    assert sum(entry.spec == "none" for entry in ENTRIES) >= 20
    assert sum(entry.is_open for entry in ENTRIES) >= len(ENTRIES) - 10
    assert sum(expected.floats is not None for expected in EXPECTATIONS.values()) >= 10


@pytest.mark.parametrize("role", ["features", "logits", "mask", "length", "parameter"])
def test_every_role_occurs(role: str) -> None:
    assert any(entry.having(role) for entry in ENTRIES)


@pytest.mark.parametrize("dtype", ["bool", "int32", "float16", "bfloat16", "float32", "float64"])
def test_every_dtype_occurs(dtype: str) -> None:
    assert any(argument.dtype == dtype for entry in ENTRIES for argument in entry.arguments)


def test_features_of_rank_one_to_four_occur() -> None:
    ranks = {len(argument.shape) for entry in ENTRIES for argument in entry.having("features")}
    assert ranks == {1, 2, 3, 4}
