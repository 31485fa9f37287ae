"""The rules for infinities and NaN, against JAX: every operation on special values, claimed in Lean."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, get_args

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from claims import errors
from jax import lax

from maskpool_verify.engine.wasm import WasmEngine
from maskpool_verify.program import FloatUnary

MODULE = "extended_claims"
VALUES = {
    "infinity true": -np.inf,
    "finite neg": -2.0,
    "finite 0": 0.0,
    "finite pos": 3.0,
    "infinity false": np.inf,
    "nan": np.nan,
}
"""Values in Lean, and in JAX. Of ``neg`` and ``pos`` the claims know ``neg < -1`` and ``1 < pos``."""

UNARY: dict[str, Callable[[Any], Any]] = {
    "neg": lax.neg,
    "exp": lax.exp,
    "log": lax.log,
    "tanh": lax.tanh,
    "logistic": lax.logistic,
}
FUNCTIONS = tuple(
    name for name in get_args(FloatUnary.model_fields["primitive"].annotation) if name not in UNARY
)
BINARY: dict[str, Callable[[Any, Any], Any]] = {
    "add": lax.add,
    "sub": lax.sub,
    "mul": lax.mul,
    "div": lax.div,
    "max": lax.max,
    "min": lax.min,
}
COMPARISONS: dict[str, Callable[[Any, Any], Any]] = {"lt": lax.lt, "le": lax.le, "eq": lax.eq}
REDUCTIONS: dict[str, Callable[[Any], Any]] = {
    "sum": jnp.sum,
    "maxOf": lambda x: jnp.max(x, initial=-jnp.inf),
}
HEADER = """open Extended
variable {R : Type} [RealArith R]

theorem neg_facts {neg : R} (h : neg < -1) : neg < 0 ∧ ¬ neg = 0 ∧ ¬ 1 < neg ∧ ¬ 0 < neg ∧ neg < 1 := by grind
theorem pos_facts {pos : R} (h : 1 < pos) :
    0 < pos ∧ ¬ pos = 0 ∧ ¬ pos = -1 ∧ ¬ pos < -1 ∧ ¬ pos < 0 ∧ ¬ pos < 1 := by grind
theorem zero_facts :
    ¬ (0 : R) < -1 ∧ ¬ (1 : R) < 0 ∧ (0 : R) < 1 ∧ ¬ (0 : R) = -1 ∧ ¬ (0 : R) = 1 ∧ ¬ (1 : R) = 0 ∧
      ¬ (-1 : R) = 0 := by grind

/-- Decides the conditions of a rule. -/
macro "special" h:term:max h':term:max : tactic => `(tactic| first
  | rfl
  | exact ⟨_, rfl⟩
  | (simp [Ops.add, Ops.sub, Ops.mul, Ops.div, Ops.max, Ops.min, Ops.neg, Ops.exp, Ops.log, Ops.apply, Ops.lt,
      Ops.le, Ops.eq, Ops.sum, Ops.maxOf, Extended.add, Extended.neg, Extended.mul,
      Extended.div, Extended.divZero, Extended.max, Extended.min, Extended.exp, Extended.log, Extended.lt,
      Extended.le, Extended.eq, Extended.func, Extended.funcFinite, Extended.funcInfinity, Extended.sum,
      Extended.maxOf, Extended.unit,
      neg_facts $h, pos_facts $h', zero_facts, $h:term, $h':term, MaskPool.mul_zero, MaskPool.zero_mul,
      MaskPool.add_zero, not_zero_lt_zero] <;> grind))

variable {neg pos : R} (hneg : neg < -1) (hpos : 1 < pos)
include hneg hpos
"""


def claim(left: str, value: Any, *, signless: bool) -> str:
    """What JAX says of a result; ``signless`` if the sign of an infinity is not in the model."""
    value = np.asarray(value)
    if value.dtype == bool:
        return f"{left} = {str(bool(value)).lower()}"
    if np.isnan(value):
        return f"{left} = nan"
    if np.isfinite(value):
        return f"∃ x, {left} = finite x"
    return f"∃ s, {left} = infinity s" if signless else f"{left} = infinity {str(value < 0).lower()}"


def statements() -> Iterator[tuple[str, str]]:
    """A statement for each operation and each choice of special values, with a name."""
    for number, (lean, value) in enumerate(VALUES.items()):
        x = jnp.float32(value)
        operand = f"({lean} : Extended R)"
        yield f"isFinite{number}", claim(f"Ops.isFinite {operand}", lax.is_finite(x), signless=False)
        for name, function in UNARY.items():
            yield f"{name}{number}", claim(f"Ops.{name} {operand}", function(x), signless=False)
        for name in FUNCTIONS:
            found = getattr(lax, name)(x)
            left = f"Ops.apply .{name} {operand}"
            yield f"{name}{number}", claim(left, found, signless=name == "rsqrt")
        for other, (lean_y, second) in enumerate(VALUES.items()):
            y = jnp.float32(second)
            pair = f"{operand} ({lean_y})"
            for name, operation in (BINARY | COMPARISONS).items():
                signless = name == "div" and y == 0
                numbers = lean.startswith("finite") and lean_y.startswith("finite")
                if name in COMPARISONS and numbers:
                    continue  # those of the numbers
                yield (
                    f"{name}{number}{other}",
                    claim(f"Ops.{name} {pair}", operation(x, y), signless=signless),
                )
            for name, reduction in REDUCTIONS.items() if other >= number else ():
                left = f"Ops.{name} [{operand}, {lean_y}]"
                yield f"{name}{number}{other}", claim(left, reduction(jnp.stack([x, y])), signless=False)


@pytest.mark.slow
def test_special_values_are_those_of_jax(engine: WasmEngine, lean_project: Path) -> None:
    with jax.default_device(jax.devices("cpu")[0]):
        stated = dict(statements())
    claims = {"header": HEADER}
    for name, text in stated.items():
        claims[name] = f"theorem c_{name} : {text} := by special hneg hpos"
    assert len(stated) > 400
    found = errors(engine, lean_project, {MODULE: claims}, ["MaskPool"])
    assert {name: messages for name, messages in found.items() if messages} == {}


def test_a_wrong_rule_is_refused(engine: WasmEngine, lean_project: Path) -> None:
    wrong = {
        "header": HEADER,
        "zero_times_infinity": "theorem w1 : Ops.mul (finite (0 : R)) (infinity true) = finite 0 := by "
        "special hneg hpos",
        "max_drops_nan": "theorem w2 : Ops.max (nan : Extended R) (finite 0) = finite 0 := by "
        "special hneg hpos",
    }
    found = errors(engine, lean_project, {"extended_wrong": wrong}, ["MaskPool"])
    assert not found["header"]
    assert found["zero_times_infinity"]
    assert found["max_drops_nan"]
