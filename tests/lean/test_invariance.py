"""The checker of ``MaskPool.Invariance`` accepts kernels that are invariant, and refuses the others.

Every verdict is claimed by a theorem that the kernel of Lean checks; a wrong claim is an error.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import jax.numpy as jnp
import numpy as np
import pytest
from claims import Translated, errors, translated
from invariant_kernels import RAISED, RIGHT, WRONG, Case

from maskpool_verify.engine.wasm import WasmEngine
from maskpool_verify.lean import syntax
from maskpool_verify.tracing import Aval

LAWS = ("permutation", "padding", "irrelevance")
BATCHED = {"batch": True, "total_of_batch": False}
"""Whether the elements of a batch, along the size number 0, are treated apart."""


def program(case: Case) -> Translated:
    return translated(case.function, *case.inputs)


def rows(case: Case, read: Translated) -> int:
    """The number of the size variable of the rows."""
    return read.symbols.index("n")


def definition(case: Case, read: Translated) -> str:
    return "\n".join(
        [
            *(f"abbrev {name} : Dim := .var {number}" for number, name in enumerate(read.symbols)),
            f"def program : {syntax.kernel_type(read.program)} :=",
            *(f"  {line}" for line in syntax.equation_lines(read.program)),
        ]
    )


def variable(case: Case, read: Translated, law: str) -> str:
    """The number of the variable of the first equation that breaks a law, as an option in Lean."""
    expected = getattr(case, law)
    if expected is None:
        return "none"
    primitive, occurrence = expected
    found = [k for k, equation in enumerate(read.program.equations) if equation.primitive == primitive]
    return f"some {len(case.inputs) + found[occurrence]}"


def claim(case: Case, *, corrupt: bool = False) -> str:
    """What the checker says of a kernel; if ``corrupt``, the opposite for the first law."""
    read = program(case)
    given = f"{rows(case, read)} {case.mask}"
    lines = [f"namespace {case.name}", definition(case, read)]
    for law in LAWS:
        holds = (getattr(case, law) is None) is not (corrupt and law == LAWS[0])
        first = variable(case, read, law)
        lines += [
            f"theorem {law} : program.check .{law} {given} = {str(holds).lower()} := by eq_refl",
            f"theorem {law}_first : program.firstBad .{law} {given} = {first} := by eq_refl",
        ]
    if (apart := BATCHED.get(case.name)) is not None:
        lines += [
            f"theorem {law}_apart : program.checkBatch .{law} {given} [0] = {str(apart).lower()} := "
            "by eq_refl"
            for law in ("permutation", "irrelevance")
        ]
    return "\n".join([*lines, f"end {case.name}"])


def raised_claim(case: Case, *, corrupt: bool = False) -> str:
    """What the checker says of padding a bag that has a row; if ``corrupt``, the opposite."""
    read = program(case)
    given = f"(.padding true) {rows(case, read)} {case.mask}"
    holds = (case.padding is None) is not corrupt
    first = "none" if case.padding and case.padding[0] == "ret" else variable(case, read, "padding")
    return "\n".join(
        [
            f"namespace {case.name}",
            definition(case, read),
            f"theorem padding : program.check {given} = {str(holds).lower()} := by eq_refl",
            f"theorem padding_first : program.firstBad {given} = {first} := by eq_refl",
            f"end {case.name}",
        ]
    )


@pytest.fixture(scope="module")
def refusals(engine: WasmEngine, lean_project: Path) -> dict[str, list[str]]:
    cases = {case.name: claim(case) for case in (*RIGHT, *WRONG)}
    corrupted = {f"corrupt_{case.name}": claim(case, corrupt=True) for case in (RIGHT[0], WRONG[1])}
    statements = {case: text(definition(*find(case))) for case, text in STATEMENTS.items()}
    modules = {
        "invariance.checks": cases,
        "invariance.corrupt": corrupted,
        "invariance.raised": {case.name: raised_claim(case) for case in RAISED},
        "invariance.corrupt_raised": {
            f"corrupt_{case.name}": raised_claim(case, corrupt=True) for case in RAISED
        },
        "invariance.statements": statements,
    }
    return errors(engine, lean_project, modules, ["MaskPool.Invariance.Batch"])


def find(name: str) -> tuple[Case, Translated]:
    (case,) = [case for case in (*RIGHT, *WRONG) if case.name == name.removesuffix("_laws")]
    return case, program(case)


@pytest.mark.parametrize("case", [*RIGHT, *WRONG], ids=lambda case: case.name)
def test_verdicts(case: Case, refusals: dict[str, list[str]]) -> None:
    assert refusals[case.name] == []


@pytest.mark.parametrize("case", [RIGHT[0], WRONG[1]], ids=lambda case: case.name)
def test_a_wrong_verdict_is_an_error(case: Case, refusals: dict[str, list[str]]) -> None:
    (message,) = refusals[f"corrupt_{case.name}"]
    assert "is not definitionally equal" in message


@pytest.mark.parametrize("case", RAISED, ids=lambda case: case.name)
def test_raised_maxima(case: Case, refusals: dict[str, list[str]]) -> None:
    assert refusals[case.name] == []
    (message,) = refusals[f"corrupt_{case.name}"]
    assert "is not definitionally equal" in message
    assert obeys(case, "padding") is (case.padding is None)


# -- the theorems that certificates have


def plain_laws(definitions: str) -> str:
    return f"""namespace plain
{definitions}
variable {{R : Type}} [RealArith R] {{n d extra : Nat}}

