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

from maskpool_verify.tracing import Aval


@dataclass(frozen=True)
class Case:
    """``values`` are those of the readable function, ``operations`` the right-hand sides of the program."""

    function: Callable[..., Any]
    inputs: tuple[Aval, ...]
    values: tuple[str, ...]
    operations: tuple[str, ...]


def f32(*shape: int) -> Aval:
    return Aval("float32", shape)


def truth(*shape: int) -> Aval:
    return Aval("bool", shape)


def _number(p: Any) -> Any:
    return lax.convert_element_type(p, jnp.float32)


TO_NUMBER = "fun j => if t{0} j then Ops.lit 1 1 else Ops.lit 0 1"
CONVERT = ".convert_element_type (new_dtype := .float .f32) v#{0}"
X, P = f32(2, 2), truth(2, 2)


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
    "f32_f16": _conversion("float32", "float16", "f32", "f16"),
    "f16_f32": _conversion("float16", "float32", "f16", "f32"),
    "f32_bf16": _conversion("float32", "bfloat16", "f32", "bf16"),
    "f64_f32": _conversion("float64", "float32", "f64", "f32"),
}
