"""One small JAX function for every primitive and every way to use it, with both Lean readings.

The expected texts are written from what JAX documents about the primitive: where an entry of the result is
read from the operands. Index ``j`` of a result has the coordinates ``j.1``, ``j.2.1``, ``j.2.2.1``; ``k``
runs over the axes that are summed.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
from jax import lax
from jax.core import max_dim

from maskpool_verify.tracing import Aval


@dataclass(frozen=True)
class Case:
    """``values`` are those of the readable function, ``operations`` the right-hand sides of the program."""

    function: Callable[..., Any]
    inputs: tuple[Aval, ...]
    values: tuple[str, ...]
    operations: tuple[str, ...]


def f32(*shape: int | str) -> Aval:
    return Aval("float32", shape)


def truth(*shape: int | str) -> Aval:
    return Aval("bool", shape)


def i32(*shape: int | str) -> Aval:
    return Aval("int32", shape)


def _number(p: Any) -> Any:
    return lax.convert_element_type(p, jnp.float32)


TO_NUMBER = "fun j => if t{0} j then Ops.lit 1 1 else Ops.lit 0 1"
CONVERT = ".convert_element_type (new_dtype := .float .f32) v#{0}"
X, P, Z = f32(2, 2), truth(2, 2), i32(2, 2)


def _unary(name: str, function: Callable[..., Any]) -> Case:
    return Case(function, (X,), (f"fun j => Ops.{name} (x0 j)",), (f".{name} v#0",))


def _binary(name: str, function: Callable[..., Any]) -> Case:
    return Case(function, (X, X), (f"fun j => Ops.{name} (x0 j) (x1 j)",), (f".{name} v#0 v#1",))


def _comparison(name: str, function: Callable[..., Any], entry: str) -> Case:
    return Case(
        lambda x, y: _number(function(x, y)),
        (X, X),
        (f"fun j => {entry}", TO_NUMBER.format(2)),
        (f".{name} v#0 v#1", CONVERT.format(2)),
    )


def _connective(name: str, function: Callable[..., Any], entry: str) -> Case:
    return Case(
        lambda p, q: _number(function(p, q)),
        (P, P),
        (f"fun j => {entry}", TO_NUMBER.format(2)),
        (f".{name} v#0 v#1", CONVERT.format(2)),
    )


def _function(name: str, function: Callable[..., Any]) -> Case:
    return Case(function, (X,), (f"fun j => Ops.apply .{name} (x0 j)",), (f".{name} v#0",))


def _of_ints(name: str, function: Callable[..., Any], entry: str) -> Case:
    return Case(
        lambda a, b: _number(function(a, b)),
        (Z, Z),
        (f"fun j => {entry}", "fun j => Ops.lit (t2 j) 1"),
        (f".{name} v#0 v#1", CONVERT.format(2)),
    )


def _int_comparison(name: str, function: Callable[..., Any], entry: str) -> Case:
    return Case(
        lambda a, b: _number(function(a, b)),
        (Z, Z),
        (f"fun j => {entry}", TO_NUMBER.format(2)),
        (f".{name} v#0 v#1", CONVERT.format(2)),
    )


def _int_reduction(name: str, function: Callable[..., Any], form: str) -> Case:
    return Case(
        lambda a: _number(function(a, axis=0)),
        (Z,),
        (f"fun j => {form} fun k : Index [2] => x0 (k.1, j.1, ())", "fun j => Ops.lit (t1 j) 1"),
        (f".{name} (axes := [0]) v#0", CONVERT.format(1)),
    )


def _dot(left: Aval, right: Aval, numbers: Any, value: str, dimension_numbers: str) -> Case:
    return Case(
        lambda x, y: lax.dot_general(x, y, numbers),
        (left, right),
        (value,),
        (f".dot_general (dimension_numbers := {dimension_numbers}) v#0 v#1",),
    )


def _conversion(old: str, new: str, short_old: str, short_new: str) -> Case:
    return Case(
        lambda x: lax.convert_element_type(x, jnp.dtype(new)),
        (Aval(old, (2,)),),
        (f"fun j => Ops.convert .{short_old} .{short_new} (x0 j)",),
        (f".convert_element_type (new_dtype := .float .{short_new}) v#0",),
    )


CASES: dict[str, Case] = {
    "neg": _unary("neg", lax.neg),
    "exp": _unary("exp", jnp.exp),
    "log": _unary("log", jnp.log),
    "tanh": _unary("tanh", jnp.tanh),
    "logistic": _unary("logistic", jax.nn.sigmoid),
    "add": _binary("add", lax.add),
    "sub": _binary("sub", lax.sub),
    "mul": _binary("mul", lax.mul),
    "div": _binary("div", lax.div),
    "max": _binary("max", lax.max),
    "min": _binary("min", lax.min),
    "lt": _comparison("lt", lax.lt, "Ops.lt (x0 j) (x1 j)"),
    "le": _comparison("le", lax.le, "Ops.le (x0 j) (x1 j)"),
    "gt": _comparison("gt", lax.gt, "Ops.lt (x1 j) (x0 j)"),
    "ge": _comparison("ge", lax.ge, "Ops.le (x1 j) (x0 j)"),
    "eq": _comparison("eq", lax.eq, "Ops.eq (x0 j) (x1 j)"),
    "ne": _comparison("ne", lax.ne, "!Ops.eq (x0 j) (x1 j)"),
    "and": _connective("and", lax.bitwise_and, "x0 j && x1 j"),
    "or": _connective("or", lax.bitwise_or, "x0 j || x1 j"),
    "not": Case(
        lambda p: _number(lax.bitwise_not(p)),
        (P,),
        ("fun j => !(x0 j)", TO_NUMBER.format(1)),
        (".not v#0", CONVERT.format(1)),
    ),
    # lax.select(p, x, y) is x where p is true; select_n has the operand for false first.
    "select_n": Case(
        lax.select,
        (P, X, X),
        ("fun j => if x0 j then x1 j else x2 j",),
        (".select_n v#0 v#2 v#1",),
    ),
    "select_n_bool": Case(
        lambda p, q, r: _number(lax.select(p, q, r)),
        (P, P, P),
        ("fun j => if x0 j then x1 j else x2 j", TO_NUMBER.format(3)),
        (".select_n v#0 v#2 v#1", CONVERT.format(3)),
    ),
    "literal": Case(
        lambda x: x * 0.5,
        (X,),
        ("fun j => Ops.mul (x0 j) (Ops.lit 1 2)",),
        (".mul v#0 (.real 1 2)",),
    ),
    # 0.1 is stored as the nearest binary32 number, 13421773 / 2^27.
    "literal_negative": Case(
        lambda x: -0.1 - x,
        (X,),
        ("fun j => Ops.sub (Ops.lit (-13421773) 134217728) (x0 j)",),
        (".sub (.real (-13421773) 134217728) v#0",),
    ),
    "literal_returned": Case(lambda x: jnp.float32(-2.5), (X,), (), ()),
    "scalar_operand": Case(
        lax.mul_p.bind,
        (X, f32()),
        ("fun _ => x1 ()", "fun j => Ops.mul (x0 j) (t2 j)"),
        (
            ".broadcast_in_dim (shape := [2, 2]) (broadcast_dimensions := []) v#1",
            ".mul v#0 v#2",
        ),
    ),
    "broadcast_rank": Case(
        lambda x: lax.broadcast_in_dim(x, (2, 3, 2), (2,)),
        (f32(2),),
        ("fun j => x0 (j.2.2.1, ())",),
        (".broadcast_in_dim (shape := [2, 3, 2]) (broadcast_dimensions := [2]) v#0",),
    ),
    "broadcast_size": Case(
        lambda x: lax.broadcast_in_dim(x, (2, 3, 2), (0, 2)),
        (f32(1, 2),),
        ("fun j => x0 (0, j.2.2.1, ())",),
        (".broadcast_in_dim (shape := [2, 3, 2]) (broadcast_dimensions := [0, 2]) v#0",),
    ),
    "broadcast_scalar": Case(
        lambda x: lax.broadcast_in_dim(x, (3,), ()),
        (f32(),),
        ("fun _ => x0 ()",),
        (".broadcast_in_dim (shape := [3]) (broadcast_dimensions := []) v#0",),
    ),
    "reshape_add": Case(
        lambda x: lax.reshape(x, (1, 2, 1, 3)),
        (f32(2, 3),),
        ("fun j => x0 (j.2.1, j.2.2.2.1, ())",),
        (".reshape (new_sizes := [1, 2, 1, 3]) v#0",),
    ),
    "reshape_remove": Case(
        lambda x: lax.reshape(x, (2, 2)),
        (f32(2, 1, 2, 1),),
        ("fun j => x0 (j.1, 0, j.2.1, 0, ())",),
        (".reshape (new_sizes := [2, 2]) v#0",),
    ),
    "squeeze": Case(
        lambda x: lax.squeeze(x, (0, 2)),
        (f32(1, 2, 1, 2),),
        ("fun j => x0 (0, j.1, 0, j.2.1, ())",),
        (".squeeze (dimensions := [0, 2]) v#0",),
    ),
    "squeeze_one_of_two": Case(
        lambda x: lax.squeeze(x, (1,)),
        (f32(1, 1, 2),),
        ("fun j => x0 (j.1, 0, j.2.1, ())",),
        (".squeeze (dimensions := [1]) v#0",),
    ),
    # Axis i of the result is axis permutation[i] of the operand: a cycle tells it from its inverse.
    "transpose": Case(
        lambda x: lax.transpose(x, (2, 0, 1)),
        (f32(2, 2, 2),),
        ("fun j => x0 (j.2.1, j.2.2.1, j.1, ())",),
        (".transpose (permutation := [2, 0, 1]) v#0",),
    ),
    "reduce_sum": Case(
        lambda x: jnp.sum(x, axis=1),
        (f32(2, 2, 2),),
        ("fun j => fsum fun k : Index [2] => x0 (j.1, k.1, j.2.1, ())",),
        (".reduce_sum (axes := [1]) v#0",),
    ),
    "reduce_sum_axes": Case(
        lambda x: jnp.sum(x, axis=(0, 2)),
        (f32(2, 3, 2),),
        ("fun j => fsum fun k : Index [2, 2] => x0 (k.1, j.1, k.2.1, ())",),
        (".reduce_sum (axes := [0, 2]) v#0",),
    ),
    "reduce_max": Case(
        jnp.max,
        (f32(3, 2),),
        ("fun _ => fmax fun k : Index [3, 2] => x0 (k.1, k.2.1, ())",),
        (".reduce_max (axes := [0, 1]) v#0",),
    ),
    "reduce_or": Case(
        lambda p: _number(jnp.any(p, axis=0)),
        (P,),
        ("fun j => fany fun k : Index [2] => x0 (k.1, j.1, ())", TO_NUMBER.format(1)),
        (".reduce_or (axes := [0]) v#0", CONVERT.format(1)),
    ),
    "reduce_and": Case(
        lambda p: _number(jnp.all(p, axis=1)),
        (P,),
        ("fun j => fall fun k : Index [2] => x0 (j.1, k.1, ())", TO_NUMBER.format(1)),
        (".reduce_and (axes := [1]) v#0", CONVERT.format(1)),
    ),
    "dot_matrices": _dot(
        f32(2, 2),
        f32(2, 2),
        (((1,), (0,)), ((), ())),
        "fun j => fdot (fun k : Index [2] => x0 (j.1, k.1, ())) (fun k => x1 (k.1, j.2.1, ()))",
        "(([1], [0]), ([], []))",
    ),
    "dot_batch": _dot(
        f32(2, 2, 2),
        f32(2, 2, 2),
        (((2,), (1,)), ((1,), (0,))),
        "fun j => fdot (fun k : Index [2] => x0 (j.2.1, j.1, k.1, ())) (fun k => x1 (j.1, k.1, j.2.2.1, ()))",
        "(([2], [1]), ([1], [0]))",
    ),
    "dot_two_axes": _dot(
        f32(2, 3, 2),
        f32(2, 2),
        (((2, 0), (0, 1)), ((), ())),
        "fun j => fdot (fun k : Index [2, 2] => x0 (k.2.1, j.1, k.1, ())) (fun k => x1 (k.1, k.2.1, ()))",
        "(([2, 0], [0, 1]), ([], []))",
    ),
    "dot_outer": _dot(
        f32(2),
        f32(2),
        (((), ()), ((), ())),
        "fun j => fdot (fun _ : Index [] => x0 (j.1, ())) (fun _ => x1 (j.2.1, ()))",
        "(([], []), ([], []))",
    ),
    **{
        name: _function(name, function)
        for name, function in {
            "sqrt": lax.sqrt,
            "rsqrt": lax.rsqrt,
            "cbrt": lax.cbrt,
            "exp2": lax.exp2,
            "expm1": lax.expm1,
            "log1p": lax.log1p,
            "erf": lax.erf,
            "erfc": lax.erfc,
            "erf_inv": lax.erf_inv,
            "abs": lax.abs,
            "sign": lax.sign,
            "floor": lax.floor,
            "ceil": lax.ceil,
            "sin": lax.sin,
            "cos": lax.cos,
            "tan": lax.tan,
            "asin": lax.asin,
            "acos": lax.acos,
            "atan": lax.atan,
            "sinh": lax.sinh,
            "cosh": lax.cosh,
            "asinh": lax.asinh,
            "acosh": lax.acosh,
            "atanh": lax.atanh,
        }.items()
    },
    "is_finite": Case(
        lambda x: _number(lax.is_finite(x)),
        (X,),
        ("fun j => Ops.isFinite (x0 j)", TO_NUMBER.format(1)),
        (".is_finite v#0", CONVERT.format(1)),
    ),
    "xor": _connective("xor", lax.bitwise_xor, "x0 j ^^ x1 j"),
    # Integers: Lean's own operations. XLA truncates a quotient, and gives -1 for x / 0.
    "int_add": _of_ints("add", lax.add, "x0 j + x1 j"),
    "int_sub": _of_ints("sub", lax.sub, "x0 j - x1 j"),
    "int_mul": _of_ints("mul", lax.mul, "x0 j * x1 j"),
    "int_div": _of_ints("div", lax.div, "if x1 j = 0 then -1 else Int.tdiv (x0 j) (x1 j)"),
    "int_max": _of_ints("max", lax.max, "max (x0 j) (x1 j)"),
    "int_min": _of_ints("min", lax.min, "min (x0 j) (x1 j)"),
    "int_lt": _int_comparison("lt", lax.lt, "decide (x0 j < x1 j)"),
    "int_le": _int_comparison("le", lax.le, "decide (x0 j ≤ x1 j)"),
    "int_gt": _int_comparison("gt", lax.gt, "decide (x1 j < x0 j)"),
    "int_ge": _int_comparison("ge", lax.ge, "decide (x1 j ≤ x0 j)"),
    "int_eq": _int_comparison("eq", lax.eq, "decide (x0 j = x1 j)"),
    "int_ne": _int_comparison("ne", lax.ne, "!decide (x0 j = x1 j)"),
    "int_sum": _int_reduction("reduce_sum", jnp.sum, "isum"),
    "int_prod": _int_reduction("reduce_prod", jnp.prod, "iprod"),
    "int_max_of": _int_reduction("reduce_max", jnp.max, "imax (-2147483648)"),
    "int_min_of": _int_reduction("reduce_min", jnp.min, "imin 2147483647"),
    "int_literal": Case(
        lambda a: _number(a - 3),
        (Z,),
        ("fun j => x0 j - 3", "fun j => Ops.lit (t1 j) 1"),
        (".sub v#0 (.int 3)", CONVERT.format(1)),
    ),
    "int_literal_converted": Case(
        lambda p, x: jnp.where(p, x, -2),
        (P, X),
        ("fun _ => Ops.lit (-2) 1", "fun _ => t2 ()", "fun j => if x0 j then x1 j else t3 j"),
        (
            ".convert_element_type (new_dtype := .float .f32) (.scalarInt (-2) : Arg _ (i32 []))",
            ".broadcast_in_dim (shape := [2, 2]) (broadcast_dimensions := []) v#2",
            ".select_n v#0 v#3 v#1",
        ),
    ),
    "bool_to_int": Case(
        lambda p: _number(lax.convert_element_type(p, jnp.int32)),
        (P,),
        ("fun j => if x0 j then 1 else 0", "fun j => Ops.lit (t1 j) 1"),
        (".convert_element_type (new_dtype := .int .i32) v#0", CONVERT.format(1)),
    ),
    "int_to_bool": Case(
        lambda a: _number(lax.convert_element_type(a, jnp.bool)),
        (Z,),
        ("fun j => !decide (x0 j = 0)", TO_NUMBER.format(1)),
        (".convert_element_type (new_dtype := .bool) v#0", CONVERT.format(1)),
    ),
    "float_to_bool": Case(
        lambda x: _number(lax.convert_element_type(x, jnp.bool)),
        (X,),
        ("fun j => !Ops.eq (x0 j) (Ops.lit 0 1)", TO_NUMBER.format(1)),
        (".convert_element_type (new_dtype := .bool) v#0", CONVERT.format(1)),
    ),
    "int64": Case(
        lambda a: lax.convert_element_type(lax.convert_element_type(jnp.max(a), jnp.int32), jnp.float64),
        (Aval("int64", (3,)),),
        (
            "fun _ => imax (-9223372036854775808) fun k : Index [3] => x0 (k.1, ())",
            "fun j => t1 j",
            "fun j => Ops.lit (t2 j) 1",
        ),
        (
            ".reduce_max (axes := [0]) v#0",
            ".convert_element_type (new_dtype := .int .i32) v#1",
            ".convert_element_type (new_dtype := .float .f64) v#2",
        ),
    ),
    # exp(-inf) is not simplified; max(-inf, x) is x.
    "infinity": Case(
        lambda p, x: jnp.max(lax.select(p, x, jnp.full((2, 2), -jnp.inf)), initial=-jnp.inf),
        (P, X),
        (
            "fun _ => Ops.infinity true",
            "fun j => if x0 j then x1 j else t2 j",
            "fun _ => fmax fun k : Index [2, 2] => t3 (k.1, k.2.1, ())",
        ),
        (
            ".broadcast_in_dim (shape := [2, 2]) (broadcast_dimensions := []) (.scalarInfinity true)",
            ".select_n v#0 v#2 v#1",
            ".reduce_max (axes := [0, 1]) v#3",
        ),
    ),
    "infinity_compared": Case(
        lambda x: _number(x < jnp.inf),
        (X,),
        ("fun j => Ops.lt (x0 j) (Ops.infinity false)", TO_NUMBER.format(1)),
        (".lt v#0 (.infinity false)", CONVERT.format(1)),
    ),
    "nan": Case(
        lambda p, x: lax.select(p, x, jnp.full((2, 2), jnp.nan)),
        (P, X),
        ("fun _ => Ops.nan", "fun j => if x0 j then x1 j else t2 j"),
        (
            ".broadcast_in_dim (shape := [2, 2]) (broadcast_dimensions := []) .scalarNan",
            ".select_n v#0 v#2 v#1",
        ),
    ),
    "nan_compared": Case(
        lambda x: _number(x == jnp.nan),
        (X,),
        ("fun j => Ops.eq (x0 j) Ops.nan", TO_NUMBER.format(1)),
        (".eq v#0 .nan", CONVERT.format(1)),
    ),
    "reduce_prod": Case(
        lambda x: jnp.prod(x, axis=1),
        (X,),
        ("fun j => fprod fun k : Index [2] => x0 (j.1, k.1, ())",),
        (".reduce_prod (axes := [1]) v#0",),
    ),
    "reduce_min": Case(
        lambda x: jnp.min(x, axis=0),
        (X,),
        ("fun j => fmin fun k : Index [2] => x0 (k.1, j.1, ())",),
        (".reduce_min (axes := [0]) v#0",),
    ),
    **{
        name: Case(
            function,
            (f32(2, 3, 2),),
            (f"fun j => fcumulative {form} (fun k : Index [3] => x0 (j.1, k.1, j.2.2.1, ())) j.2.1.val",),
            (f".{name} (axis := 1) v#0",),
        )
        for name, function, form in (
            ("cumsum", lambda x: lax.cumsum(x, 1), ".sum"),
            ("cumprod", lambda x: lax.cumprod(x, 1), ".prod"),
            ("cummax", lambda x: lax.cummax(x, 1), ".max"),
            ("cummin", lambda x: lax.cummin(x, 1), ".min"),
        )
    },
    "int_cumsum": Case(
        lambda a: _number(lax.cumsum(a, 0)),
        (Z,),
        (
            "fun j => icumulative .i32 .sum (fun k : Index [2] => x0 (k.1, j.2.1, ())) j.1.val",
            "fun j => Ops.lit (t1 j) 1",
        ),
        (".cumsum (axis := 0) v#0", CONVERT.format(1)),
    ),
    "iota": Case(
        lambda x: x + lax.broadcasted_iota(jnp.float32, (2, 2), 1),
        (X,),
        ("fun j => Ops.lit j.2.1.val 1", "fun j => Ops.add (x0 j) (t1 j)"),
        (".iota (shape := [2, 2]) (dimension := 1)", ".add v#0 v#1"),
    ),
    "int_iota": Case(
        lambda x: x + _number(lax.broadcasted_iota(jnp.int32, (2, 2), 0)),
        (X,),
        ("fun j => j.1.val", "fun j => Ops.lit (t1 j) 1", "fun j => Ops.add (x0 j) (t2 j)"),
        (".iota (shape := [2, 2]) (dimension := 0)", CONVERT.format(1), ".add v#0 v#2"),
    ),
    "slice": Case(
        lambda x: lax.slice(x, (1, 0, 0), (3, 3, 1)),
        (f32(4, 3, 2),),
        (
            "fun j => if inside : 1 + j.1.val < 4 then if inside2 : j.2.2.1.val < 2 then"
            " x0 (⟨1 + j.1.val, inside⟩, j.2.1, ⟨j.2.2.1.val, inside2⟩, ())"
            " else Ops.lit 0 1 else Ops.lit 0 1",
        ),
        (".slice (start_indices := [1, 0, 0]) v#0",),
    ),
    "slice_strides": Case(
        lambda x: lax.slice(x, (1, 0), (6, 2), (2, 1)),
        (f32(7, 3),),
        (
            "fun j => if inside : 1 + 2 * j.1.val < 7 then if inside2 : j.2.1.val < 3 then"
            " x0 (⟨1 + 2 * j.1.val, inside⟩, ⟨j.2.1.val, inside2⟩, ()) else Ops.lit 0 1 else Ops.lit 0 1",
        ),
        (".slice (start_indices := [1, 0]) (strides := [2, 1]) v#0",),
    ),
    "rev": Case(
        lambda p: _number(lax.rev(p, (1,))),
        (P,),
        (
            "fun j => if inside : 2 - 1 - j.2.1.val < 2 then x0 (j.1, ⟨2 - 1 - j.2.1.val, inside⟩, ())"
            " else false",
            TO_NUMBER.format(1),
        ),
        (".rev (dimensions := [1]) v#0", CONVERT.format(1)),
    ),
    "concatenate": Case(
        lambda x, y: lax.concatenate([x, y], 1),
        (f32(2, 2), f32(2, 3)),
        (
            "fun j => if inside : j.2.1.val < 2 then x0 (j.1, ⟨j.2.1.val, inside⟩, ()) else"
            " if inside : j.2.1.val - 2 < 3 then x1 (j.1, ⟨j.2.1.val - 2, inside⟩, ()) else Ops.lit 0 1",
        ),
        (".concatenate (dimension := 1) v#0 v#1",),
    ),
    # Row-major order: the entry (a, b) of a 2 x 3 block is its number 3 a + b.
    "reshape_split": Case(
        lambda x: lax.reshape(x, (4, 2, 1, 3)),
        (f32(4, 6),),
        (
            "fun j => if inside : j.2.1.val * 3 + j.2.2.2.1.val < 6 then"
            " x0 (j.1, ⟨j.2.1.val * 3 + j.2.2.2.1.val, inside⟩, ()) else Ops.lit 0 1",
        ),
        (".reshape (new_sizes := [4, 2, 1, 3]) v#0",),
    ),
    "reshape_merge": Case(
        lambda x: lax.reshape(x, (24, 5)),
        (f32(4, 1, 2, 3, 5),),
        (
            "fun j => if inside : j.1.val / (2 * 3) < 4 then if inside2 : j.1.val / 3 % 2 < 2 then"
            " if inside3 : j.1.val % 3 < 3 then"
            " x0 (⟨j.1.val / (2 * 3), inside⟩, 0, ⟨j.1.val / 3 % 2, inside2⟩,"
            " ⟨j.1.val % 3, inside3⟩, j.2.1, ()) else Ops.lit 0 1 else Ops.lit 0 1 else Ops.lit 0 1",
        ),
        (".reshape (new_sizes := [24, 5]) v#0",),
    ),
    # Sizes that are left open.
    "dim_as_value": Case(
        lambda x: jnp.mean(x) * (2 * x.shape[0] - 1),
        (f32("n", "d"),),
        (
            "fun _ => d * n",
            "fun j => Ops.lit (t1 j) 1",
            "fun _ => fsum fun k : Index [n, d] => x0 (k.1, k.2.1, ())",
            "fun j => Ops.div (t3 j) (t2 j)",
            "fun _ => 2 * n - 1",
            "fun j => Ops.lit (t5 j) 1",
            "fun j => Ops.mul (t4 j) (t6 j)",
        ),
        (
            ".dim_as_value (dim := d * n)",
            CONVERT.format(1),
            ".reduce_sum (axes := [0, 1]) v#0",
            ".div v#3 v#2",
            ".dim_as_value (dim := 2 * n - 1)",
            CONVERT.format(5),
            ".mul v#4 v#6",
        ),
    ),
    "open_last_row": Case(
        lambda x: x[-1],
        (f32("n", "d"),),
        (
            "fun j => if inside : n - 1 + j.1.val < n then x0 (⟨n - 1 + j.1.val, inside⟩, j.2.1, ())"
            " else Ops.lit 0 1",
            "fun j => t1 (0, j.1, ())",
        ),
        (".slice (start_indices := [n - 1, 0]) v#0", ".squeeze (dimensions := [0]) v#1"),
    ),
    "open_strides": Case(
        lambda x: x[1::2],
        (f32("n", "d"),),
        (
            "fun j => if inside : 1 + 2 * j.1.val < n then x0 (⟨1 + 2 * j.1.val, inside⟩, j.2.1, ())"
            " else Ops.lit 0 1",
        ),
        (".slice (start_indices := [1, 0]) (strides := [2, 1]) v#0",),
    ),
    "open_operations": Case(
        lambda x: jnp.sum(x) * (x.shape[0] // 2 - 3 * (x.shape[1] % 3) + max_dim(x.shape[0] - 3, x.shape[1])),
        (f32("n", "d"),),
        (
            "fun _ => fsum fun k : Index [n, d] => x0 (k.1, k.2.1, ())",
            "fun _ => n / 2 + max (n - 3 : Int) d - 3 * (d % 3)",
            "fun j => Ops.lit (t2 j) 1",
            "fun j => Ops.mul (t1 j) (t3 j)",
        ),
        (
            ".reduce_sum (axes := [0, 1]) v#0",
            ".dim_as_value (dim := n / 2 + max (n - 3) d - 3 * (d % 3))",
            CONVERT.format(2),
            ".mul v#1 v#3",
        ),
    ),
    "open_concatenate": Case(
        lambda x: lax.concatenate([x[1:], x], 0),
        (f32("n", "d"),),
        (
            "fun j => if inside : 1 + j.1.val < n then x0 (⟨1 + j.1.val, inside⟩, j.2.1, ())"
            " else Ops.lit 0 1",
            "fun j => if inside : j.1.val < n - 1 then t1 (⟨j.1.val, inside⟩, j.2.1, ()) else"
            " if inside : j.1.val - (n - 1) < n then x0 (⟨j.1.val - (n - 1), inside⟩, j.2.1, ())"
            " else Ops.lit 0 1",
        ),
        (".slice (start_indices := [1, 0]) v#0", ".concatenate (dimension := 0) v#1 v#0"),
    ),
    "open_reshape": Case(
        lambda x: x.reshape(x.shape[0], -1).reshape(-1, 2, x.shape[1], x.shape[2]),
        (f32("n", "h", "d", 2),),
        (
            "fun j => if inside : j.2.1.val / (d * 2) < h then if inside2 : j.2.1.val / 2 % d < d then"
            " if inside3 : j.2.1.val % 2 < 2 then"
            " x0 (j.1, ⟨j.2.1.val / (d * 2), inside⟩, ⟨j.2.1.val / 2 % d, inside2⟩,"
            " ⟨j.2.1.val % 2, inside3⟩, ())"
            " else Ops.lit 0 1 else Ops.lit 0 1 else Ops.lit 0 1",
            "fun j => if inside : (j.2.1.val * h + j.2.2.1.val) * d + j.2.2.2.1.val < 2 * d * h then"
            " t1 (j.1, ⟨(j.2.1.val * h + j.2.2.1.val) * d + j.2.2.2.1.val, inside⟩, ()) else Ops.lit 0 1",
        ),
        (
            ".reshape (new_sizes := [n, 2 * d * h]) v#0",
            ".reshape (new_sizes := [n, 2, h, d]) v#1",
        ),
    ),
    "open_rows": Case(
        lambda x, m: jnp.sum(lax.cumsum(x, 0) * _number(lax.rev(m, (0,)))[:, None], 0),
        (f32("n", "d"), truth("n")),
        (
            "fun j => fcumulative .sum (fun k : Index [n] => x0 (k.1, j.2.1, ())) j.1.val",
            "fun j => if inside : n - 1 - j.1.val < n then x1 (⟨n - 1 - j.1.val, inside⟩, ()) else false",
            "fun j => if t3 j then Ops.lit 1 1 else Ops.lit 0 1",
            "fun j => t4 (j.1, ())",
            "fun j => t5 (j.1, 0, ())",
            "fun j => Ops.mul (t2 j) (t6 j)",
            "fun j => fsum fun k : Index [n] => t7 (k.1, j.1, ())",
        ),
        (
            ".cumsum (axis := 0) v#0",
            ".rev (dimensions := [0]) v#1",
            CONVERT.format(3),
            ".broadcast_in_dim (shape := [n, 1]) (broadcast_dimensions := [0]) v#4",
            ".broadcast_in_dim (shape := [n, d]) (broadcast_dimensions := [0, 1]) v#5",
            ".mul v#2 v#6",
            ".reduce_sum (axes := [0]) v#7",
        ),
    ),
    "f32_f16": _conversion("float32", "float16", "f32", "f16"),
    "f16_f32": _conversion("float16", "float32", "f16", "f32"),
    "f32_bf16": _conversion("float32", "bfloat16", "f32", "bf16"),
    "f64_f32": _conversion("float64", "float32", "f64", "f32"),
}
