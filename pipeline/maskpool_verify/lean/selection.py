"""Proofs by ``MaskPool.Invariance.Selection``: that a kernel selects by the mask before it computes.

Lean decides by evaluating its checker on the imported program. Where it refuses, its message names the first
equation that lets a masked value through.
"""

from __future__ import annotations

import re

from maskpool_verify.lean import invariance
from maskpool_verify.lean.bags import Bag
from maskpool_verify.lean.lines import attempt

FACTS = "(facts : FloatFacts α)"
"""What a theorem about zeros assumes of the arithmetic."""

_LEAK = re.compile(r"leak✝? : [^=]*= some \((?P<variable>\d+(?:\s*\+\s*\d+)*)\)")


def leaking_variable(message: str) -> int | None:
    """The number of the variable that ``name_leak`` shows in the message of a failed proof, as a sum."""
    found = _LEAK.search(message)
    return sum(map(int, found["variable"].split("+"))) if found else None


def masked_irrelevance(bag: Bag) -> str:
    """What masked rows hold cannot reach the result."""
    kernel = bag.kernel
    checked = invariance.masked_irrelevance(bag, kernel.having("features", "logits"), "_any_arithmetic")
    if checked is None:
        raise ValueError(f"there is no law for {kernel.name}: {kernel.optional_obstacle()}")
    rows, mask = invariance.positions(kernel)
    return attempt(checked, f"name_leak (program.firstLeak {rows} {mask})")


def all_masked(bag: Bag) -> str:
    """A bag without unmasked rows gives zero."""
    parts = ["fun _ => rfl" if spec.role == "mask" else "trivial" for spec in bag.kernel.arguments]
    law = invariance.law(bag, "all_masked_any_arithmetic", "facts")
    return f"{law}\n    ⟨{', '.join((*parts, 'trivial'))}⟩"
