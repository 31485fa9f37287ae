"""The checker of ``MaskPool.Invariance.Selection`` accepts kernels that select before they compute, and names
the equation that lets a masked value through in the others.

Every verdict is claimed by a theorem that the kernel of Lean checks; a wrong claim is an error. JAX shows the
same with NaN and infinities in masked rows.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from claims import Translated, errors, translated
from manifest_kernels import kernel, spec
from selecting_kernels import (
    LEAKING,
    SELECTING,
    Case,
    guarded_attention,
    selected_heads,
    unselected_features,
)

from maskpool_verify.engine.protocol import ModuleResult
from maskpool_verify.engine.wasm import WasmEngine
from maskpool_verify.frontend import TracedKernel
from maskpool_verify.importer import import_program
from maskpool_verify.lean import syntax
from maskpool_verify.lean.properties import optional_module
from maskpool_verify.lean.render import lean_files
from maskpool_verify.lean.selection import leaking_variable
from maskpool_verify.lowering import lowered
from maskpool_verify.manifest import Kernel
from maskpool_verify.tracing import Aval, trace

CASES = (*SELECTING, *LEAKING)


def definition(read: Translated) -> str:
    return "\n".join(
        [
            *(f"abbrev {name} : Dim := .var {number}" for number, name in enumerate(read.symbols)),
            f"def program : {syntax.kernel_type(read.program)} :=",
            *(f"  {line}" for line in syntax.equation_lines(read.program)),
        ]
    )


def leak(case: Case, read: Translated) -> str:
    """The number of the variable of the leaking equation, as an option in Lean."""
    if case.leak is None:
        return "none"
    primitive, occurrence = case.leak
    found = [k for k, equation in enumerate(read.program.equations) if equation.primitive == primitive]
    return f"some {len(case.inputs) + found[occurrence]}"


def claim(case: Case, *, corrupt: bool = False) -> str:
    """What the checker says of a kernel; if ``corrupt``, the opposite of each of its answers."""
    read = translated(case.function, *case.inputs)
    given = f"{read.symbols.index('n')} {case.mask}"
    selects = str((case.leak is None) is not corrupt).lower()
    zero = str(case.zero is not corrupt).lower()
    first = ("none" if case.leak else "some 5") if corrupt else leak(case, read)
    return f"""namespace {case.name}
{definition(read)}
theorem selects : program.check (.irrelevance .any) {given} = {selects} := by eq_refl
theorem leak : program.firstLeak {given} = {first} := by eq_refl
theorem zero : program.checkAllMasked {given} .floating = {zero} := by eq_refl
end {case.name}"""


@pytest.fixture(scope="module")
def refusals(engine: WasmEngine, lean_project: Path) -> dict[str, list[str]]:
    modules = {
        "selection.checks": {case.name: claim(case) for case in CASES},
        "selection.corrupt": {
            f"corrupt_{case.name}": claim(case, corrupt=True) for case in (SELECTING[0], LEAKING[0])
        },
    }
    return errors(engine, lean_project, modules, ["MaskPool.Invariance.Selection"])


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_verdicts(case: Case, refusals: dict[str, list[str]]) -> None:
    assert refusals[case.name] == []


@pytest.mark.parametrize("case", [SELECTING[0], LEAKING[0]], ids=lambda case: case.name)
def test_a_wrong_verdict_is_an_error(case: Case, refusals: dict[str, list[str]]) -> None:
    messages = refusals[f"corrupt_{case.name}"]
    assert len(messages) == 3
    assert all("is not definitionally equal" in message for message in messages)


# -- the certificates


def declared(function: Callable[..., Any], *arguments: Any) -> tuple[Kernel, Callable[..., Any]]:
    return kernel(function.__name__, arguments), function


ATTENTION = (
    spec("features", "features", "n", "d"),
    spec("logits", "logits", "n"),
    spec("mask", "mask", "n", dtype="bool"),
)
RIGHT = (
    declared(guarded_attention, *ATTENTION),
    declared(
        selected_heads,
        spec("features", "features", "b", "d", "n"),
        spec("logits", "logits", "b", "h", "n"),
        spec("keep", "mask", "b", "n", dtype="int32"),
    ),
)
WRONG = declared(unselected_features, *ATTENTION)


def traced(kernel: Kernel, function: Callable[..., Any]) -> TracedKernel:
    inputs = [Aval(argument.dtype, argument.sizes(kernel.open_shape)) for argument in kernel.arguments]
    flat = lowered(trace(function, inputs, label="Kernel", root=Path(__file__).parent))
    imported = import_program(flat, kernel, kernel.open_shape)
    return TracedKernel(flat, imported.program, tuple(map(str, imported.sources)))


@pytest.fixture(scope="module")
def built(engine: WasmEngine, lean_project: Path) -> dict[str, ModuleResult]:
    """The modules of the theorems over any arithmetic."""
    modules = []
    for declaration, function in (*RIGHT, WRONG):
        for path, text in lean_files(declaration, [traced(declaration, function)], "0").items():
            (lean_project / path).parent.mkdir(parents=True, exist_ok=True)
            (lean_project / path).write_text(text, encoding="utf-8")
        modules.append(optional_module(declaration))
    return engine.build(lean_project, modules)


@pytest.mark.parametrize("kernel", [kernel for kernel, _ in RIGHT], ids=lambda kernel: kernel.name)
def test_theorems_of_kernels_that_select(kernel: Kernel, built: dict[str, ModuleResult]) -> None:
    assert built[optional_module(kernel)].status == "built"


def test_the_message_about_a_kernel_that_does_not(built: dict[str, ModuleResult]) -> None:
    kernel, function = WRONG
    assert built[optional_module(kernel)].status == "failed"
    (message,) = built[optional_module(kernel)].messages
    variable = leaking_variable(message.text)
    assert variable is not None
    equation = traced(kernel, function).program.equations[variable - len(kernel.arguments)]
    assert equation.primitive == "dot_general"


@pytest.mark.parametrize("message", ["", "leak : n = none", "Tactic `decide` failed", "some 5"])
def test_other_messages_name_no_equation(message: str) -> None:
    assert leaking_variable(message) is None


# -- what JAX does


KEEP = np.array([True, False, True, False])
JUNK = (np.nan, np.inf, -np.inf, 1e38, -0.0)


def arguments(case: Case, junk: float, keep: np.ndarray) -> list[Any]:
    """A bag of four rows, which holds ``junk`` in every entry of a masked row."""
    random = np.random.default_rng(3)

    def numbers(number: int) -> Any:
        aval = case.inputs[number]
        if number == case.mask:
            return jnp.asarray(keep.astype(aval.dtype))
        values = random.standard_normal(tuple({"n": 4, "d": 3}[str(axis)] for axis in aval.shape))
        values[~keep] = junk
        return jnp.asarray(values.astype(aval.dtype))

    return [numbers(number) for number in range(len(case.inputs))]


def bits(case: Case, junk: float, keep: np.ndarray = KEEP, *, compiled: bool) -> bytes:
    function = jax.jit(case.function) if compiled else case.function
    return np.asarray(function(*arguments(case, junk, keep))).tobytes()


@pytest.mark.parametrize("compiled", [False, True])
@pytest.mark.parametrize("case", SELECTING, ids=lambda case: case.name)
def test_no_bit_depends_on_masked_rows(case: Case, compiled: bool) -> None:
    assert len({bits(case, junk, compiled=compiled) for junk in (1.0, *JUNK)}) == 1


@pytest.mark.parametrize("case", LEAKING, ids=lambda case: case.name)
def test_a_masked_nan_changes_the_result(case: Case) -> None:
    same = bits(case, np.nan, compiled=False) == bits(case, 1.0, compiled=False)
    assert same is (case.name == "compared_floats")


@pytest.mark.parametrize("case", [case for case in CASES if case.zero], ids=lambda case: case.name)
def test_a_bag_without_unmasked_rows_gives_zero(case: Case) -> None:
    assert not np.any(np.frombuffer(bits(case, np.nan, np.zeros(4, bool), compiled=True), "float32"))


# -- the facts


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64"])
def test_zero_and_one_behave_in_every_format(dtype: str) -> None:
    """The fields of ``FloatFacts``, bit for bit."""
    formats = ("float16", "bfloat16", "float32", "float64")
    with jax.enable_x64(True):
        zero, one = jnp.zeros((), dtype), jnp.ones((), dtype)
        zeros = (zero + zero, zero - zero, zero * zero, zero / one, jnp.maximum(zero, zero))
        zeros += (jnp.minimum(zero, zero), *(jnp.zeros((), f).astype(dtype) for f in formats))
        zeros += tuple(jnp.sum(jnp.zeros(k, dtype)) for k in range(5))
        zeros += tuple(jnp.dot(jnp.zeros(k, dtype), jnp.zeros(k, dtype)) for k in range(5))
        ones = (zero + one, jnp.maximum(zero, one), *(jnp.ones((), f).astype(dtype) for f in formats))
        for value in zeros:
            assert np.asarray(value).tobytes() == np.asarray(zero).tobytes()
        for value in ones:
            assert np.asarray(value).tobytes() == np.asarray(one).tobytes()
        also = zero + zero
        assert not zero < also
        assert zero <= also
        assert zero == also
        assert one != zero
