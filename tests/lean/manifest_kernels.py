"""Kernels as a manifest declares them, with names that are awkward in Lean."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import jax.numpy as jnp

from maskpool_verify.frontend import TracedKernel
from maskpool_verify.importer import import_program
from maskpool_verify.lowering import lowered
from maskpool_verify.manifest import ArgumentSpec, Kernel, Role, Shape
from maskpool_verify.tracing import Aval, trace

Array = Any


def spec(name: str, role: Role, *shape: str | int, dtype: str = "float32") -> ArgumentSpec:
    return ArgumentSpec.model_validate({"name": name, "role": role, "dtype": dtype, "shape": shape})


def kernel(
    name: str,
    arguments: tuple[ArgumentSpec, ...],
    shapes: tuple[Shape, ...] = (),
    *,
    rows: str = "n",
    result: tuple[str | int, ...] | None = None,
) -> Kernel:
    """A kernel at the given shapes; for all sizes if there are none."""
    declared = Kernel(
        name=name,
        function=f"kernels/{name}.py:{name}",
        spec="attention",
        rows=rows,
        shapes=shapes,
        arguments=arguments,
        result=result,
    )
    return declared if shapes else declared.model_copy(update={"shapes": (declared.open_shape,)})


def everywhere(kernel: Kernel) -> Kernel:
    """The kernel for all sizes, and at its shapes as well."""
    return kernel.model_copy(update={"shapes": (kernel.open_shape, *kernel.shapes)})


def scaled_pool(mask: Array, junk_where: Array, where: Array, t3: Array, h_logits: Array) -> Array:
    """Features ``where`` of rank three; the parameters do not change the value."""
    w = jnp.where(mask, jnp.exp(junk_where), 0.0) * jnp.exp(t3)
    z = jnp.sum(w)
    pooled = jnp.einsum("n,ndk->dk", w, where) + 0.0 * jnp.sum(h_logits)
    return jnp.where(z > 0, pooled / jnp.where(z > 0, z, 1.0), 0.0)


def scalar_pool(fun: Array, at: Array, program: Array) -> Array:
    """Features of rank one, selected by the mask like the logits."""
    w = jnp.where(program, jnp.exp(at), 0.0)
    z = jnp.sum(w)
    return jnp.where(z > 0, jnp.dot(w, jnp.where(program, fun, 0.0)) / z, 0.0)


def heads_pool(fun: Array, share: Array, extra: Array) -> Array:
    """Bags in a batch with the rows last, and heads that share the features; the mask is of integers."""
    weights = jnp.where(extra[:, None, :] != 0, jnp.exp(share), 0.0)
    total = jnp.sum(weights, axis=2)[:, :, None]
    pooled = jnp.einsum("bhn,bdn->bhd", weights, fun)
    return jnp.where(total > 0, pooled / jnp.where(total > 0, total, 1.0), 0.0)


def special_pool(features: Array, logits: Array, mask: Array) -> Array:
    """Right at all sizes but three, and with exchanged summands at four."""
    w = jnp.where(mask, jnp.exp(logits), 0.0)
    z = jnp.sum(w)
    pooled = jnp.dot(w, features) + (1.0 if mask.shape[0] == 3 else 0.0)
    if mask.shape[0] == 4:
        pooled = 0.0 + jnp.dot(w, features)
    return jnp.where(z > 0, pooled / z, 0.0)


def grid_pool(features: Array, logits: Array, mask: Array) -> Array:
    """Bags in two batch axes."""
    weights = jnp.where(mask, jnp.exp(logits), 0.0)
    total = jnp.sum(weights, axis=2)[:, :, None]
    pooled = jnp.einsum("bcn,bcnd->bcd", weights, features)
    return jnp.where(total > 0, pooled / jnp.where(total > 0, total, 1.0), 0.0)


def masked_heads_pool(features: Array, logits: Array, mask: Array) -> Array:
    """Heads with a mask each, that share the features."""
    weights = jnp.where(mask, jnp.exp(logits).T, 0.0)
    total = jnp.sum(weights, axis=1)[:, None]
    pooled = weights @ features
    return jnp.where(total > 0, pooled / jnp.where(total > 0, total, 1.0), 0.0)


MATRICES = kernel(
    "where",
    (
        spec("mask", "mask", "n", dtype="bool"),
        spec("junk_where", "logits", "n"),
        spec("where", "features", "n", "d", 2),
        spec("t3", "parameter"),
        spec("h_logits", "parameter", "d"),
    ),
    ({"n": 2, "d": 3}, {"n": 3, "d": 3}, {"n": 5, "d": 3}),
)
SCALARS = kernel(
    "scalar_pool",
    (
        spec("fun", "features", "n", dtype="float16"),
        spec("at", "logits", "n", dtype="float16"),
        spec("program", "mask", "n", dtype="bool"),
    ),
    ({"n": 3},),
)
HEADS = kernel(
    "end",
    (
        spec("fun", "features", "program", "at", "t1"),
        spec("share", "logits", "program", "extra", "t1"),
        spec("extra", "mask", "program", "t1", dtype="int32"),
    ),
    rows="t1",
)
"""For all sizes, under names that mean something else in Lean or in the generated files."""

GRID = kernel(
    "grid",
    (
        spec("features", "features", "b", "c", "n", "d"),
        spec("logits", "logits", "b", "c", "n"),
        spec("mask", "mask", "b", "c", "n", dtype="bool"),
    ),
)
MASKED_HEADS = kernel(
    "masked_heads",
    (
        spec("features", "features", "n", "d"),
        spec("logits", "logits", "n", "h"),
        spec("mask", "mask", "h", "n", dtype="bool"),
    ),
)

SPECIAL = everywhere(
    kernel(
        "special_pool",
        (
            spec("features", "features", "n"),
            spec("logits", "logits", "n"),
            spec("mask", "mask", "n", dtype="bool"),
        ),
        ({"n": 2}, {"n": 3}, {"n": 4}),
    )
)
"""Over any arithmetic an instance is the program itself: not even the order of summands may differ."""

FUNCTIONS = {
    MATRICES.name: scaled_pool,
    SCALARS.name: scalar_pool,
    HEADS.name: heads_pool,
    GRID.name: grid_pool,
    MASKED_HEADS.name: masked_heads_pool,
    SPECIAL.name: special_pool,
}


def traces(kernel: Kernel) -> tuple[TracedKernel, ...]:
    """The traces of one of the kernels above at its shapes."""
    found = []
    for shape in kernel.shapes:
        inputs = [Aval(argument.dtype, argument.sizes(shape)) for argument in kernel.arguments]
        flat = lowered(trace(FUNCTIONS[kernel.name], inputs, label="Kernel", root=Path(__file__).parent))
        imported = import_program(flat, kernel, shape)
        found.append(TracedKernel(flat, imported.program, tuple(map(str, imported.sources))))
    return tuple(found)
