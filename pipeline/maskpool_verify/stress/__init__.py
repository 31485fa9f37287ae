"""Stress: what a compiled kernel does with adversarial inputs. Observed in floating point: no proof."""

from maskpool_verify.stress.api import BUDGET, FLOATS, Progress, stress
from maskpool_verify.stress.report import KernelStress, StressReport, from_json, joined, to_json

__all__ = [
    "BUDGET",
    "FLOATS",
    "KernelStress",
    "Progress",
    "StressReport",
    "from_json",
    "joined",
    "stress",
    "to_json",
]
