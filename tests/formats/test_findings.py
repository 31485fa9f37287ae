"""What is found wrong, and the line of the user's code at which it is shown."""

from __future__ import annotations

import pytest
from samples import CORPUS, corpus_report

from maskpool_verify.formats import markdown
from maskpool_verify.formats.findings import RULES, THE_WHOLE, findings, within
from maskpool_verify.formats.wording import arithmetic, standing
from maskpool_verify.lean.properties import PROPERTIES
from maskpool_verify.manifest import load_manifest
from maskpool_verify.refute import render
from maskpool_verify.report import Place, Report, with_reals
from maskpool_verify.stress import stress
from maskpool_verify.stress import text as stress_text


def test_one_for_each_property_that_failed(corpus: Report):
    found = findings(corpus)
    for kernel in corpus.kernels:
        own = [f for f in found if f.kernel == kernel.name and f.level == "error"]
        failed = {t.property for t in kernel.theorems if t.status != "proved"}
        refuted = {c.property for c in kernel.counterexamples}
        about_all = [f for f in own if f.rule in RULES]
        assert sorted(f.rule for f in own if f.rule in PROPERTIES) == sorted(failed | refuted)
        assert bool(own) == (kernel.verdict != "verified")
        assert len(about_all) <= 1


def test_a_counterexample_is_in_the_message_at_the_first_broken_equation():
    report = corpus_report("mask_shifted_by_one")
    (kernel,) = report.kernels
    (found,) = [f for f in findings(report) if f.rule == "permutation"]
    (counterexample,) = [c for c in kernel.counterexamples if c.property == "permutation"]
    assert found.text == render(counterexample)
    assert found.place is not None
    assert counterexample.broken is not None
    assert str(found.place) == counterexample.broken.source
    line = (CORPUS / found.place.file).read_text("utf-8").splitlines()[found.place.line - 1]
    assert "jnp.concatenate([mask[1:]" in line, "the mask is shifted here"


def test_what_has_no_broken_equation_is_at_the_function():
    report = corpus_report("mask_shifted_by_one")
    (kernel,) = report.kernels
    (found,) = [f for f in findings(report) if f.rule == "padding"]
    assert found.place == kernel.place
    assert "symbolic: it rests on specification at symbolic" in found.text
    line = (CORPUS / kernel.place.file).read_text("utf-8").splitlines()[kernel.place.line - 1]
    assert line.startswith("def mask_shifted_by_one(")


def test_an_unsupported_primitive_is_at_its_line():
    report = corpus_report("moving_average")
    (kernel,) = report.kernels
    first, *others = findings(report)
    assert (first.rule, first.place) == ("unsupported", kernel.problem)
    assert first.text == kernel.messages[0]
    assert [f.rule for f in others] == ["permutation"]
    assert "observed with JAX in float64, not proved" in others[0].text


def test_a_kernel_without_theorems_or_messages_is_found_all_the_same():
    (kernel,) = corpus_report("moving_average").kernels
    bare = kernel.model_copy(update={"verdict": "error", "messages": (), "counterexamples": ()})
    report = corpus_report("moving_average").model_copy(update={"kernels": (bare,)})
    (found,) = findings(report)
    assert (found.rule, found.text) == ("error", RULES["error"])


def test_what_belongs_to_no_kernel_is_found(hostile: Report):
    (found,) = [f for f in findings(hostile) if f.kernel == THE_WHOLE]
    assert (found.rule, found.text, found.place) == ("unproved", hostile.reals.violations[0], None)
    verified = corpus_report("where_everything")
    assert findings(verified) == ()
    assert len(findings(with_reals(verified, hostile.reals))) == 1


@pytest.mark.parametrize(
    ("source", "place"),
    [
        ("kernels/a.py:12", Place(file="kernels/a.py", line=12)),
        ("C:/a b.py:3", Place(file="C:/a b.py", line=3)),
        ("<lambda>:0", None),
        ("<lambda>:5", None),
        ("a.py:0", None),
        ("a.py", None),
        ("", None),
    ],
)
def test_places_are_read(source: str, place: Place | None):
    assert Place.of(source) == place
    if place:
        assert str(place) == source


def test_files_are_named_from_the_top_of_the_repository():
    place = Place(file="kernels/a.py", line=2)
    assert within(place, "") == place
    assert within(place, "sub/project").file == "sub/project/kernels/a.py"
    absolute = Place(file="/elsewhere/a.py", line=2)
    assert within(absolute, "sub") == absolute


def test_what_is_proved_is_told_by_its_arithmetic():
    verified, observed = corpus_report("where_everything", "moving_average").kernels
    assert standing(verified, None) == (
        (
            "proved over any arithmetic",
            ("translation", "masked_irrelevance_any_arithmetic", "all_masked_any_arithmetic"),
        ),
        (
            "proved over the reals",
            ("specification", "permutation", "padding", "masked_irrelevance", "all_masked"),
        ),
    )
    assert standing(observed, None) == (("only observed", ("permutation fails",)),)
    extended = verified.model_copy(update={"arithmetic": "extended"})
    assert [words for words, _ in standing(extended, None)] == [
        "proved over any arithmetic",
        "proved over extended arithmetic",
    ]
    theorem = verified.theorems[0].model_copy(update={"statement": "∀ (n : Nat), P"})
    assert arithmetic(verified, theorem) == "without arithmetic"


def test_only_what_is_proved_counts():
    (kernel,) = corpus_report("where_everything").kernels
    padding = next(t for t in kernel.theorems if t.property == "padding")
    failed = padding.model_copy(update={"status": "failed"})
    one_of_two = kernel.model_copy(update={"theorems": (padding, failed)})
    assert standing(one_of_two, None) == (("proved over the reals", ("padding (1 of 2)",)),)
    assert standing(kernel.model_copy(update={"theorems": (failed,)}), None) == ()


def test_what_a_stress_run_has_shown_is_told_apart():
    (kernel,) = corpus_report("features_zeroed_only").kernels
    found = stress(load_manifest(CORPUS / "corpus.toml").kernel(kernel.name), root=CORPUS, budget_seconds=2.0)
    shown = ("observed in floating point", (stress_text.summary(found.kernels[0]),))
    assert standing(kernel, found) == (*standing(kernel, None), shown)
    (other,) = corpus_report("where_everything").kernels
    assert "observed in floating point" not in dict(standing(other, found))


def test_a_kernel_that_a_stress_run_has_broken_has_a_warning():
    report = corpus_report("features_zeroed_only", "where_everything")
    kernel = report.kernels[0]
    found = stress(load_manifest(CORPUS / "corpus.toml").kernel(kernel.name), root=CORPUS, budget_seconds=2.0)
    assert found.kernels[0].broken
    unbroken = found.kernels[0].model_copy(update={"name": report.kernels[1].name, "in_dtypes": ()})
    found = found.model_copy(update={"kernels": (*found.kernels, unbroken)})
    further = report.model_copy(update={"observed": found})
    (warning,) = [finding for finding in findings(further) if finding not in findings(report)]
    assert (warning.kernel, warning.rule, warning.level) == (kernel.name, "observed", "warning")
    assert warning.title == f"{kernel.name}: {stress_text.summary(found.kernels[0])}"
    assert warning.place == kernel.place
    assert "evidence, and no proof" in warning.text
    title = markdown.escaped(warning.title)
    assert title not in markdown.render(further)  # where it has a section of its own


def test_no_rule_is_called_like_a_property():
    assert not set(RULES) & set(PROPERTIES)
