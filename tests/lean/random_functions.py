"""Random JAX functions over the supported primitives."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Any

import jax
import jax.numpy as jnp
from jax import lax

from maskpool_verify.tracing import Aval

SIZES = (1, 2, 2, 3, 3)
"""Few and small, so that many axes have the same size and could be exchanged."""
LITERALS = (0.0, 1.0, -1.0, 0.5, -2.75, 3.0)
MAX_RANK = 4

Array = Any


def random_function(seed: int) -> tuple[Callable[..., Array], tuple[Aval, ...]]:
    """A function of one to three arrays of some fifteen steps, and the types of its arguments."""
    random = Random(seed)
    dtype = random.choice(("float32", "float32", "float64", "float16", "bfloat16"))
    shapes = [
        [random.choice(SIZES) for _ in range(random.randint(0, 3))] for _ in range(random.randint(1, 2))
    ]
    inputs = [Aval(dtype, tuple(shape)) for shape in shapes]
    inputs.append(Aval("bool", random.choice(inputs).shape))
    random.shuffle(inputs)
    count = random.randint(14, 20)
    second = random.randrange(2**32)

    def function(*arrays: Array) -> Array:
        return _Walk(Random(second), list(arrays)).run(count)

    return function, tuple(inputs)


class _Walk:
    """The arrays so far; a step combines some of them, most often recent ones, into another."""

    def __init__(self, random: Random, arrays: list[Array]) -> None:
        self.random = random
        self.arrays = arrays
        self.unused = set(range(len(arrays)))

    def run(self, count: int) -> Array:
        """The last of ``count`` results; what it does not depend on is dropped by the tracer."""
        while count:
            result = self.random.choice(_STEPS)(self)
            if result is not None and result.ndim <= MAX_RANK and result.size <= 200:
                self.arrays.append(result)
                self.unused.add(len(self.arrays) - 1)
                count -= 1
        last = self.arrays[-1]
        floats = jnp.issubdtype(last.dtype, jnp.floating)
        return last if floats else lax.convert_element_type(last, self.dtype)

    @property
    def dtype(self) -> Any:
        return next(x.dtype for x in self.arrays if jnp.issubdtype(x.dtype, jnp.floating))

    def pick(self, wanted: Callable[[Array], bool]) -> Array | None:
        found = [i for i, x in enumerate(self.arrays) if wanted(x)]
        if not found:
            return None
        recent = [i for i in found if i in self.unused] or found
        chosen = self.random.choice(recent if self.random.random() < 0.85 else found)
        self.unused.discard(chosen)
        return self.arrays[chosen]

    def number(self) -> Array:
        return self.pick(lambda x: jnp.issubdtype(x.dtype, jnp.floating))

    def integer(self) -> Array | None:
        return self.pick(lambda x: x.dtype == jnp.int32)

    def truth(self) -> Array | None:
        return self.pick(lambda x: x.dtype == bool)

    def either(self) -> Array:
        return self.pick(lambda _: True)

    def fitting(self, x: Array) -> Array:
        """A second operand beside ``x``: a literal, a scalar, or an array of the shape of ``x``."""
        if self.random.random() < 0.2:
            literal = self.random.choice(LITERALS)
            return int(literal) if x.dtype == jnp.int32 else literal
        other = self.pick(lambda y: y.dtype == x.dtype and y.shape in (x.shape, ()))
        return other if other is not None else x

    def axes(self, x: Array) -> tuple[int, ...]:
        return tuple(sorted(self.random.sample(range(x.ndim), self.random.randint(min(1, x.ndim), x.ndim))))

    # -- steps; None if there are no operands for it

    def unary(self) -> Array:
        often = (lax.neg, jnp.exp, jnp.log, jnp.tanh, jax.nn.sigmoid)
        seldom = (lax.sqrt, lax.rsqrt, lax.log1p, lax.erf, lax.abs, lax.floor, lax.sin, lax.square)
        return self.random.choice((*often, *often, *seldom))(self.number())

    def binary(self) -> Array:
        x = self.number()
        y = self.fitting(x)
        if self.random.random() < 0.5 and not isinstance(y, float):
            x, y = y, x
        name = self.random.choice(("add", "sub", "mul", "div", "max", "min"))
        if isinstance(y, float):
            y = jnp.asarray(y, x.dtype) if name in ("max", "min") else y
        operators: dict[str, Callable[[Array, Array], Array]] = {
            "add": lambda a, b: a + b,
            "sub": lambda a, b: b - a if isinstance(b, float) else a - b,
            "mul": lambda a, b: a * b,
            "div": lambda a, b: b / a if isinstance(b, float) else a / b,
            "max": jnp.maximum,
            "min": jnp.minimum,
        }
        return operators[name](x, y)

    def arithmetic(self) -> Array | None:
        """Integers: from truth values or positions at first, then from each other."""
        z = self.integer()
        if z is None or self.random.random() < 0.3:
            p = self.truth()
            x = self.either()
            if p is not None and self.random.random() < 0.6:
                return lax.convert_element_type(p, jnp.int32)
            return lax.broadcasted_iota(jnp.int32, x.shape, self.random.randrange(x.ndim)) if x.ndim else None
        choices: tuple[Callable[[], Array], ...] = (
            lambda: self.random.choice((lax.add, lax.sub, lax.mul, lax.div, lax.max, lax.min))(
                z, self.like(z)
            ),
            lambda: self.random.choice((lax.lt, lax.ge, lax.eq, lax.ne))(z, self.like(z)),
            lambda: self.random.choice((jnp.sum, jnp.max, jnp.min))(z, axis=self.axes(z)),
            lambda: self.random.choice((z + 2, -z, jnp.abs(z), jnp.sign(z))),
            lambda: lax.convert_element_type(z, self.random.choice((self.dtype, bool))),
        )
        return self.random.choice(choices)()

    def like(self, x: Array) -> Array:
        """An operand of the dtype and shape of ``x``."""
        return self.pick(lambda y: y.dtype == x.dtype and y.shape == x.shape)

    def part(self) -> Array | None:
        """A slice, a reversal, a concatenation, padding, or a cumulative reduction."""
        x = self.pick(lambda y: y.ndim >= 1)
        if x is None:
            return None
        axis = self.random.randrange(x.ndim)
        starts = [self.random.randrange(size) for size in x.shape]
        limits = [self.random.randint(start + 1, size) for start, size in zip(starts, x.shape, strict=True)]
        config = [(self.random.randint(0, 1), self.random.randint(0, 1), 0) for _ in x.shape]
        choices: list[Callable[[], Array]] = [
            lambda: lax.slice(x, starts, limits),
            lambda: lax.rev(x, self.axes(x)),
            lambda: lax.concatenate([x, self.like(x)], axis),
            lambda: lax.pad(x, jnp.zeros((), x.dtype), config),
            lambda: x[tuple(starts[: axis + 1])],
        ]
        if x.dtype != bool:
            cumulate = self.random.choice((lax.cumsum, lax.cumprod, lax.cummax, lax.cummin))
            choices.append(lambda: cumulate(x, axis))
        return self.random.choice(choices)()

    def compare(self) -> Array:
        x = self.number()
        compare = self.random.choice((jnp.less, jnp.less_equal, jnp.greater, jnp.greater_equal, jnp.equal))
        if self.random.random() < 0.2:
            compare = jnp.not_equal
        return compare(x, self.fitting(x))

    def logic(self) -> Array | None:
        p = self.truth()
        if p is None:
            return None
        q = self.pick(lambda y: y.dtype == bool and y.shape == p.shape)
        return self.random.choice((lambda: lax.bitwise_not(p), lambda: p & q, lambda: p | q, lambda: p ^ q))()

    def select(self) -> Array | None:
        p = self.truth()
        if p is None:
            return None
        x = self.pick(lambda y: y.shape == p.shape)
        y = self.pick(lambda y: y.shape == x.shape and y.dtype == x.dtype)
        if x.dtype != bool and self.random.random() < 0.4:
            literal = self.random.choice((*LITERALS, -jnp.inf))
            return jnp.where(p, x, 1 if x.dtype == jnp.int32 else literal)
        return lax.select(p, x, y)

    def convert(self) -> Array | None:
        p = self.truth() if self.random.random() < 0.5 else None
        if p is not None:
            return lax.convert_element_type(p, self.dtype)
        narrow = jnp.float16 if self.dtype != jnp.float16 else jnp.float32
        rounded = lax.convert_element_type(self.number(), narrow)
        return lax.convert_element_type(rounded, self.dtype) if self.random.random() < 0.7 else rounded

    def broadcast(self) -> Array | None:
        x = self.either()
        rank = self.random.randint(x.ndim, min(x.ndim + 2, MAX_RANK))
        places = sorted(self.random.sample(range(rank), x.ndim))
        shape = [self.random.choice(SIZES[1:]) for _ in range(rank)]
        for size, place in zip(x.shape, places, strict=True):
            shape[place] = size if size != 1 or self.random.random() < 0.5 else shape[place]
        return lax.broadcast_in_dim(x, tuple(shape), places)

    def reshape(self) -> Array:
        x = self.either()
        sizes = [size for size in x.shape if size != 1]
        for _ in range(self.random.randint(0, 2)):
            sizes.insert(self.random.randint(0, len(sizes)), 1)
        place = self.random.randrange(len(sizes)) if sizes else 0
        if len(sizes) > place + 1 and self.random.random() < 0.5:  # merge two axes
            sizes[place : place + 2] = [sizes[place] * sizes[place + 1]]
        elif sizes and sizes[place] % 2 == 0 and self.random.random() < 0.5:  # split one
            sizes[place : place + 1] = [sizes[place] // 2, 2]
        return lax.reshape(x, tuple(sizes))

    def squeeze(self) -> Array | None:
        x = self.pick(lambda y: 1 in y.shape)
        if x is None:
            return None
        ones = [axis for axis, size in enumerate(x.shape) if size == 1]
        return lax.squeeze(x, self.random.sample(ones, self.random.randint(1, len(ones))))

    def transpose(self) -> Array | None:
        x = self.pick(lambda y: y.ndim >= 2)
        return None if x is None else lax.transpose(x, self.random.sample(range(x.ndim), x.ndim))

    def reduce(self) -> Array | None:
        x = self.pick(lambda y: y.ndim >= 1)
        if x is None:
            return None
        if x.dtype == bool:
            return self.random.choice((jnp.any, jnp.all))(x, axis=self.axes(x))
        if self.random.random() < 0.5:
            return self.random.choice((jnp.max, jnp.max, jnp.min, jnp.prod))(x, axis=self.axes(x))
        return lax.reduce_sum_p.bind(x, axes=self.axes(x), out_sharding=None)

    def dot(self) -> Array | None:
        x = self.number()
        y = self.pick(lambda other: other.dtype == x.dtype)
        left, right = list(range(x.ndim)), list(range(y.ndim))
        self.random.shuffle(left)
        self.random.shuffle(right)
        pairs = []
        for i in left:
            j = next((j for j in right if x.shape[i] == y.shape[j]), None)
            if j is not None and self.random.random() < 0.8:
                right.remove(j)
                pairs.append((i, j))
        batch = [pair for pair in pairs if self.random.random() < 0.4]
        contract = [pair for pair in pairs if pair not in batch]
        numbers = tuple(tuple(zip(*side, strict=True)) or ((), ()) for side in (contract, batch))
        return lax.dot_general(x, y, numbers)  # type: ignore[arg-type]


_STEPS: tuple[Callable[[_Walk], Array | None], ...] = (
    _Walk.unary,
    _Walk.binary,
    _Walk.binary,
    _Walk.arithmetic,
    _Walk.arithmetic,
    _Walk.part,
    _Walk.part,
    _Walk.compare,
    _Walk.logic,
    _Walk.select,
    _Walk.convert,
    _Walk.broadcast,
    _Walk.broadcast,
    _Walk.reshape,
    _Walk.squeeze,
    _Walk.transpose,
    _Walk.reduce,
    _Walk.reduce,
    _Walk.dot,
    _Walk.dot,
)
