"""The importer: every primitive computes what JAX computes, and everything else is refused by name."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jax import lax

from maskpool_verify.errors import UnsupportedError
from maskpool_verify.evaluate import evaluate, result
from maskpool_verify.importer import SUPPORTED_PRIMITIVES, ImportedProgram, import_program
from maskpool_verify.lowering import lowered
from maskpool_verify.manifest import ArgumentSpec, Kernel
from maskpool_verify.program import BroadcastInDim, Program, RealLiteral, Var
from maskpool_verify.tracing import Aval, FlatJaxpr, trace

ROOT = Path(__file__).parent
X, M, Z = Aval("float32", (4, 3)), Aval("bool", (4, 3)), Aval("int32", (4, 3))


def flat(function: Callable[..., Any], *inputs: Aval) -> FlatJaxpr:
    return lowered(trace(function, inputs, label="Kernel", root=ROOT))


def imported(jaxpr: FlatJaxpr) -> ImportedProgram:
    """Import with arguments that are as the inputs; the roles do not matter to the importer."""
    arguments = tuple(
        ArgumentSpec.model_validate(
            {"name": f"x{k}", "role": "parameter", "dtype": a.dtype, "shape": a.shape}
        )
        for k, a in enumerate(jaxpr.inputs)
    )
    kernel = Kernel(
        name="test", function="test.py:f", spec="attention", rows="n", shapes=(), arguments=arguments
    )
    return import_program(jaxpr, kernel, {})


def values(inputs: tuple[Aval, ...], seed: int = 0) -> list[Any]:
    random = np.random.default_rng(seed)
    return [
        random.random(a.shape) < 0.5
        if a.dtype == "bool"
        else random.integers(-3, 4, a.shape).astype(a.dtype)
        if a.dtype.startswith("int")
        else random.standard_normal(a.shape).astype(jnp.dtype(a.dtype))
        for a in inputs
    ]


def check(function: Callable[..., Any], *inputs: Aval) -> ImportedProgram:
    """Import ``function`` and compare the program with JAX on random numbers."""
    program = imported(flat(function, *inputs))
    arrays = values(inputs)
    with jax.enable_x64(any(a.dtype.endswith("64") for a in inputs)):
        expected = np.asarray(function(*map(jnp.asarray, arrays)))
    found = result(program.program, evaluate(program.program, arrays))
    assert found.dtype == expected.dtype
    eps = float(jnp.finfo(expected.dtype).eps)  # type: ignore[no-untyped-call]
    np.testing.assert_allclose(
        found.astype(np.float64), expected.astype(np.float64), rtol=16 * eps, atol=16 * eps
    )
    return program


def as_float(function: Callable[..., Any]) -> Callable[..., Any]:
    """Kernels return floats: make one of a bool result."""
    return lambda *args: function(*args).astype(jnp.float32)


PRIMITIVES: dict[str, tuple[Callable[..., Any], tuple[Aval, ...]]] = {
    "neg": (lambda x: -x, (X,)),
    "exp": (jnp.exp, (X,)),
    "log": (lambda x: jnp.log(jnp.exp(x)), (X,)),
    "tanh": (jnp.tanh, (X,)),
    "logistic": (jax.nn.sigmoid, (X,)),
    "add": (lambda x, y: x + y, (X, X)),
    "sub": (lambda x, y: x - y, (X, X)),
    "mul": (lambda x, y: x * y, (X, X)),
    "div": (lambda x, y: x / y, (X, X)),
    "max": (jnp.maximum, (X, X)),
    "min": (jnp.minimum, (X, X)),
    "lt": (as_float(lambda x, y: x < y), (X, X)),
    "le": (as_float(lambda x, y: x <= y), (X, X)),
    "gt": (as_float(lambda x, y: x > y), (X, X)),
    "ge": (as_float(lambda x, y: x >= y), (X, X)),
    "eq": (as_float(lambda x, y: jnp.maximum(x, 0) == jnp.maximum(y, 0)), (X, X)),
    "ne": (as_float(lambda x, y: jnp.maximum(x, 0) != jnp.maximum(y, 0)), (X, X)),
    "not": (as_float(lambda m: ~m), (M,)),
    "and": (as_float(lambda m, k: m & k), (M, M)),
    "or": (as_float(lambda m, k: m | k), (M, M)),
    "select_n": (lax.select_n, (M, X, X)),
    "broadcast_in_dim": (lambda x: lax.broadcast_in_dim(x, (2, 4, 5, 3), (1, 3)), (X,)),
    "reshape": (lambda x: x.reshape(4, 1, 3, 1), (X,)),
    "squeeze": (lambda x: lax.squeeze(x, (1, 2)), (Aval("float32", (4, 1, 1, 3)),)),
    "transpose": (lambda x: x.transpose(1, 2, 0), (Aval("float32", (2, 4, 3)),)),
    "reduce_sum": (lambda x: x.sum(0), (X,)),
    "reduce_max": (lambda x: x.max(1), (X,)),
    "reduce_or": (as_float(lambda m: m.any(0)), (M,)),
    "reduce_and": (as_float(lambda m: m.all(1)), (M,)),
    "dot_general": (lambda x, y: x @ y.T, (X, X)),
    "convert_element_type": (lambda x: x.astype(jnp.float16), (X,)),
    "sqrt": (lambda x: jnp.sqrt(jnp.exp(x)), (X,)),
    "rsqrt": (lambda x: lax.rsqrt(jnp.exp(x)), (X,)),
    "cbrt": (jnp.cbrt, (X,)),
    "exp2": (jnp.exp2, (X,)),
    "expm1": (jnp.expm1, (X,)),
    "log1p": (lambda x: jnp.log1p(jnp.exp(x)), (X,)),
    "erf": (lax.erf, (X,)),
    "erfc": (lax.erfc, (X,)),
    "erf_inv": (lambda x: lax.erf_inv(jnp.tanh(x)), (X,)),
    "abs": (jnp.abs, (X,)),
    "sign": (lambda x: jnp.sign(jnp.maximum(x, 0)), (X,)),
    "floor": (lambda x: jnp.floor(3 * x), (X,)),
    "ceil": (lambda x: jnp.ceil(3 * x), (X,)),
    "sin": (jnp.sin, (X,)),
    "cos": (jnp.cos, (X,)),
    "tan": (lambda x: jnp.tan(jnp.tanh(x)), (X,)),
    "asin": (lambda x: lax.asin(jnp.tanh(x)), (X,)),
    "acos": (lambda x: lax.acos(jnp.tanh(x)), (X,)),
    "atan": (lax.atan, (X,)),
    "sinh": (jnp.sinh, (X,)),
    "cosh": (jnp.cosh, (X,)),
    "asinh": (jnp.arcsinh, (X,)),
    "acosh": (lambda x: lax.acosh(1 + jnp.exp(x)), (X,)),
    "atanh": (lambda x: lax.atanh(jnp.tanh(x) / 2), (X,)),
    "is_finite": (as_float(lambda x: jnp.isfinite(jnp.log(x))), (X,)),
    "xor": (as_float(lambda m, k: m ^ k), (M, M)),
    "slice": (lambda x: lax.slice(x, (1, 0), (3, 2)), (X,)),
    "rev": (lambda x: jnp.flip(x, (0, 1)), (X,)),
    "concatenate": (lambda x: jnp.concatenate([x, x * 2], 1), (X,)),
    "iota": (lambda x: x * lax.broadcasted_iota(jnp.float32, (4, 3), 1), (X,)),
    "reduce_prod": (lambda x: x.prod(0), (X,)),
    "reduce_min": (lambda x: x.min(1), (X,)),
    "cumsum": (lambda x: lax.cumsum(x, 1), (X,)),
    "cumprod": (lambda x: lax.cumprod(x, 0), (X,)),
    "cummax": (lambda x: lax.cummax(x, 1), (X,)),
    "cummin": (lambda x: lax.cummin(x, 0), (X,)),
    "stop_gradient": (lambda x: lax.stop_gradient(x) * 2, (X,)),
    "copy": (lambda x: jnp.copy(x) * 2, (X,)),
}


def test_every_supported_primitive_is_tested() -> None:
    in_other_tests = {"copy_p", "dim_as_value"}  # the latter occurs at open sizes only
    assert set(PRIMITIVES) | in_other_tests == set(SUPPORTED_PRIMITIVES)


@pytest.mark.parametrize("name", PRIMITIVES)
def test_primitives_compute_what_jax_computes(name: str) -> None:
    function, inputs = PRIMITIVES[name]
    assert name in [equation.primitive for equation in flat(function, *inputs).equations]
    check(function, *inputs)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64"])
def test_all_float_dtypes(dtype: str) -> None:
    def kernel(x: Any, y: Any) -> Any:
        weights = jnp.exp(x) * 0.1
        return jnp.where(weights > 0.1, weights, y).sum(1) + (x * y).max(1)

    check(kernel, Aval(dtype, (4, 3)), Aval(dtype, (4, 3)))
    check(lambda x, y: x @ y, Aval(dtype, (4, 3)), Aval(dtype, (3,)))


def test_scalars_beside_arrays_are_broadcast_first() -> None:
    program = check(lambda x, m: jnp.where(m, x - x.max(), x), X, Aval("bool", ())).program
    broadcasts = [equation for equation in program.equations if isinstance(equation, BroadcastInDim)]
    assert [(e.shape, e.broadcast_dimensions) for e in broadcasts] == [((4, 3), ())] * 2


def test_axes_of_size_one_are_broadcast_first() -> None:
    column, row = Aval("float32", (4, 1)), Aval("float32", (1, 3))
    program = check(lambda c, r: c * r, column, row).program
    broadcasts = [equation for equation in program.equations if isinstance(equation, BroadcastInDim)]
    assert [(e.shape, e.broadcast_dimensions) for e in broadcasts] == [((4, 3), (0, 1))] * 2


def test_special_literals_are_exact() -> None:
    program = imported(flat(lambda x: x * 0.1, X)).program
    literal = program.equations[0].operands[-1]
    assert isinstance(literal, RealLiteral)
    assert float(literal.value.fraction()) == float(np.float32(0.1))
    assert literal.value.den == str(2**27)


def test_identities_leave_no_equation() -> None:
    program = imported(flat(lambda x: lax.stop_gradient(jnp.copy(x)), X)).program
    assert program.equations == ()
    assert program.result == Var(var=0)


def test_sources_belong_to_equations() -> None:
    program = imported(flat(lambda x: x - x.max(), X))
    assert [equation.primitive for equation in program.program.equations] == [
        "reduce_max",
        "broadcast_in_dim",
        "sub",
    ]
    assert len({str(source) for source in program.sources}) == 1


Y = Aval("float32", (4, 1, 3))


@pytest.mark.parametrize(
    ("function", "inputs", "message"),
    [
        (
            lambda x: lax.lgamma(x + 1),
            (X,),
            'equation 1: primitive "lgamma" is not supported; the supported ones are neg, exp,',
        ),
        (lambda x: jnp.exp(x) ** 2.5, (X,), 'equation 1: primitive "pow" is not supported'),
        (lambda x: lax.exp(x, accuracy=lax.AccuracyMode.HIGHEST), (X,), '"exp" with accuracy='),
        (lambda x: lax.dot(x, x.T, precision="highest"), (X,), '"dot_general" with precision='),
        (
            lambda x: lax.dot(x, x.T, preferred_element_type=jnp.float32),
            (Aval("float16", (4, 3)),),
            '"dot_general" is not supported here: the result has type float16.*, not float32',
        ),
        (
            lambda x: lax.convert_element_type(x, jnp.int32).astype(jnp.float32),
            (X,),
            "a conversion from float32 to int32 is not supported",
        ),
        (lambda x: x + x.astype(jnp.bool).astype(jnp.int8), (X,), "dtype int8"),
        (lambda x: jnp.exp(x).astype(jnp.uint32).astype(jnp.float32), (X,), "dtype uint32"),
        (lambda x: jnp.maximum(x, -0.0), (X,), "negative zero literal"),
        (lambda x: x[:0].sum(), (X,), 'primitive "slice"|empty array'),
        (lambda x: lax.cond(x[0, 0] > 0, jnp.exp, jnp.tanh, x), (X,), "is not supported"),
        (lambda x: lax.while_loop(lambda y: y.sum() < 9, lambda y: y + 1, x), (X,), "is not supported"),
        (lambda x: lax.cumsum(x, 0, reverse=True), (X,), '"cumsum" with reverse=True is not supported'),
        (lambda x: lax.cumlogsumexp(x, 0), (X,), 'primitive "cumlogsumexp" is not supported'),
        (lambda x: jnp.sort(x, 0), (X,), 'primitive "sort" is not supported'),
        (lambda x: lax.top_k(x, 2)[0], (X,), 'primitive "top_k" has 2 results'),
        (lambda x: jnp.argmax(x, 0).astype(jnp.float32), (X,), 'primitive "argmax" is not supported'),
        (lambda i: (i @ i.T).astype(jnp.float32), (Z,), '"dot_general" is not supported here: needs float'),
        (lambda i: (i % 2).astype(jnp.float32), (Z,), 'primitive "rem" is not supported'),
        (lambda i: (i & 1).astype(jnp.float32), (Z,), '"and" is not supported here: needs bool operands'),
        (lambda m: (m < ~m).astype(jnp.float32), (M,), '"lt" is not supported here: needs float or int'),
        (lambda x: jax.random.normal(jax.random.key(0), (4,)), (X,), "dtype|not supported"),
    ],
)
def test_what_is_not_modelled_is_refused(
    function: Callable[..., Any], inputs: tuple[Aval, ...], message: str
) -> None:
    with pytest.raises(UnsupportedError, match=message) as caught:
        imported(flat(function, *inputs))
    assert "test_importer.py:" in str(caught.value)


@pytest.mark.parametrize(
    ("name", "parameter", "value"),
    [
        ("neg", "fast", True),
        ("sqrt", "accuracy", "highest"),
        ("erf", "accuracy", None),
        ("is_finite", "of", "x"),
        ("slice", "clamp", True),
        ("rev", "start", 0),
        ("concatenate", "axis", 0),
        ("iota", "sharding", "x"),
        ("reduce_min", "out_sharding", "x"),
        ("cumsum", "reverse", True),
        ("mul", "out_dtype", np.dtype("float64")),
        ("dot_general", "preferred_element_type", np.dtype("float64")),
        ("dot_general", "out_sharding", "x"),
        ("broadcast_in_dim", "sharding", "x"),
        ("broadcast_in_dim", "operand_layout", None),
        ("reduce_sum", "out_sharding", "x"),
        ("reshape", "dimensions", (1, 0)),
        ("convert_element_type", "weak_type", None),
        ("stop_gradient", "depth", 1),
    ],
)
def test_unknown_parameters_and_values_are_refused(name: str, parameter: str, value: Any) -> None:
    function, inputs = PRIMITIVES[name]
    jaxpr = flat(function, *inputs)
    equations = tuple(
        replace(e, params={**e.params, parameter: value}) if e.primitive == name else e
        for e in jaxpr.equations
    )
    with pytest.raises(UnsupportedError, match=rf'"{name}" (has the unknown parameter|with) {parameter}='):
        imported(replace(jaxpr, equations=equations))


def test_absent_parameters_and_wrong_result_types_are_refused() -> None:
    jaxpr = flat(lambda x: x.sum(0), X)
    (equation,) = jaxpr.equations
    with pytest.raises(UnsupportedError, match="lacks the parameter axes"):
        imported(replace(jaxpr, equations=(replace(equation, params={}),)))
    with pytest.raises(UnsupportedError, match=r"the result has type float32\[3\], not float32\[4\]"):
        imported(replace(jaxpr, equations=(replace(equation, aval=Aval("float32", (4,))),)))


SHAPES = st.lists(st.integers(1, 4), min_size=1, max_size=4).map(tuple)
LAW = settings(max_examples=25, deadline=None)


@LAW
@given(SHAPES, st.data())
def test_reductions_over_any_axes(shape: tuple[int, ...], data: st.DataObject) -> None:
    axes = tuple(data.draw(st.lists(st.sampled_from(range(len(shape))), unique=True)))
    reduction: Any = data.draw(st.sampled_from([jnp.sum, jnp.max]))
    check(lambda x: reduction(x, axis=axes), Aval("float32", shape))
    quantifier: Any = data.draw(st.sampled_from([jnp.any, jnp.all]))
    check(as_float(lambda m: quantifier(m, axis=axes)), Aval("bool", shape))


@LAW
@given(SHAPES, st.data())
def test_layout_changes_of_any_shape(shape: tuple[int, ...], data: st.DataObject) -> None:
    permutation = data.draw(st.permutations(range(len(shape))))
    check(lambda x: lax.transpose(x, permutation), Aval("float32", shape))
    squeezed = tuple(axis for axis, size in enumerate(shape) if size == 1)
    check(lambda x: lax.squeeze(x, squeezed), Aval("float32", shape))
    target = data.draw(st.lists(st.integers(1, 4), min_size=len(shape), max_size=5))
    chosen = data.draw(st.permutations(range(len(target))))[: len(shape)]
    dims = tuple(sorted(chosen))
    for size, dim in zip(shape, dims, strict=True):
        target[dim] = target[dim] if size == 1 else size
    check(lambda x: lax.broadcast_in_dim(x, target, dims), Aval("float32", shape))


@pytest.mark.parametrize("dtype", ["int32", "int64"])
def test_integers(dtype: str) -> None:
    def kernel(i: Any, j: Any) -> Any:
        count = (i > j).astype(i.dtype).sum(0) + jnp.maximum(i, -j).max(0) * jnp.minimum(i, 2 * j).min(0)
        chosen = jnp.where(count.astype(bool), count - jnp.int32(7).astype(i.dtype), lax.cumsum(i, 1)[0])
        return chosen.astype(jnp.float32) + (i == j).any(0) + (i != j).all(0) + lax.div(i, j).prod(0)

    check(kernel, Aval(dtype, (4, 3)), Aval(dtype, (4, 3)))


def test_literals_of_all_kinds_are_exact() -> None:
    def kernel(i: Any, x: Any) -> Any:
        return jnp.where(i > -2_000_000_000, jnp.where(x < 1, x, -jnp.inf), jnp.nan).sum(0)

    program = imported(flat(kernel, Z, X)).program
    literals = [o for e in program.equations for o in e.operands if not isinstance(o, Var)]
    assert [literal.model_dump(mode="json") for literal in literals] == [
        {"int": "-2000000000", "dtype": "int32"},
        {"real": {"num": "1", "den": "1"}, "dtype": "float32"},
        {"infinity": "negative", "dtype": "float32"},
        {"nan": True, "dtype": "float32"},
    ]
    assert Program.model_validate_json(program.model_dump_json()) == program


@LAW
@given(st.data())
def test_reshapes_to_any_shape(data: st.DataObject) -> None:
    factors = data.draw(st.lists(st.sampled_from([1, 1, 2, 2, 3]), max_size=5))

    def grouped() -> tuple[int, ...]:
        sizes: list[int] = []
        for factor in factors:
            if sizes and data.draw(st.booleans()):
                sizes[-1] *= factor
            else:
                sizes.append(factor)
        return tuple(sizes)

    source, target = grouped(), grouped()
    check(lambda x: lax.reshape(x, target), Aval("float32", source))


@LAW
@given(SHAPES, st.data())
def test_slices_reversals_and_concatenations(shape: tuple[int, ...], data: st.DataObject) -> None:
    starts = [data.draw(st.integers(0, size - 1)) for size in shape]
    limits = [data.draw(st.integers(start + 1, size)) for start, size in zip(starts, shape, strict=True)]
    axis = data.draw(st.integers(0, len(shape) - 1))
    check(lambda x: lax.slice(x, starts, limits), Aval("float32", shape))
    reverse: Any = data.draw(st.sampled_from([jnp.flip, lax.cumsum, lax.cummin]))
    check(lambda x: reverse(x, axis), Aval("float32", shape))
    other = tuple(data.draw(st.integers(1, 3)) if k == axis else size for k, size in enumerate(shape))
    check(lambda x, y: jnp.concatenate([x, y, x], axis), Aval("float32", shape), Aval("float32", other))


@LAW
@given(st.data())
def test_dot_general_over_any_axes(data: st.DataObject) -> None:
    """Axes are batch, contracted or free, and lie in any order in both operands."""
    sizes = st.lists(st.integers(1, 3), max_size=2)
    batch, contracted, free_left, free_right = (data.draw(sizes) for _ in range(4))
    left, right = batch + contracted + free_left, batch + contracted + free_right
    left_order = data.draw(st.permutations(range(len(left))))
    right_order = data.draw(st.permutations(range(len(right))))

    def axes(order: Any, start: int, count: int) -> tuple[int, ...]:
        return tuple(order.index(axis) for axis in range(start, start + count))

    b, c = len(batch), len(contracted)
    numbers = (
        (axes(left_order, b, c), axes(right_order, b, c)),
        (axes(left_order, 0, b), axes(right_order, 0, b)),
    )
    check(
        lambda x, y: lax.dot_general(x, y, numbers),
        Aval("float32", tuple(left[axis] for axis in left_order)),
        Aval("float32", tuple(right[axis] for axis in right_order)),
    )
