"""The user's function as JAX compiles it, and its gradient."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, TypeAlias

import jax
import numpy as np
from numpy.typing import NDArray

from maskpool_verify.errors import TraceError
from maskpool_verify.loading import KernelFunction
from maskpool_verify.manifest import Kernel
from maskpool_verify.refute.cases import Run
from maskpool_verify.stress import ulps

Array: TypeAlias = NDArray[Any]


@dataclass(frozen=True)
class Compiled:
    """A kernel under ``jit``, on JAX's default device; the dtypes are those of ``kernel.arguments``.

    The gradient is that of the sum of the result, in features, logits and float parameters.
    """

    kernel: Kernel
    function: KernelFunction
    _known: dict[tuple[int, bool], tuple[Run, tuple[Array, ...]]] = field(default_factory=dict)

    @cached_property
    def differentiated(self) -> tuple[int, ...]:
        """The numbers of the arguments that the gradient is taken in."""
        roles = ("features", "logits", "parameter")
        return tuple(n for n, s in enumerate(self.kernel.arguments) if s.role in roles and s.is_float)

    def value(self, run: Run) -> Array:
        """The result, in the dtype that it has.

        Raises:
            TraceError: it is not one array of floating-point numbers.
            Exception: whatever the function raises.
        """
        (found,) = self._once(run, False)
        return found

    def gradient(self, run: Run) -> tuple[Array, ...]:
        """The gradients in the arguments :attr:`differentiated`."""
        return self._once(run, True)

    def _once(self, run: Run, gradient: bool) -> tuple[Array, ...]:
        known = self._known.get((id(run), gradient))
        if known is None:
            with self._quietly():
                result = (self._gradient if gradient else self._value)(*run.inputs)
            arrays = tuple(map(np.asarray, result if gradient else [self._float_array(result)]))
            known = self._known[id(run), gradient] = run, arrays  # with the run, so that its id stays its own
        return known[1]

    def forget(self) -> None:
        """Drop the results that are known; what was compiled stays."""
        self._known.clear()

    @cached_property
    def _value(self) -> Any:
        return jax.jit(self.function)

    @cached_property
    def _gradient(self) -> Any:
        def total(*arguments: Any) -> Any:
            return self._float_array(self.function(*arguments)).sum()

        return jax.jit(jax.grad(total, argnums=self.differentiated))

    def _float_array(self, result: Any) -> Any:
        if not isinstance(result, jax.Array) or not jax.numpy.issubdtype(result.dtype, jax.numpy.floating):
            kind = f"{result.dtype} numbers" if isinstance(result, jax.Array) else type(result).__name__
            raise TraceError(
                f'Kernel "{self.kernel.name}" returns {kind}; '
                "stress needs one array of floating-point numbers."
            )
        return result

    @contextmanager
    def _quietly(self) -> Iterator[None]:
        x64 = any(spec.dtype.endswith("64") for spec in self.kernel.arguments)
        with jax.enable_x64(x64), warnings.catch_warnings():
            warnings.simplefilter("ignore")  # a fill that overflows in float16 is what is looked for
            yield


def flushed(dtypes: Sequence[str]) -> tuple[str, ...]:
    """Those dtypes in which the compiler takes subnormal numbers for zero, found by doubling one."""
    found = []
    for dtype in dtypes:
        with jax.enable_x64(dtype == "float64"):
            tiny = ulps.finfo(dtype).smallest_subnormal
            doubled = jax.jit(lambda x: x + x)(np.asarray([tiny]))
        if not np.asarray(doubled).astype(np.float64).any():
            found.append(dtype)
    return tuple(found)
