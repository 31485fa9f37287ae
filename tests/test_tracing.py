"""Tracing: calls are inlined, dead equations dropped, effects and array constants refused."""

import inspect
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from maskpool_verify.errors import TraceError, UnsupportedError
from maskpool_verify.tracing import Aval, FlatJaxpr, FlatLiteral, FlatVar, trace

ROOT = Path(__file__).parent
X = Aval("float32", (4, 3))


def flat(function: Callable[..., Any], *inputs: Aval) -> FlatJaxpr:
    return trace(function, inputs or (X,), label="Kernel", root=ROOT)


def primitives(jaxpr: FlatJaxpr) -> list[str]:
    return [equation.primitive for equation in jaxpr.equations]


def test_variables_are_inputs_then_equations() -> None:
    jaxpr = flat(lambda x, y: jnp.exp(x) + y, X, X)
    assert primitives(jaxpr) == ["exp", "add"]
    assert jaxpr.equations[1].operands == (FlatVar(2), FlatVar(1))
    assert jaxpr.output == FlatVar(3)
    assert jaxpr.output_aval == X


def test_calls_are_inlined() -> None:
    @jax.custom_jvp
    def twice(x: Any) -> Any:
        return x * 2

    twice.defjvps(lambda tangent, _, x: tangent)

    @jax.custom_vjp
    def thrice(x: Any) -> Any:
        return x * 3

    thrice.defvjp(lambda x: (x * 3, None), lambda _, g: (g,))

    @jax.jit
    def kernel(x: Any) -> Any:
        return jax.jit(jax.jit(jnp.exp))(twice(x)) + jax.checkpoint(jnp.tanh)(thrice(x))

    assert primitives(flat(kernel)) == ["mul", "exp", "mul", "tanh", "add"]


def test_jit_with_several_results() -> None:
    swap = jax.jit(lambda x, y: (y, x))

    def kernel(x: Any, y: Any) -> Any:
        first, second = swap(x, y)
        return first - second

    (equation,) = flat(kernel, X, X).equations
    assert equation.operands == (FlatVar(1), FlatVar(0))


def test_dead_equations_are_dropped() -> None:
    def kernel(x: Any) -> Any:
        jnp.sort(x)
        jax.lax.top_k(x, 2)
        return x + 1

    jaxpr = flat(kernel)
    assert primitives(jaxpr) == ["add"]
    assert jaxpr.output == FlatVar(1)


def test_scalar_constants_become_literals() -> None:
    scale = jnp.float32(0.1)
    (equation,) = flat(lambda x: x * scale).equations
    assert equation.operands[1] == FlatLiteral(float(np.float32(0.1)), Aval("float32", ()))


def test_array_constants_are_refused() -> None:
    scale = np.arange(3, dtype=np.float32)
    with pytest.raises(UnsupportedError, match=r'constant array float32\[3\].*role "parameter"'):
        flat(lambda x: x * scale)


def test_effects_are_refused_even_if_dead() -> None:
    def kernel(x: Any) -> Any:
        jax.debug.print("{}", x)
        return x

    with pytest.raises(UnsupportedError, match=r'test_tracing.py:\d+: primitive "debug.*side effect'):
        flat(kernel)


def test_options_of_the_compiler_are_refused() -> None:
    def kernel(x: Any) -> Any:
        return jnp.exp(x)

    fast = jax.jit(kernel, compiler_options={"xla_cpu_enable_fast_math": True})
    with pytest.raises((TraceError, UnsupportedError), match="compiler_options"):
        flat(fast)


def test_several_results_are_refused() -> None:
    with pytest.raises(UnsupportedError, match=r"top_k.*2 results"):
        flat(lambda x: jax.lax.top_k(x, 2)[0])


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (lambda x: (x, x), "returns a tuple"),
        (lambda x: jax.random.key(0), r"returns key<fry>\[\]"),
        (lambda x: None, "returns a NoneType"),
        (lambda x: x > 0, r"returns bool\[4,3\]; a kernel must return a float array"),
        (lambda x: jnp.argmax(x, None), r"returns int32\[\]"),
        (lambda x: x if x.sum() > 0 else -x, r"TracerBoolConversionError at test_tracing.py:\d+"),
        (lambda x: x @ x, r"tracing with float32\[4,3\] raises TypeError at test_tracing.py:\d+: "),
    ],
)
def test_functions_that_do_not_trace(function: Callable[..., Any], message: str) -> None:
    with pytest.raises(TraceError, match=message) as caught:
        flat(function)
    assert "\n" not in str(caught.value)


def test_float64_is_float64() -> None:
    jaxpr = flat(lambda x: x * 0.1, Aval("float64", (2,)))
    assert jaxpr.output_aval == Aval("float64", (2,))
    assert jaxpr.equations[0].operands[1] == FlatLiteral(0.1, Aval("float64", ()))
    assert jnp.asarray(0.1).dtype == "float32"


@jax.jit
def helper(x: Any) -> Any:
    return jnp.exp(x)


def located(x: Any) -> Any:
    y = jnp.where(x > 0, x, 0.0)
    return helper(y)


def test_equations_know_their_line() -> None:
    start = inspect.getsourcelines(located)[1]
    jaxpr = flat(located)
    assert {str(e.source) for e in jaxpr.equations if e.primitive == "select_n"} == {
        f"test_tracing.py:{start + 1}"
    }
    (exp,) = (e for e in jaxpr.equations if e.primitive == "exp")
    assert exp.source.function == "helper"
