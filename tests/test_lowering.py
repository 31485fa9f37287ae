"""Derived primitives are written out as what JAX computes, at numbers and at open sizes."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax

from maskpool_verify import dims
from maskpool_verify.errors import UnsupportedError
from maskpool_verify.evaluate import evaluate, result
from maskpool_verify.importer import SUPPORTED_PRIMITIVES, import_program
from maskpool_verify.lowering import LOWERED_PRIMITIVES, lowered
from maskpool_verify.manifest import ArgumentSpec, Kernel
from maskpool_verify.program import Program, at, from_json, to_json
from maskpool_verify.tracing import MAX_STEPS, Aval, FlatJaxpr, trace

ROOT = Path(__file__).parent
X, M, Z = Aval("float32", (4, 3)), Aval("bool", (4, 3)), Aval("int32", (4, 3))
OPEN = Aval("float32", ("n", "d"))
Kernels = dict[str, tuple[Callable[..., Any], tuple[Aval, ...]]]


def traced(function: Callable[..., Any], *inputs: Aval) -> FlatJaxpr:
    return trace(function, inputs, label="Kernel", root=ROOT)


def imported(function: Callable[..., Any], *inputs: Aval) -> Program:
    arguments = tuple(
        ArgumentSpec.model_validate(
            {"name": f"x{k}", "role": "parameter", "dtype": a.dtype, "shape": a.shape}
        )
        for k, a in enumerate(inputs)
    )
    kernel = Kernel(
        name="test", function="test.py:f", spec="attention", rows="n", shapes=(), arguments=arguments
    )
    symbols = sorted({symbol for a in inputs for size in a.shape for symbol in dims.symbols(size)})
    flat = lowered(traced(function, *inputs))
    return import_program(flat, kernel, {symbol: symbol for symbol in symbols}).program


def compare(program: Program, function: Callable[..., Any]) -> None:
    random = np.random.default_rng(0)
    arrays = []
    for argument in program.arguments:
        shape = tuple(map(int, argument.shape))
        value: Any = random.standard_normal(shape)
        if argument.dtype == "bool":
            value = value < 0
        if argument.dtype.startswith("int"):
            value = random.integers(-3, 4, shape)
        arrays.append(np.asarray(value).astype(argument.dtype))
    expected = np.asarray(function(*map(jnp.asarray, arrays)))
    found = result(program, evaluate(program, arrays))
    assert found.dtype == expected.dtype
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-6)


def as_float(function: Callable[..., Any]) -> Callable[..., Any]:
    return lambda *args: function(*args).astype(jnp.float32)


def running_sum(x: Any, *, reverse: bool = False) -> Any:
    last, sums = lax.scan(lambda c, row: (c + row, c * row), x[0], x, reverse=reverse)
    return sums + last


FIXED: Kernels = {
    "clamp": (lambda x: lax.clamp(-0.5, x, x[0, 0]), (X,)),
    "clamp_crossed": (lambda x: lax.clamp(0.5, x, -0.5), (X,)),
    "square": (lambda x: jnp.square(x) + lax.square_p.bind(x), (X,)),
    **{f"power_{y}": (lambda x, y=y: lax.integer_pow(x, y), (X,)) for y in (-3, -1, 0, 1, 2, 3, 5, 8)},
    "int_power": (as_float(lambda a: a**3), (Z,)),
    "int_neg": (as_float(lambda a: -a), (Z,)),
    "int_abs": (as_float(jnp.abs), (Z,)),
    "int_sign": (as_float(jnp.sign), (Z,)),
    "int_div": (as_float(lax.div), (Z, Z)),
    "bool_eq": (as_float(lambda m, k: m == k), (M, M)),
    "bool_ne": (as_float(lambda m, k: m != k), (M, M)),
    "bool_max": (as_float(lax.max), (M, M)),
    "bool_min": (as_float(lax.min), (M, M)),
    "bool_extrema": (as_float(lambda m: m.max(0) ^ m.min(0)), (M,)),
    "count_nonzero": (as_float(lambda m: jnp.count_nonzero(m, axis=0)), (M,)),
    "max_initial": (lambda x: x.max(0, initial=-jnp.inf) + x.min(0, initial=jnp.inf), (X,)),
    "concatenate": (lambda x, y: jnp.concatenate([x, y, x[:1], y], 0), (X, X)),
    "concatenate_one": (lambda x: jnp.concatenate([x], 0) * 2, (X,)),
    "stack": (lambda x, y: jnp.stack([x, y, x], 1), (X, X)),
    "pad": (lambda x: jnp.pad(x, ((1, 2), (0, 1)), constant_values=0.5), (X,)),
    "pad_computed": (lambda x: lax.pad(x, x[1, 1], ((0, 1, 0), (2, 0, 0))), (X,)),
    "pad_nothing": (lambda x: lax.pad(x, 0.0, ((0, 0, 0), (0, 0, 0))) * 2, (X,)),
    "split": (lambda x: sum(p.sum(1) * k for k, p in enumerate(jnp.split(x, [1, 2], 1))), (X,)),
    "rows": (lambda x: x[0] + x[-1] * x[2], (X,)),
    "columns": (lambda x: x[:, 1] - x[:, -1], (X,)),
    "entry": (lambda x: x[1, 2], (X,)),
    "part": (lambda x: x[1:3, :-1], (X,)),
    "dynamic_slice": (lambda x: lax.dynamic_slice(x, (1, 0), (2, 3)), (X,)),
    "gather": (lambda x: jnp.take(x, 2, axis=0, mode="clip"), (X,)),
    "flip": (lambda x: x[::-1] + jnp.flip(x, 1), (X,)),
    "scan": (running_sum, (X,)),
    "scan_reversed": (lambda x: running_sum(x, reverse=True), (X,)),
    "fori_loop": (lambda x: lax.fori_loop(0, 3, lambda i, y: y * x[i] + i, x), (X,)),
    "softmax": (lambda x, m: jax.nn.softmax(x, where=m | True, axis=0), (X, M)),
    "logsumexp": (lambda x: jax.nn.logsumexp(x, axis=0), (X,)),
    "softplus": (jax.nn.softplus, (X,)),
    "gelu": (lambda x: jax.nn.gelu(x) + jax.nn.gelu(x, approximate=False), (X,)),
    "layer_norm": (
        lambda x: (x - x.mean(1, keepdims=True)) * lax.rsqrt(jnp.square(x).mean(1, keepdims=True)),
        (X,),
    ),
    "var": (lambda x: x.var(0) + x.std(1, ddof=1)[0], (X,)),
    "one_hot": (lambda x: jax.nn.one_hot(jnp.argsort(jnp.zeros(3)) if False else jnp.arange(4), 4) @ x, (X,)),
}

ALL_SIZES: Kernels = {
    "mean": (lambda x: x.mean(0), (OPEN,)),
    "rows": (lambda x: x[0] * x[-1], (OPEN,)),
    "columns": (lambda x: x[:, 0] - x[:, -1], (OPEN,)),
    "entry": (lambda x: x[-1, 0] * x, (OPEN,)),
    "tail": (lambda x: x[1:].sum(0) + x[:-1].sum(0), (OPEN,)),
    "concatenate": (lambda x: jnp.concatenate([x, jnp.zeros((1, x.shape[1])), x], 0), (OPEN,)),
    "stack": (lambda x: jnp.stack([x, 2 * x, -x], 1), (OPEN,)),
    "pad": (lambda x: jnp.pad(x, ((0, 1), (2, 0))), (OPEN,)),
    "split": (lambda x: jnp.split(x, 2, axis=1)[1], (Aval("float32", ("n", 4)),)),
    "reshape": (lambda x: jnp.tanh(x.reshape(-1)).reshape(x.shape[1], x.shape[0]), (OPEN,)),
    "heads": (
        lambda x: x.reshape(x.shape[0], -1).reshape(-1, 2, x.shape[1]),
        (Aval("float32", ("n", "d", 2)),),
    ),
    "flip": (lambda x: jnp.flip(x, 0), (OPEN,)),
    "cumsum": (lambda x: jnp.cumsum(x, 0) + jnp.cumsum(x > 0, 1), (OPEN,)),
    "var": (lambda x: x.var(0) * x.std(), (OPEN,)),
    "positions": (lambda x: x * jnp.arange(x.shape[0])[:, None] / x.shape[0], (OPEN,)),
    "lengths": (
        lambda x, k: jnp.where(jnp.arange(x.shape[0]) < k, x.sum(1), 0.0),
        (OPEN, Aval("int32", ())),
    ),
    "scan": (running_sum, (Aval("float32", (4, "d")),)),
}


@pytest.mark.parametrize("name", FIXED)
def test_fixed_sizes(name: str) -> None:
    function, inputs = FIXED[name]
    compare(imported(function, *inputs), function)


@pytest.mark.parametrize("name", ALL_SIZES)
def test_open_sizes(name: str) -> None:
    function, inputs = ALL_SIZES[name]
    program = imported(function, *inputs)
    assert from_json(to_json(program)) == program
    for sizes in ({"n": 5, "d": 2}, {"n": 2, "d": 3}):
        compare(at(program, {symbol: sizes[symbol] for symbol in program.symbols}), function)


def test_each_derived_primitive_is_written_out() -> None:
    cases = [*FIXED.values(), *ALL_SIZES.values()]
    before = {e.primitive for function, inputs in cases for e in traced(function, *inputs).equations}
    after = {e.primitive for function, inputs in cases for e in lowered(traced(function, *inputs)).equations}
    assert {*LOWERED_PRIMITIVES} - {"split", "scan"} <= before
    assert after <= set(SUPPORTED_PRIMITIVES)
    assert not after & set(LOWERED_PRIMITIVES)


def test_what_is_not_derived_stays_as_it_is() -> None:
    flat = traced(lambda x: jnp.exp(x).sum(0), X)
    assert lowered(flat) == flat


def test_an_infinite_literal_beside_a_maximum_leaves_no_equation() -> None:
    program = imported(lambda x: jnp.maximum(jnp.minimum(x, jnp.inf), -jnp.inf) * 2, X)
    assert [equation.primitive for equation in program.equations] == ["mul"]
    kept = imported(lambda x: jnp.maximum(x, jnp.inf), X)
    assert [equation.primitive for equation in kept.equations] == ["max"]


def test_a_selection_by_sizes_is_what_it_selects() -> None:
    used = [equation.primitive for equation in imported(lambda x: x.var(0), OPEN).equations]
    assert "select_n" not in used
    unbiased = imported(lambda x: x.var(0, ddof=1), OPEN)  # of one row there is none
    assert "select_n" in [equation.primitive for equation in unbiased.equations]


def test_powers_are_multiplied_as_jax_does() -> None:
    """``x ** 5`` is ``x * (x ** 2) ** 2``: the compiled numbers are the same to the last bit."""
    program = imported(lambda x: x**5, X)
    assert [equation.primitive for equation in program.equations] == ["mul"] * 3


def test_positions_that_are_not_needed_any_more_are_dropped() -> None:
    program = imported(lambda x: x[-1], OPEN)
    assert [equation.primitive for equation in program.equations] == ["slice", "squeeze"]


@pytest.mark.parametrize(
    ("function", "inputs", "message"),
    [
        (lambda x: x[1], (OPEN,), r'"gather" is not supported here: position 1 of an axis of size n may lie'),
        (lambda x: x[:, 2], (OPEN,), "position 2 of an axis of size d may lie outside"),
        (lambda x: x[jnp.argmax(x[:, 0])], (OPEN,), "its positions are not known when tracing"),
        (lambda x: x[jnp.array([0, 1])], (X,), "constant array"),
        (lambda x: x[x[:, 0].astype(int)], (X,), "it reads more than one slice"),
        (lambda x: lax.dynamic_slice(x, (3, 0), (2, 3)), (X,), "positions 3 to 4 of an axis of size 4"),
        (lambda x: lax.pad(x, 0.0, ((0, 0, 1), (0, 0, 0))), (X,), r"the padding \(0, 0, 1\) of axis 0"),
        (lambda x: lax.pad(x, 0.0, ((-1, 0, 0), (0, 0, 0))), (X,), r"the padding \(-1, 0, 0\) of axis 0"),
        (running_sum, (OPEN,), 'primitive "scan" has n steps'),
        (running_sum, (Aval("float32", (MAX_STEPS + 1, 3)),), f'"scan" has {MAX_STEPS + 1} steps'),
    ],
)
def test_what_cannot_be_written_out_is_refused(
    function: Callable[..., Any], inputs: tuple[Aval, ...], message: str
) -> None:
    with pytest.raises(UnsupportedError, match=message) as caught:
        imported(function, *inputs)
    assert "test_lowering.py:" in str(caught.value)