theorem permutation (σ : Fin n ≃ Fin n) (features : Tensor R [n, d]) (mask : Tensor Bool [n]) :
    program.eval [d, n] (features.permute σ, mask.permute σ, ()) = program.eval [d, n] (features, mask, ()) :=
  program.permutation [d, n] (rows := 1) (mask := 1) (by eq_refl) σ (features, mask, ())

theorem padding (features : Tensor R [n, d]) (mask : Tensor Bool [n]) (junk_features : Tensor R [extra, d]) :
    program.eval [d, n + extra] (features.pad junk_features, mask.pad fun _ => false, ()) =
      program.eval [d, n] (features, mask, ()) :=
  program.padding [d, n] extra (rows := 1) (mask := 1) (by eq_refl)
    (h := by padded_arguments)

theorem masked_irrelevance {{features features' : Tensor R [n, d]}} {{mask : Tensor Bool [n]}}
    (h_features : ∀ q : Index [n, d], mask (q.1, ()) = true → features q = features' q) :
    program.eval [d, n] (features, mask, ()) = program.eval [d, n] (features', mask, ()) :=
  program.masked_irrelevance [d, n] (rows := 1) (mask := 1) (by eq_refl) (fun r => mask (r, ()))
    ⟨fun q h => h_features q (h _ (.head _)), by same_rows, by same_rows, by same_rows, trivial⟩
end plain"""


def second_axis_laws(definitions: str) -> str:
    """Rows in second place, a parameter, and a mask of numbers."""
    return f"""namespace second_axis
{definitions}
variable {{R : Type}} [RealArith R] {{n d h extra : Nat}}

theorem permutation (σ : Fin n ≃ Fin n) (features : Tensor R [d, n]) (weight : Tensor R [d, h])
    (mask : Tensor Bool [n]) :
    program.eval [d, h, n] (fun q => features (q.1, σ q.2.1, ()), weight,
        Tensor.indicator (mask.permute σ), ()) =
      program.eval [d, h, n] (features, weight, mask.indicator, ()) :=
  program.permutation [d, h, n] (rows := 2) (mask := 2) (by eq_refl) σ
    (features, weight, mask.indicator, ())

theorem padding (features : Tensor R [d, n]) (weight : Tensor R [d, h]) (mask : Tensor Bool [n])
    (junk_features : Tensor R [d, extra]) :
    program.eval [d, h, n + extra]
        (fun q => Fin.addCases (fun r => features (q.1, r, ())) (fun r => junk_features (q.1, r, ())) q.2.1,
          weight, Tensor.indicator (mask.pad fun _ => false), ()) =
      program.eval [d, h, n] (features, weight, mask.indicator, ()) :=
  program.padding [d, h, n] extra (rows := 2) (mask := 2) (by eq_refl)
    (h := ⟨by padded_rows, by padded_rows, by padded_rows, by padded_rows, by padded_rows, by padded_rows,
      trivial⟩)

theorem masked_irrelevance {{features features' : Tensor R [d, n]}} (weight : Tensor R [d, h])
    {{mask : Tensor Bool [n]}}
    (h_features : ∀ q : Index [d, n], mask (q.2.1, ()) = true → features q = features' q) :
    program.eval [d, h, n] (features, weight, mask.indicator, ()) =
      program.eval [d, h, n] (features', weight, mask.indicator, ()) :=
  program.masked_irrelevance [d, h, n] (rows := 2) (mask := 2) (by eq_refl) (fun r => mask (r, ()))
    ⟨fun q h => h_features q (h _ (.head _)), by same_rows, by same_rows, by same_rows, by same_rows,
      by same_rows, trivial⟩
end second_axis"""


def batch_laws(definitions: str) -> str:
    """A mask with an axis of batches."""
    return f"""namespace batches
{definitions}
variable {{R : Type}} [RealArith R] {{b n d extra : Nat}}

theorem permutation (σ : Fin b → Fin n ≃ Fin n) (features : Tensor R [b, n, d]) (mask : Tensor Bool [b, n]) :
    program.eval [b, d, n] (fun q => features (q.1, σ q.1 q.2.1, q.2.2.1, ()),
        fun q => mask (q.1, σ q.1 q.2.1, ()), ()) =
      program.eval [b, d, n] (features, mask, ()) :=
  program.permutation_batch [b, d, n] [0] (rows := 2) (mask := 1) (by eq_refl)
    (fun j => σ j.1) fun j =>
    ⟨fun q hq => ⟨σ q.1, congrArg σ (Fin.ext (hq.at 0 0)), rfl⟩,
      fun q hq => ⟨σ q.1, congrArg σ (Fin.ext (hq.at 0 0)), rfl⟩, trivial⟩

theorem permutation_of_all (σ : Fin n ≃ Fin n) (features : Tensor R [b, n, d]) (mask : Tensor Bool [b, n]) :
    program.eval [b, d, n] (fun q => features (q.1, σ q.2.1, q.2.2.1, ()),
        fun q => mask (q.1, σ q.2.1, ()), ()) =
      program.eval [b, d, n] (features, mask, ()) :=
  program.permutation [b, d, n] (rows := 2) (mask := 1) (by eq_refl) σ (features, mask, ())

theorem padding (features : Tensor R [b, n, d]) (mask : Tensor Bool [b, n])
    (junk_features : Tensor R [b, extra, d]) :
    program.eval [b, d, n + extra]
        (fun q => Fin.addCases (fun r => features (q.1, r, q.2.2.1, ()))
            (fun r => junk_features (q.1, r, q.2.2.1, ())) q.2.1,
          fun q => Fin.addCases (fun r => mask (q.1, r, ())) (fun _ => false) q.2.1, ()) =
      program.eval [b, d, n] (features, mask, ()) :=
  program.padding [b, d, n] extra (rows := 2) (mask := 1) (by eq_refl)
    (h := by padded_arguments)

theorem masked_irrelevance {{features features' : Tensor R [b, n, d]}} {{mask : Tensor Bool [b, n]}}
    (h_features : ∀ q : Index [b, n, d], mask (q.1, q.2.1, ()) = true → features q = features' q) :
    program.eval [b, d, n] (features, mask, ()) = program.eval [b, d, n] (features', mask, ()) :=
  program.masked_irrelevance_batch [b, d, n] [0] (rows := 2) (mask := 1) (by eq_refl)
    (fun j r => mask (j.1, r, ())) fun j =>
    ⟨fun q hq => ⟨fun r => mask (q.1, r, ()), congrArg (fun i r => mask (i, r, ())) (Fin.ext (hq.at 0 0)),
        fun h => h_features q (h _ (.head _))⟩,
      by same_rows_at, by same_rows_at,
      fun q hq => ⟨fun r => mask (q.1, r, ()), congrArg (fun i r => mask (i, r, ())) (Fin.ext (hq.at 0 0)),
        by masked_rows⟩,
      trivial⟩
end batches"""


def max_laws(definitions: str) -> str:
    """A maximum, for bags that have a row."""
    return f"""namespace largest
{definitions}
variable {{R : Type}} [RealArith R] {{n d extra : Nat}}

theorem padding (features : Tensor R [n, d]) (mask : Tensor Bool [n]) (junk_features : Tensor R [extra, d])
    (h_rows : 0 < n) :
    program.eval [d, n + extra] (features.pad junk_features, mask.pad fun _ => false, ()) =
      program.eval [d, n] (features, mask, ()) :=
  program.padding_nonempty [d, n] extra (rows := 1) (mask := 1) (by eq_refl) h_rows
    (h := by padded_arguments)
end largest"""


STATEMENTS = {
    "masked_mean_laws": plain_laws,
    "second_axis_laws": second_axis_laws,
    "batch_laws": batch_laws,
    "masked_max_laws": max_laws,
}


@pytest.mark.parametrize("name", STATEMENTS)
def test_certificates(name: str, refusals: dict[str, list[str]]) -> None:
    assert refusals[name] == []


# -- the lists themselves: numbers tell which kernels are invariant


def bag(case: Case, size: int, seed: int) -> list[Any]:
    """Arguments with ``size`` rows, of which some are masked."""
    random = np.random.default_rng(seed)
    sizes = {"n": size, "d": 2, "h": 3, "c": 2, "b": 2}

    def numbers(aval: Aval, number: int) -> Any:
        shape = tuple(axis if isinstance(axis, int) else sizes[axis] for axis in aval.shape)
        if number == case.mask:
            keep = random.random(shape) < 0.6
            keep[..., 0] = True
            return keep if aval.dtype == "bool" else keep.astype("float32")
        return random.standard_normal(shape).astype("float32")

    return [numbers(aval, number) for number, aval in enumerate(case.inputs)]


def moved(case: Case, arguments: list[Any], change: Any) -> list[Any]:
    """``change(array, axis of the rows, whether it is the mask)`` on every argument with rows."""
    return [
        change(array, aval.shape.index("n"), number == case.mask) if "n" in aval.shape else array
        for number, (array, aval) in enumerate(zip(arguments, case.inputs, strict=True))
    ]


def obeys(case: Case, law: str) -> bool:
    """Whether a law holds of some bags."""
    random = np.random.default_rng(7)
    for seed in range(5):
        given = bag(case, 4, seed)
        if law == "permutation":
            order = random.permutation(4)
            other = moved(case, given, lambda x, axis, _: np.take(x, order, axis))  # noqa: B023
        elif law == "padding":

            def pad(x: Any, axis: int, is_mask: bool) -> Any:
                shape = (*x.shape[:axis], 3, *x.shape[axis + 1 :])
                new = np.zeros(shape) if is_mask else 3.0 + random.standard_normal(shape)
                return np.concatenate([x, new.astype(x.dtype)], axis)

            other = moved(case, given, pad)
        else:
            keep = given[case.mask] > 0

            def change(x: Any, axis: int, is_mask: bool) -> Any:
                before = [1] * (axis + 1 - keep.ndim)  # noqa: B023
                after = [1] * (x.ndim - axis - 1)
                live = keep.reshape((*before, *keep.shape, *after))  # noqa: B023
                return x if is_mask else np.where(live, x, x + 3.0).astype(x.dtype)

            other = moved(case, given, change)
        left, right = (case.function(*map(jnp.asarray, arguments)) for arguments in (given, other))
        if not np.allclose(left, right, rtol=1e-4, atol=1e-5):
            return False
    return True


UNPROVED = {
    ("masked_max", "padding"),
    ("max_with_fill", "padding"),
    ("position_bias", "padding"),
    ("unguarded_weights", "padding"),
    ("unguarded_weights", "irrelevance"),
}
"""Laws that hold of most bags, or where the new rows are the last ones."""


@pytest.mark.parametrize("case", [*RIGHT, *WRONG], ids=lambda case: case.name)
def test_laws_hold_as_the_lists_say(case: Case) -> None:
    for law in LAWS:
        if (case.name, law) not in UNPROVED:
            assert obeys(case, law) is (getattr(case, law) is None), law
