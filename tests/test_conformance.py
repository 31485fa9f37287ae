"""A program that is not the kernel is noticed."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jax.numpy as jnp
import pytest

from maskpool_verify.conformance import agree_with_jax
from maskpool_verify.errors import TraceError
from maskpool_verify.frontend import trace_kernel
from maskpool_verify.loading import load_function
from maskpool_verify.manifest import ArgumentSpec, Kernel, load_manifest
from maskpool_verify.program import Program, at

ROOT = Path(__file__).parent.parent
KERNEL = load_manifest(ROOT / "maskpool.toml").kernel("masked_attention_pool_stable")
FUNCTION = load_function(KERNEL, ROOT)
PROGRAM = trace_kernel(KERNEL, {"n": 4, "d": 3}, ROOT).program
OPEN = trace_kernel(KERNEL, KERNEL.open_shape, ROOT).program

BATCH = Kernel(
    name="batch",
    function="test_conformance.py:batched",
    spec="attention",
    rows="n",
    shapes=({"b": "b", "n": "n", "d": "d", "p": "p"},),
    arguments=(
        ArgumentSpec(name="features", role="features", dtype="float32", shape=("b", "d", "n")),
        ArgumentSpec(name="logits", role="logits", dtype="float32", shape=("b", "n")),
        ArgumentSpec(name="length", role="length", dtype="int32", shape=("b",)),
        ArgumentSpec(name="bias", role="parameter", dtype="float32", shape=("p",)),
    ),
)


def batched(features: Any, logits: Any, length: Any, bias: Any) -> Any:
    """Bags in a batch, with the rows on the last axis."""
    mask = jnp.arange(logits.shape[1], dtype=jnp.int32) < length[:, None]
    weights = jnp.where(mask, jnp.exp(logits), 0.0)
    pooled = jnp.einsum("bn,bdn->bd", weights, jnp.where(mask[:, None], features, 0.0))
    total = jnp.sum(weights, axis=1, keepdims=True)
    return pooled / jnp.where(total > 0, total, 1.0) + 0.0 * jnp.sum(bias)


@pytest.mark.parametrize("seed", range(3))
def test_the_imported_program_agrees_with_jax(seed: int) -> None:
    agree_with_jax(PROGRAM, KERNEL.row_axes, FUNCTION, seed)


@pytest.mark.parametrize("sizes", [{"n": 1, "d": 1}, {"n": 5, "d": 2}])
def test_the_program_for_all_sizes_agrees_at_each(sizes: dict[str, int]) -> None:
    agree_with_jax(at(OPEN, sizes), KERNEL.row_axes, FUNCTION, 0)


def test_rows_on_any_axis_lengths_and_parameters() -> None:
    assert BATCH.row_axes == (2, 1, None, None)
    program = at(trace_kernel(BATCH, BATCH.open_shape, Path(__file__).parent).program, sizes())
    agree_with_jax(program, BATCH.row_axes, batched, 0)


def test_a_length_that_is_compared_in_another_way_is_noticed() -> None:
    program = at(trace_kernel(BATCH, BATCH.open_shape, Path(__file__).parent).program, sizes())
    data = program.model_dump(mode="json")
    (compared,) = [equation for equation in data["equations"] if equation["primitive"] == "lt"]
    compared["primitive"] = "le"
    with pytest.raises(TraceError, match="disagree at b = 2, d = 3, n = 4, p = 1 with"):
        agree_with_jax(Program.model_validate_json(json.dumps(data)), BATCH.row_axes, batched, 0)


def sizes() -> dict[str, int]:
    return {"b": 2, "d": 3, "n": 4, "p": 1}


def mutants(program: Program) -> Iterator[Any]:
    """Well-typed programs that are one change away: operands exchanged, or another primitive."""
    data = program.model_dump(mode="json")
    others = {"sub": "add", "div": "mul", "reduce_max": "reduce_sum", "exp": "tanh", "gt": "le"}
    for number, equation in enumerate(data["equations"]):
        operands = equation["operands"]
        changes: list[dict[str, Any]] = []
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
            yield pytest.param({**data, "equations": equations}, id=name)


@pytest.mark.parametrize("data", [*mutants(PROGRAM)])
def test_mutated_programs_are_noticed(data: Any) -> None:
    mutant = Program.model_validate_json(json.dumps(data))
    with pytest.raises(TraceError, match="disagree at n = 4, d = 3 with"):
        agree_with_jax(mutant, KERNEL.row_axes, FUNCTION, 0)


def test_changed_axes_are_noticed() -> None:
    """On a square array the sums over the first and the second axis have the same type."""
    square = at(OPEN, {"n": 3, "d": 3})
    text = square.model_dump_json().replace(
        '"dimension_numbers":[[[0],[0]],[[],[]]]', '"dimension_numbers":[[[0],[1]],[[],[]]]'
    )
    with pytest.raises(TraceError, match="disagree at"):
        agree_with_jax(Program.model_validate_json(text), KERNEL.row_axes, FUNCTION, 0)


def test_a_program_of_another_shape_is_noticed() -> None:
    def transposed(features: Any, logits: Any, mask: Any) -> Any:
        return FUNCTION(features, logits, mask)[:, None]

    with pytest.raises(TraceError, match=r"the shape \(3,\) is not \(3, 1\)"):
        agree_with_jax(PROGRAM, KERNEL.row_axes, transposed, 0)


def test_impure_kernels_are_noticed() -> None:
    calls: list[int] = []

    def impure(features: Any, logits: Any, mask: Any) -> Any:
        calls.append(1)
        return FUNCTION(features, logits, mask) + len(calls)

    with pytest.raises(TraceError, match="not a pure function"):
        agree_with_jax(PROGRAM, KERNEL.row_axes, impure, 0)


def test_nan_in_the_wrong_place_is_noticed() -> None:
    def careless(features: Any, logits: Any, mask: Any) -> Any:
        return FUNCTION(features, logits, mask) + 0 * jnp.sum(features)

    with pytest.raises(TraceError, match="NaN in masked rows"):
        agree_with_jax(PROGRAM, KERNEL.row_axes, careless, 0)
