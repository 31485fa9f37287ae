"""The meaning that Lean gives to an imported program is what JAX computes.

Nothing here goes through the readable functions. Programs are evaluated in Lean over the integers, by
computation in the kernel, and JAX runs the function on the same small integers, where floats are exact.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from claims import Translated, errors, translated
from primitives import CASES, Case, f32

from maskpool_verify import dims
from maskpool_verify.engine.wasm import WasmEngine
from maskpool_verify.lean import syntax
from maskpool_verify.tracing import Aval

INTEGERS = """
instance : Ops Int where
  lit num den := num / den
  add := (· + ·)
  sub := (· - ·)
  mul := (· * ·)
  div x _ := x
  max x y := if x ≤ y then y else x
  min x y := if x ≤ y then x else y
  neg := (- ·)
  exp := id
  log := id
  tanh := id
  logistic := id
  infinity _ := 0
  nan := 0
  apply f x := match f with
    | .abs => x.natAbs
    | .sign => x.sign
    | _ => x
  isFinite _ := true
  lt x y := decide (x < y)
  le x y := decide (x ≤ y)
  eq x y := decide (x = y)
  sum l := l.foldr (· + ·) 0
  maxOf l := l.tail.foldr (fun x y => if x ≤ y then y else x) (l.headD 0)
  minOf l := l.tail.foldr (fun x y => if x ≤ y then x else y) (l.headD 0)
  prod l := l.foldr (· * ·) 1
  cumulative g l i :=
    let first := l.take (i + 1)
    match g with
    | .sum => first.foldr (· + ·) 0
    | .prod => first.foldr (· * ·) 1
    | .max => first.tail.foldr (fun x y => if x ≤ y then y else x) (first.headD 0)
    | .min => first.tail.foldr (fun x y => if x ≤ y then x else y) (first.headD 0)
  dot l := (l.map fun p => p.1 * p.2).foldr (· + ·) 0
  convert _ _ x := x

/-- The number of an index in row-major order. -/
def place : (s : List Nat) → Index s → Nat
  | [], _ => 0
  | _ :: s, (i, j) => i.1 * s.foldr (· * ·) 1 + place s j

/-- The tensor with these entries in row-major order. -/
def tensor {β : Type} [Inhabited β] (s : List Nat) (entries : List β) : Tensor β s :=
  fun j => entries.getD (place s j) default
"""
INEXACT = (
    *("exp", "log", "tanh", "logistic", "div", "literal", "literal_negative", "literal_returned"),
    *("sqrt", "rsqrt", "cbrt", "exp2", "expm1", "log1p", "erf", "erfc", "erf_inv"),
    *("sin", "cos", "tan", "asin", "acos", "atan", "sinh", "cosh", "asinh", "acosh", "atanh"),
    *("infinity", "infinity_compared", "nan", "nan_compared", "is_finite", "dim_as_value"),
)
"""Cases that leave the integers."""
SIZES = {"n": 3, "d": 2, "h": 4}
"""Of the axes that a case leaves open."""
MORE = {"open_number": Case(lambda x: jnp.sum(x) * (2 * x.shape[0] - 1), (f32("n", "d"),), (), ())}


def literal(array: Any) -> str:
    """The entries as a Lean list, in row-major order."""
    entries = [str(bool(x)).lower() if array.dtype == bool else str(int(x)) for x in array.flatten()]
    return f"[{', '.join(entries)}]"


def numbers(aval: Aval, seed: int) -> Any:
    random = np.random.default_rng(seed)
    shape = [dims.at(size, SIZES) for size in aval.shape]
    if aval.dtype == "bool":
        return random.random(shape) < 0.5
    return random.integers(-4, 5, shape).astype(jnp.dtype(aval.dtype))


def claim(name: str, case: Translated, arrays: list[Any], value: Any) -> str:
    """The program, and its value at ``arrays``."""
    types = ["Bool" if array.dtype == bool else "Int" for array in arrays]
    inputs = [
        f"(tensor {syntax.list_text(array.shape)} {literal(array)} : Tensor {type_} _)"
        for array, type_ in zip(arrays, types, strict=True)
    ]
    equations = "\n".join(f"  {line}" for line in syntax.equation_lines(case.program))
    sizes = "\n".join(f"abbrev {symbol} : Dim := .var {k}" for k, symbol in enumerate(case.symbols))
    values = ", ".join(str(SIZES[symbol]) for symbol in case.symbols)
    return f"""namespace {name}
{sizes}
def program : {syntax.kernel_type(case.program)} :=
{equations}
example : (Enum.elems : List (Index {syntax.list_text(value.shape)})).map
    (program.eval (α := Int) [{values}] ({", ".join([*inputs, "()"])})) = {literal(value)} := by
  decide +kernel
end {name}"""


def test_programs_compute_in_lean_what_jax_computes(engine: WasmEngine, lean_project: Path) -> None:
    claims = {"integers": INTEGERS}
    wrong = {}
    for name, case in {**CASES, **MORE}.items():
        if name in INEXACT:
            continue
        program = translated(case.function, *case.inputs)
        arrays = [numbers(aval, seed) for seed, aval in enumerate(case.inputs)]
        with jax.enable_x64(any(aval.dtype.endswith("64") for aval in case.inputs)):
            value = np.asarray(case.function(*map(jnp.asarray, arrays)), "float64")
        claims[name] = claim(name, program, arrays, value)
        if name in ("transpose", "dot_batch", "select_n", "cumprod", "int_div", "rev", "open_concatenate"):
            wrong[f"wrong_{name}"] = claim(f"wrong_{name}", program, arrays, value + (value == value.max()))
    found = errors(engine, lean_project, {"meaning.programs": {**claims, **wrong}}, ["MaskPool.Jaxpr.Eval"])
    assert {name for name in found if found[name]} == set(wrong)
