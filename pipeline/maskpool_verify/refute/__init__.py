"""Refutation: the smallest input found on which a property of a kernel fails, proved over the reals."""

from maskpool_verify.refute.api import BUDGET, Outcome, examine, observe, refute
from maskpool_verify.refute.cases import properties
from maskpool_verify.refute.counterexample import Counterexample, FloatWarning
from maskpool_verify.refute.floating import float_warnings
from maskpool_verify.refute.search import Progress
from maskpool_verify.refute.subject import Located, Subject
from maskpool_verify.refute.text import render

__all__ = [
    "BUDGET",
    "Counterexample",
    "FloatWarning",
    "Located",
    "Outcome",
    "Progress",
    "Subject",
    "examine",
    "float_warnings",
    "observe",
    "properties",
    "refute",
    "render",
]
