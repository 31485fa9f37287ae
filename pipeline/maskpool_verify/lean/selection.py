"""Proofs by ``MaskPool.Invariance.Selection``: that a kernel selects by the mask before it computes.

Lean decides by evaluating its checker on the imported program. Where it refuses, its message names the first
equation that lets a masked value through.
"""

from __future__ import annotations

import re

from maskpool_verify.lean.bags import Bag, entry, hypothesis
from maskpool_verify.lean.lines import wrapped

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
    parts = []
    for spec in kernel.arguments:
        rows = f"fun q h => {hypothesis(bag.name(spec))} q (h _ (.head _))"
        parts += [rows if spec.role in ("features", "logits") else "by same_rows", "by same_rows"]
    live = f"(fun r => {entry(bag.name(kernel.selection), ['r'])})"
    rows, mask = _positions(bag)
    checked = wrapped([live], f"  | exact {_law(bag, 'masked_irrelevance_any_arithmetic')}", "      ")
    agree = wrapped([f"{part}," for part in parts[1:]] + ["trivial⟩"], f"      ⟨{parts[0]},", "       ")
    return f"by\n  first\n{checked}\n{agree}\n  | name_leak (program.firstLeak {rows} {mask})"


def all_masked(bag: Bag) -> str:
    """A bag without unmasked rows gives zero."""
    parts = ["fun _ => rfl" if spec.role == "mask" else "trivial" for spec in bag.kernel.arguments]
    return f"{_law(bag, 'all_masked_any_arithmetic', ' facts')}\n    ⟨{', '.join((*parts, 'trivial'))}⟩"


def _positions(bag: Bag) -> tuple[int, int]:
    """The number of the size of the rows, and the position of the mask."""
    kernel = bag.kernel
    return kernel.symbols.index(kernel.rows), kernel.arguments.index(kernel.selection)


def _law(bag: Bag, law: str, more: str = "") -> str:
    rows, mask = _positions(bag)
    return f"program.{law} {bag.values()} (rows := {rows}) (mask := {mask}){more} (by decide +kernel)"
