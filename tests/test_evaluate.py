"""The evaluator, and that a program which is not the kernel is noticed."""

import json
from pathlib import Path
from typing import Any

import jax.numpy as jnp
import numpy as np
import pytest

from maskpool_verify.errors import TraceError
from maskpool_verify.evaluate import agree_with_jax, evaluate, result
from maskpool_verify.frontend import trace_kernel
from maskpool_verify.loading import load_function
from maskpool_verify.manifest import load_manifest
from maskpool_verify.program import Program

ROOT = Path(__file__).parent.parent
KERNEL = load_manifest(ROOT / "maskpool.toml").kernel("masked_attention_pool_stable")
FUNCTION = load_function(KERNEL, ROOT)
PROGRAM = trace_kernel(KERNEL, {"n": 4, "d": 3}, ROOT).program


def inputs() -> list[Any]:
    features = np.arange(12, dtype=np.float32).reshape(4, 3)
    return [features, np.zeros(4, np.float32), np.array([True, False, True, False])]


def test_the_values_of_all_variables_by_number() -> None:
    values = evaluate(PROGRAM, inputs())
    types = PROGRAM.variable_types()
    assert [(v.shape, str(v.dtype)) for v in values] == [(t.shape, t.dtype) for t in types]
    # Equal logits: the mean of the unmasked rows 0 and 2.
    np.testing.assert_allclose(result(PROGRAM, values), [3, 4, 5], rtol=1e-6)


def test_in_float64_every_float_is_float64() -> None:
    values = evaluate(PROGRAM, inputs(), in_float64=True)
    assert {str(value.dtype) for value in values} == {"float64", "bool"}


def test_inputs_of_the_wrong_type_are_refused() -> None:
    features, logits, mask = inputs()
    for wrong in ([features, logits], [features.T, logits, mask], [features.astype("float64"), logits, mask]):
        with pytest.raises(ValueError, match=r"arguments|not of type"):
            evaluate(PROGRAM, wrong)


@pytest.mark.parametrize("seed", range(3))
def test_the_imported_program_agrees_with_jax(seed: int) -> None:
    agree_with_jax(PROGRAM, FUNCTION, seed)


def mutants() -> list[Any]:
    """Well-typed programs that are one change away: operands exchanged, or another primitive."""
    data = PROGRAM.model_dump(mode="json")
    others = {"sub": "add", "div": "mul", "reduce_max": "reduce_sum", "exp": "tanh", "gt": "le"}
    found = []
    for number, equation in enumerate(data["equations"]):
        operands = equation["operands"]
        changes = []
        if equation["primitive"] in ("sub", "div", "gt"):
            changes.append({"operands": operands[::-1]})
        if equation["primitive"] == "select_n":
            changes.append({"operands": [operands[0], operands[2], operands[1]]})
        if equation["primitive"] in others:
            changes.append({"primitive": others[equation["primitive"]]})
        for change in changes:
            equations = [*data["equations"]]
            equations[number] = {**equation, **change}
            name = f"{number}-{equation['primitive']}-{'-'.join(change)}"
            found.append(pytest.param({**data, "equations": equations}, id=name))
    return found


@pytest.mark.parametrize("data", mutants())
def test_mutated_programs_are_noticed(data: Any) -> None:
    mutant = Program.model_validate_json(json.dumps(data))
    with pytest.raises(TraceError, match="disagree with"):
        agree_with_jax(mutant, FUNCTION, 0)


def test_changed_axes_are_noticed() -> None:
    """On a square array the sums over the first and the second axis have the same type."""
    square = trace_kernel(KERNEL, {"n": 3, "d": 3}, ROOT).program
    text = square.model_dump_json().replace(
        '"dimension_numbers":[[[0],[0]],[[],[]]]', '"dimension_numbers":[[[0],[1]],[[],[]]]'
    )
    with pytest.raises(TraceError, match="disagree with"):
        agree_with_jax(Program.model_validate_json(text), FUNCTION, 0)


def test_impure_kernels_are_noticed() -> None:
    calls: list[int] = []

    def impure(features: Any, logits: Any, mask: Any) -> Any:
        calls.append(1)
        return FUNCTION(features, logits, mask) + len(calls)

    with pytest.raises(TraceError, match="not a pure function"):
        agree_with_jax(PROGRAM, impure, 0)


def test_nan_in_the_wrong_place_is_noticed() -> None:
    def careless(features: Any, logits: Any, mask: Any) -> Any:
        return FUNCTION(features, logits, mask) + 0 * jnp.sum(features)

    with pytest.raises(TraceError, match="NaN in masked rows"):
        agree_with_jax(PROGRAM, careless, 0)
