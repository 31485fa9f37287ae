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


# -- sizes that are left open

OPEN = Aval("float32", ("n", "d"))


def test_sizes_stay_open() -> None:
    jaxpr = flat(lambda x: jnp.sum(x.reshape(-1)) + jnp.concatenate([x, x], axis=1)[0], OPEN)
    avals = {(equation.primitive, equation.aval.shape) for equation in jaxpr.equations}
    assert {("reshape", ("d*n",)), ("concatenate", ("n", "2*d"))} <= avals
    assert jaxpr.output_aval == Aval("float32", ("2*d",))


def test_arguments_share_their_symbols() -> None:
    (dot,) = flat(lambda x, y: x @ y, Aval("float32", ("n",)), OPEN).equations
    assert (dot.primitive, dot.aval.shape) == ("dot_general", ("d",))
    with pytest.raises(TraceError, match=r"tracing with float32\[n,d\], float32\[m\] raises TypeError"):
        flat(lambda x, y: y @ x, OPEN, Aval("float32", ("m",)))


def test_a_size_as_a_number_is_an_equation() -> None:
    jaxpr = flat(lambda x: jnp.sum(x) / x.shape[0], OPEN)
    assert "dim_as_value" in primitives(jaxpr)


def test_a_size_that_is_compared_with_a_number_differs_from_it() -> None:
    """So a kernel that treats one size in another way is traced for the others; its instance is refused."""

    def kernel(x: Any) -> Any:
        return -x if x.shape[0] == 4 else jnp.exp(x)

    assert primitives(flat(kernel, OPEN)) == ["exp"]
    assert primitives(flat(kernel, X)) == ["neg"]


def branches(x: Any) -> Any:
    return x if x.shape[0] > 3 else -x


def loops(x: Any) -> Any:
    for row in range(x.shape[0]):
        x = x.at[row].add(1.0)
    return x


def steps(x: Any) -> Any:
    return jax.lax.scan(lambda carry, row: (carry + row, None), jnp.zeros(x.shape[1]), x)[0]


def halves(x: Any) -> Any:
    return x[: x.shape[0] // 2]


def remainders(x: Any) -> Any:
    return x[: x.shape[0] % 2 + 1]


def some(x: Any) -> Any:
    return x[: jax.core.max_dim(x.shape[0] - 1, 1)]


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (branches, r"tracing for all sizes with float32\[n,d\] raises InconclusiveDimensionOperation at "),
        (loops, r"tracing for all sizes with float32\[n,d\] raises \w+ at "),
    ],
)
def test_control_flow_on_a_size_needs_concrete_shapes(function: Callable[..., Any], message: str) -> None:
    with pytest.raises(
        UnsupportedError, match=message + r'test_tracing.py:\d+.*list concrete shapes .*"all"'
    ) as found:
        flat(function, OPEN)
    assert "\n" not in str(found.value)
    assert flat(function, X).output_aval == X


@pytest.mark.parametrize(
    ("function", "size"),
    [(halves, "floordiv(n, 2)"), (remainders, "min(n, mod(n, 2) + 1)"), (some, "max(n - 1, 1)")],
)
def test_operations_on_sizes_are_read(function: Callable[..., Any], size: str) -> None:
    assert flat(function, OPEN).output_aval.shape == (size, "d")
    assert flat(function, X).output_aval.dtype == "float32"


def test_a_loop_over_the_rows_is_refused() -> None:
    with pytest.raises(UnsupportedError, match='primitive "scan" has n steps; only a fixed number'):
        flat(steps, OPEN)
    assert flat(steps, X).output_aval == Aval("float32", (3,))


def test_what_fails_at_every_size_is_the_users_mistake() -> None:
    def kernel(x: Any) -> Any:
        raise ValueError("no")

    with pytest.raises(TraceError, match=r"tracing with float32\[n,d\] raises ValueError at .*: no"):
        flat(kernel, OPEN)
