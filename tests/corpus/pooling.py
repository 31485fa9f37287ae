"""Masked attention pooling in plain NumPy, and the transformations under which it does not change.

All arrays have a leading axis of samples. The order of the other axes is that of the manifest.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np
from expectations import Argument, Axis, Entry
from numpy.typing import NDArray

Array: TypeAlias = NDArray[Any]
Inputs: TypeAlias = Mapping[str, Array]
"""The arguments by name, each a stack of samples."""


def selected(entry: Entry, inputs: Inputs, rows: int) -> tuple[Array, tuple[Axis, ...]]:
    """Which rows count, and the axes of the answer after that of the samples."""
    argument = entry.selection
    value = inputs[argument.name]
    if argument.role == "length":
        return np.arange(rows) < value[..., None], (*argument.shape, entry.rows)
    return value != 0, argument.shape


def _read(array: Array, axes: Sequence[Axis], at: Mapping[Axis, int]) -> Array:
    """The entries at fixed coordinates; the sample and the axes that ``at`` does not name stay."""
    return array[(slice(None), *(at.get(axis, slice(None)) for axis in axes))]


def pool(entry: Entry, inputs: Inputs) -> tuple[Array, Array]:
    """The attention pooling of every bag; and where the bag has no selected row, in the same shape."""
    (features,) = entry.having("features")
    x = inputs[features.name]
    row_axis = features.shape.index(entry.rows)
    rows = x.shape[1 + row_axis]
    if given := entry.having("logits"):
        logits, logit_axes = inputs[given[0].name], given[0].shape
    else:
        logits = SCORES[entry.name](*(inputs[a.name] for a in entry.having("features", "parameter")))
        logit_axes = features.shape[: logits.ndim - 1]
    mask, mask_axes = selected(entry, inputs, rows)
    axes = entry.result_axes
    sizes = [_size(axis, entry, inputs) for axis in axes]
    result: Array = np.zeros((len(x), *sizes))
    empty: Array = np.zeros((len(x), *sizes), bool)
    for index in np.ndindex(*sizes):
        at = dict(zip(axes, index, strict=True))
        keep = _read(mask, mask_axes, at)
        weights = np.where(keep, np.exp(_read(logits, logit_axes, at)), 0.0)
        total = weights.sum(axis=1)
        mean = (weights * _read(x, features.shape, at)).sum(axis=1) / np.where(total > 0, total, 1.0)
        result[:, *index] = mean
        empty[:, *index] = ~keep.any(axis=1)
    return result, empty


def _size(axis: Axis, entry: Entry, inputs: Inputs) -> int:
    if isinstance(axis, int):
        return axis
    argument = next(argument for argument in entry.arguments if axis in argument.shape)
    return int(inputs[argument.name].shape[1 + argument.shape.index(axis)])


# -- other bags with the same result


def _row_axis(entry: Entry, argument: Argument) -> int | None:
    """The number of the row axis in a stack of samples."""
    return 1 + argument.shape.index(entry.rows) if entry.rows in argument.shape else None


def permuted(entry: Entry, inputs: Inputs, rows: int, random: np.random.Generator) -> dict[str, Array]:
    """The rows of every bag in another order, which keeps valid rows valid where there is a length."""
    batch = entry.batch_axes
    samples = len(next(iter(inputs.values())))
    sizes = [_size(axis, entry, inputs) for axis in batch]
    orders = random.permuted(np.broadcast_to(np.arange(rows), (samples, *sizes, rows)), axis=-1)
    if entry.selection.role == "length":
        assert entry.selection.shape == batch
        invalid = orders >= inputs[entry.selection.name][..., None]
        orders = np.take_along_axis(orders, np.argsort(invalid, axis=-1, kind="stable"), axis=-1)
        valid, _ = selected(entry, inputs, rows)
        assert (np.take_along_axis(valid, orders, axis=-1) == valid).all()
    result = dict(inputs)
    for argument in entry.arguments:
        if (axis := _row_axis(entry, argument)) is None:
            continue
        order = _aligned(orders, (*batch, entry.rows), argument.shape)
        value = inputs[argument.name]
        order = np.broadcast_to(
            order, (*(max(o, 1) for o in value.shape[:axis]), rows, *value.shape[axis + 1 :])
        )
        result[argument.name] = np.take_along_axis(value, order, axis=axis)
    return result


def _aligned(array: Array, axes: Sequence[Axis], to: Sequence[Axis]) -> Array:
    """``array`` with the axes ``to``, of size one where it has none."""
    assert [axis for axis in to if axis in axes] == sorted(axes, key=list(to).index)
    order = [1 + list(axes).index(axis) for axis in to if axis in axes]
    transposed = np.transpose(array, (0, *order))
    return np.expand_dims(transposed, [1 + k for k, axis in enumerate(to) if axis not in axes])


def padded(entry: Entry, inputs: Inputs, extra: int, random: np.random.Generator) -> dict[str, Array]:
    """``extra`` further rows at the end, masked, and with anything in them."""
    result = dict(inputs)
    for argument in entry.arguments:
        if (axis := _row_axis(entry, argument)) is None:
            continue
        value = inputs[argument.name]
        shape = (*value.shape[:axis], extra, *value.shape[axis + 1 :])
        scale = 5.0 if argument.role == "logits" else 10.0
        junk = np.zeros(shape) if argument.role == "mask" else scale * random.standard_normal(shape)
        result[argument.name] = np.concatenate([value, junk.astype(value.dtype)], axis=axis)
    return result


def refilled(entry: Entry, inputs: Inputs, rows: int, random: np.random.Generator) -> dict[str, Array]:
    """Something else in the masked rows."""
    mask, mask_axes = selected(entry, inputs, rows)
    result = dict(inputs)
    for argument in entry.having("features", "logits"):
        # An entry that several bags share counts if it counts for one of them.
        absent = tuple(1 + k for k, axis in enumerate(mask_axes) if axis not in argument.shape)
        counts = np.asarray(mask.any(axis=absent))
        kept = _aligned(counts, [axis for axis in mask_axes if axis in argument.shape], argument.shape)
        value = inputs[argument.name]
        scale = 5.0 if argument.role == "logits" else 10.0
        result[argument.name] = np.where(kept, value, scale * random.standard_normal(value.shape))
    return result


# -- the logits of kernels that compute them


def _sigmoid(x: Array) -> Array:
    return 1 / (1 + np.exp(-x))


def _gelu(x: Array) -> Array:
    phi = np.vectorize(lambda t: 0.5 * (1 + math.erf(t / math.sqrt(2))))
    return np.asarray(x * phi(x))


def _product(x: Array, matrix: Array) -> Array:
    """Rows times a matrix or a vector, for every sample."""
    subscripts = "s...d,sd->s..." if matrix.ndim == 2 else "s...d,sdk->s...k"
    return np.asarray(np.einsum(subscripts, x, matrix))


def _layers(x: Array, layers: Array, query: Array) -> Array:
    for number in range(layers.shape[1]):
        x = np.tanh(_product(x, layers[:, number]))
    return _product(x, query)


def _tanh(x: Array, hidden: Array, query: Array) -> Array:
    return _product(np.tanh(_product(x, hidden)), query)


SCORES: Mapping[str, Callable[..., Array]] = {
    "linear_scorer": lambda x, query, bias: _product(x, query) + bias[:, None],
    "tanh_scorer": _tanh,
    "gated_scorer": lambda x, value, gate, query: _product(
        np.tanh(_product(x, value)) * _sigmoid(_product(x, gate)), query
    ),
    "gated_split_scorer": lambda x, projection, query: _product(
        np.tanh(_product(x, projection[..., :4])) * _sigmoid(_product(x, projection[..., 4:])), query
    ),
    "relu_scorer": lambda x, hidden, bias, query: _product(
        np.maximum(_product(x, hidden) + bias[:, None], 0), query
    ),
    "temperature_scorer": lambda x, query, temperature: _product(x, query) / temperature[:, None],
    "scaled_dot_scorer": lambda x, query: _product(x, query) / math.sqrt(x.shape[2]),
    "cosine_scorer": lambda x, query: _product(x, query) / np.sqrt((x * x).sum(axis=2) + 1e-6),
    "distance_scorer": lambda x, center: -((x - center[:, None]) ** 2).sum(axis=2),
    "softplus_scorer": lambda x, hidden, query: _product(np.log(1 + np.exp(_product(x, hidden))), query),
    "gelu_scorer": lambda x, hidden, query: _product(_gelu(_product(x, hidden)), query),
    "clipped_scorer": lambda x, query: np.clip(_product(x, query), -5, 5),
    "stacked_layers_scorer": _layers,
    "zeroed_before_scorer": _tanh,
    "first_channel_scorer": lambda x: x[:, :, 0],
    "key_channels_scorer": lambda x, query: _product(x[:, :, 4:], query),
    "scored_batch": _tanh,
    "length_scorer": _tanh,
}
"""The logits as a function of the features and the parameters, in call order."""
