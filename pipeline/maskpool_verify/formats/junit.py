"""JUnit's XML, as Jenkins, GitLab and others read it: a suite for each kernel, a test case for each theorem.

Times are left out: a report says what is proved, not how long it took.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from xml.etree import ElementTree
from xml.etree.ElementTree import Element, SubElement

from maskpool_verify.formats.findings import THE_WHOLE, Finding, findings
from maskpool_verify.formats.wording import in_order, place_of, standing
from maskpool_verify.report import KernelReport, Report, TheoremReport, Verdict
from maskpool_verify.stress import StressReport

_NOT_IN_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""What XML 1.0 cannot hold, not even escaped."""


def render(report: Report) -> str:
    """The XML document.

    A theorem that is not proved is a failure. What is wrong with a kernel as a whole is an error, in a test
    case called like its verdict; so are properties of a kernel without theorems that a run breaks.
    """
    root = Element("testsuites", name="maskpool-verify")
    found: dict[str, list[Finding]] = {}
    for finding in findings(report):
        found.setdefault(finding.kernel, []).append(finding)
    for kernel in report.kernels:
        root.append(_suite(kernel, found.get(kernel.name, []), report.observed))
    if whole := found.get(THE_WHOLE):
        suite = SubElement(root, "testsuite", name=THE_WHOLE, tests=str(len(whole)), failures="0")
        suite.set("errors", str(len(whole)))
        suite.extend(_other(THE_WHOLE, report.verdict, finding) for finding in whole)
    for name in ("tests", "failures", "errors"):
        root.set(name, str(sum(int(suite.get(name, "0")) for suite in root)))
    ElementTree.indent(root)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + ElementTree.tostring(root, "unicode") + "\n"


def _suite(kernel: KernelReport, found: list[Finding], observed: StressReport | None) -> Element:
    suite = Element("testsuite", name=_clean(kernel.name))
    by_rule = {finding.rule: finding for finding in found}
    cases = [_case(kernel, theorem, by_rule) for theorem in in_order(kernel)]
    shown = {theorem.property for theorem in kernel.theorems}
    others = [finding for finding in found if finding.level == "error" and finding.rule not in shown]
    cases += [_other(kernel.name, kernel.verdict, finding) for finding in others]
    suite.set("tests", str(len(cases)))
    suite.set("failures", str(sum(case.find("failure") is not None for case in cases)))
    suite.set("errors", str(sum(case.find("error") is not None for case in cases)))
    suite.extend(cases)
    if output := "\n".join(_output(kernel, observed)):
        SubElement(suite, "system-out").text = _clean(output)
    return suite


def _case(kernel: KernelReport, theorem: TheoremReport, found: dict[str, Finding]) -> Element:
    name = f"{theorem.property} [{place_of(theorem)}]"
    case = Element("testcase", name=_clean(name), classname=_clean(kernel.name))
    if theorem.status != "proved":
        failure = SubElement(case, "failure", message=_clean(theorem.reason or ""), type=theorem.status)
        failure.text = _clean(_located(found[theorem.property]))
    return case


def _other(suite: str, verdict: Verdict, finding: Finding) -> Element:
    case = Element("testcase", name=finding.rule, classname=_clean(suite))
    first = finding.text.strip().splitlines()[0] if finding.text.strip() else finding.title
    SubElement(case, "error", message=_clean(first), type=verdict).text = _clean(_located(finding))
    return case


def _located(finding: Finding) -> str:
    return f"{finding.place}\n{finding.text}" if finding.place else finding.text


def _output(kernel: KernelReport, observed: StressReport | None) -> Iterator[str]:
    for words, names in standing(kernel, observed):
        yield f"{words}: {', '.join(names)}"
    for warning in kernel.warnings:
        yield f"Warning: {warning.sentence}"


def _clean(text: str) -> str:
    return _NOT_IN_XML.sub("\ufffd", text)
