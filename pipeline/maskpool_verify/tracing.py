"""From a Python function to one flat list of equations, on jaxpr objects.

JAX nests jaxprs: ``jnp.where`` alone is a call of a ``jit``-compiled function. :func:`trace` replaces every
such call by the equations of its body, a ``scan`` by those of all its steps, and drops equations that the
output does not depend on: JAX leaves them in place, and they cannot change the result, for an equation with a
side effect is refused first. Derived primitives are written out by :mod:`maskpool_verify.lowering`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeAlias

import jax
import numpy as np
from jax import export
from jax.extend import core

from maskpool_verify import dims
from maskpool_verify.constraints import UNCONSTRAINED, Constraints
from maskpool_verify.dims import Size
from maskpool_verify.errors import TraceError, UnsupportedError
from maskpool_verify.loading import KernelFunction, UserFiles, definition


@dataclass(frozen=True)
class Source:
    """A line of the user's code; ``str`` gives ``"file:line"``, relative to the manifest's directory."""

    file: str
    line: int
    function: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line}"


@dataclass(frozen=True)
class Aval:
    """Abstract value: JAX's name of a dtype, supported or not, and a shape."""

    dtype: str
    shape: tuple[Size, ...]

    def __str__(self) -> str:
        return f"{self.dtype}[{','.join(map(str, self.shape))}]"


@dataclass(frozen=True)
class FlatVar:
    """A variable: inputs are numbered from 0 in call order, then equations in order."""

    index: int


@dataclass(frozen=True)
class FlatLiteral:
    """A scalar constant with the value that JAX stored, rounded to its dtype."""

    value: bool | int | float
    aval: Aval


FlatOperand: TypeAlias = FlatVar | FlatLiteral


@dataclass(frozen=True)
class FlatEquation:
    """One primitive application with JAX's own parameters, unchecked."""

    primitive: str
    params: Mapping[str, Any]
    operands: tuple[FlatOperand, ...]
    aval: Aval
    source: Source


@dataclass(frozen=True)
class FlatJaxpr:
    """A jaxpr without calls, effects, array constants or dead equations, and with one float output.

    ``label`` names the kernel in messages. Equation ``k`` defines variable ``len(inputs) + k``. ``given`` is
    what JAX took for granted of the sizes that are left open.
    """

    label: str
    inputs: tuple[Aval, ...]
    equations: tuple[FlatEquation, ...]
    output: FlatOperand
    output_aval: Aval
    jax_version: str
    given: Constraints = UNCONSTRAINED


def restricted(flat: FlatJaxpr, index: int) -> FlatJaxpr:
    """The equations that variable ``index`` needs, which is returned."""
    inputs = len(flat.inputs)
    live = {index}
    for number in range(len(flat.equations) - 1, -1, -1):
        if inputs + number in live:
            operands = flat.equations[number].operands
            live |= {operand.index for operand in operands if isinstance(operand, FlatVar)}
    numbers = {number: number for number in range(inputs)}
    equations: list[FlatEquation] = []
    for number, equation in enumerate(flat.equations, inputs):
        if number in live:
            numbers[number] = inputs + len(equations)
            equations.append(
                replace(
                    equation,
                    operands=tuple(
                        FlatVar(numbers[operand.index]) if isinstance(operand, FlatVar) else operand
                        for operand in equation.operands
                    ),
                )
            )
    aval = (*flat.inputs, *(equation.aval for equation in flat.equations))[index]
    return replace(flat, equations=tuple(equations), output=FlatVar(numbers[index]), output_aval=aval)


def trace(
    function: KernelFunction,
    inputs: Sequence[Aval],
    *,
    label: str,
    root: Path,
    given: Constraints = UNCONSTRAINED,
) -> FlatJaxpr:
    """Trace ``function`` on abstract arrays; ``root`` is the directory of the manifest.

    A symbol in the shape of an input is a size that is left open; ``given`` is what is assumed of those.

    :class:`TraceError` if the function raises or does not return one float array; :class:`UnsupportedError`
    for side effects, array constants, primitives with several results, calls with unknown parameters, and
    where only open sizes make the function raise.
    """
    place = definition(function)
    files = UserFiles(root, place[0] if place else None)
    name = getattr(function, "__name__", type(function).__name__)
    home = Source(files.name(str(place[0])), place[1], name) if place else Source(f"<{name}>", 0, name)
    try:
        closed, result = _make_jaxpr(function, inputs, given)
    except (Exception, SystemExit) as error:
        shapes, reason = ", ".join(map(str, inputs)), files.describe(error)
        if _open_symbols(inputs) and _is_traceable(function, inputs, given):
            under = f" and {', '.join(given.texts)}" if given.texts else ""
            raise UnsupportedError(
                f"{label} at {home}: tracing for all sizes with {shapes}{under} raises {reason}; "
                'list concrete shapes in place of "all".'
            ) from None
        raise TraceError(f"{label} at {home}: tracing with {shapes} raises {reason}.") from None
    if not isinstance(result, jax.ShapeDtypeStruct):
        kind = type(result).__name__
        raise TraceError(f"{label} at {home}: it returns a {kind}; a kernel must return exactly one array.")
    flattening = _Flattening(label, files, given)
    arguments = [flattening.new(variable.aval, home) for variable in closed.jaxpr.invars]
    outputs = flattening.inline(closed.jaxpr, closed.consts, arguments, home)
    flat = flattening.finish(outputs[0], len(arguments))
    if not flat.output_aval.dtype.startswith(("float", "bfloat")):
        raise TraceError(
            f"{label} at {home}: it returns {flat.output_aval}; a kernel must return a float array."
        )
    return flat


def _open_symbols(inputs: Sequence[Aval]) -> tuple[str, ...]:
    """The symbols that occur in the shapes, in order."""
    found = [symbol for aval in inputs for size in aval.shape for symbol in sorted(dims.symbols(size))]
    return tuple(dict.fromkeys(found))


def _structs(inputs: Sequence[Aval], given: Constraints) -> list[jax.ShapeDtypeStruct]:
    """The abstract inputs in JAX's terms; open sizes share one scope."""
    names = _open_symbols(inputs)
    known = export.symbolic_shape(", ".join(names), constraints=given.texts) if names else ()
    symbols = dict(zip(names, known, strict=True))
    return [
        jax.ShapeDtypeStruct(  # type: ignore[no-untyped-call]
            tuple(symbols[size] if isinstance(size, str) else size for size in aval.shape),
            jax.numpy.dtype(aval.dtype),
        )
        for aval in inputs
    ]


def _make_jaxpr(
    function: KernelFunction, inputs: Sequence[Aval], given: Constraints
) -> tuple[core.ClosedJaxpr, Any]:
    """The jaxpr, and what the function returns."""
    with jax.enable_x64(any(aval.dtype.endswith("64") for aval in inputs)):
        closed, result = jax.make_jaxpr(function, return_shape=True)(*_structs(inputs, given))
    return closed, result


def _is_traceable(function: KernelFunction, inputs: Sequence[Aval], given: Constraints) -> bool:
    """Whether tracing succeeds with numbers in place of open sizes."""
    (sizes, *_) = given.examples(_open_symbols(inputs), 3)
    closed = [Aval(a.dtype, tuple(dims.at(size, sizes) for size in a.shape)) for a in inputs]
    try:
        _make_jaxpr(function, closed, UNCONSTRAINED)
    except (Exception, SystemExit):
        return False
    return True


def is_size(size: Any) -> bool:
    """Whether JAX would take it for the size of an axis."""
    return isinstance(size, int | np.integer) or bool(export.is_symbolic_dim(size))


def size_of(size: Any) -> Size:
    """A size, position or axis as JAX has it; ``vmap`` makes NumPy's integers of some.

    Raises:
        ValueError: it is none that is known.
    """
    return int(size) if isinstance(size, int | np.integer) else dims.parse(str(size))


@dataclass(frozen=True)
class _Call:
    """A primitive that applies the jaxpr in parameter ``body``; ``harmless`` ones do not change the results.

    The rules of custom derivatives are not looked at: certificates are about values.
    """

    body: str
    harmless: tuple[str, ...]


_JIT = _Call(
    "jaxpr",
    (
        "name",
        "in_shardings",
        "out_shardings",
        "in_layouts",
        "out_layouts",
        "resource_env",
        "ctx_mesh",
        "donated_invars",
        "keep_unused",
        "inline",
    ),
)
_CHECKPOINT = _Call("jaxpr", ("prevent_cse", "differentiated", "policy"))

_CALLS: Mapping[str, _Call] = {
    "jit": _JIT,
    "pjit": _JIT,
    "closed_call": _Call("call_jaxpr", ("name",)),
    "core_call": _Call("call_jaxpr", ("name",)),
    "checkpoint": _CHECKPOINT,
    "remat2": _CHECKPOINT,
    "custom_jvp_call": _Call("call_jaxpr", ("jvp_jaxpr_fun", "num_consts", "symbolic_zeros")),
    "custom_vjp_call": _Call(
        "call_jaxpr", ("fwd_jaxpr_thunk", "bwd", "num_consts", "out_trees", "symbolic_zeros")
    ),
}


MAX_STEPS = 64
"""The greatest length of a loop whose steps are written out."""

_SCAN_PARAMETERS = (
    "jaxpr",
    "length",
    "reverse",
    "num_consts",
    "num_carry",
    "linear",
    "unroll",
    "_split_transpose",
)


@dataclass(frozen=True)
class _RawEquation:
    """An equation before dead ones are dropped; it may have any number of results."""

    primitive: str
    params: Mapping[str, Any]
    operands: tuple[FlatOperand, ...]
    results: tuple[FlatVar, ...]
    source: Source


class _Flattening:
    """The equations collected so far; variables are numbered in the order in which they appear."""

    def __init__(self, label: str, files: UserFiles, given: Constraints) -> None:
        self.label = label
        self.files = files
        self.given = given
        self.avals: list[Aval] = []
        self.equations: list[_RawEquation] = []

    def new(self, aval: Any, source: Source) -> FlatVar:
        self.avals.append(self.aval(aval, source))
        return FlatVar(len(self.avals) - 1)

    def aval(self, aval: Any, source: Source) -> Aval:
        """JAX's abstract value as ours; only arrays of fixed shape have one."""
        shape = getattr(aval, "shape", None)
        if not isinstance(shape, tuple) or not all(map(is_size, shape)):
            raise UnsupportedError(f"{self.label} at {source}: {aval} is not an array of fixed shape.")
        try:
            return Aval(str(aval.dtype), tuple(map(size_of, shape)))
        except ValueError as error:
            raise UnsupportedError(
                f"{self.label} at {source}: the size of an axis of {aval} is not supported: {error}; "
                'list concrete shapes in place of "all".'
            ) from None

    def literal(self, value: Any, aval: Any, source: Source) -> FlatLiteral:
        """A scalar constant; array constants are refused."""
        known = self.aval(aval, source)
        if known.shape != ():
            raise UnsupportedError(
                f"{self.label} at {source}: the kernel contains the constant array {known}; "
                'pass it as an argument with role "parameter".'
            )
        stored = np.asarray(value).astype(aval.dtype)
        if stored.dtype == np.bool_:
            return FlatLiteral(bool(stored), known)
        return FlatLiteral(int(stored) if stored.dtype.kind in "iu" else float(stored), known)

    def inline(
        self, jaxpr: Any, consts: Sequence[Any], arguments: Sequence[FlatOperand], caller: Source
    ) -> list[FlatOperand]:
        """Append the equations of ``jaxpr``, called at ``caller``; returns its outputs."""
        if len(arguments) != len(jaxpr.invars) or len(consts) != len(jaxpr.constvars):
            raise UnsupportedError(
                f"{self.label} at {caller}: a call passes {len(arguments)} arguments to {len(jaxpr.invars)}."
            )
        env: dict[Any, FlatOperand] = dict(zip(jaxpr.invars, arguments, strict=True))

        def read(atom: Any, source: Source) -> FlatOperand:
            if isinstance(atom, core.Literal):
                return self.literal(atom.val, atom.aval, source)
            if atom not in env and atom in jaxpr.constvars:
                env[atom] = self.literal(consts[jaxpr.constvars.index(atom)], atom.aval, source)
            return env[atom]

        for eqn in jaxpr.eqns:
            name = eqn.primitive.name
            source = self.source(eqn, caller)
            operands = tuple(read(atom, source) for atom in eqn.invars)
            if name in _CALLS:
                results = self.call(name, eqn.params, operands, source)
            elif name == "scan":
                results = self.scan(eqn.params, operands, source)
            elif name == "split":
                results = self.split(eqn.params, operands[0], source)
            else:
                if eqn.effects:
                    effects = ", ".join(sorted(str(effect) for effect in eqn.effects))
                    raise UnsupportedError(
                        f'{self.label} at {source}: primitive "{name}" has a side effect ({effects}); '
                        "remove it."
                    )
                variables = tuple(self.new(variable.aval, source) for variable in eqn.outvars)
                self.equations.append(_RawEquation(name, dict(eqn.params), operands, variables, source))
                results = list(variables)
            env.update(zip(eqn.outvars, results, strict=True))
        return [read(atom, caller) for atom in jaxpr.outvars]

    def call(
        self, name: str, params: Mapping[str, Any], operands: Sequence[FlatOperand], source: Source
    ) -> list[FlatOperand]:
        """Inline one call after checking that no parameter changes what it computes."""
        call = _CALLS[name]
        for key, value in params.items():
            empty_options = key == "compiler_options_kvs" and value == ()
            if key != call.body and key not in call.harmless and not empty_options:
                raise UnsupportedError(
                    f'{self.label} at {source}: primitive "{name}" has the parameter {key}={value!r}, '
                    "which is not supported."
                )
        body = params.get(call.body)
        if isinstance(body, core.ClosedJaxpr):
            return self.inline(body.jaxpr, body.consts, operands, source)
        if isinstance(body, core.Jaxpr):
            return self.inline(body, (), operands, source)
        raise UnsupportedError(f'{self.label} at {source}: primitive "{name}" has no jaxpr "{call.body}".')

    def aval_of(self, operand: FlatOperand) -> Aval:
        return self.avals[operand.index] if isinstance(operand, FlatVar) else operand.aval

    def emit(
        self,
        primitive: str,
        params: Mapping[str, Any],
        operands: Sequence[FlatOperand],
        aval: Aval,
        source: Source,
    ) -> FlatVar:
        """Append an equation that is not in the jaxpr, with one result."""
        self.avals.append(aval)
        result = FlatVar(len(self.avals) - 1)
        self.equations.append(_RawEquation(primitive, params, tuple(operands), (result,), source))
        return result

    def part(self, x: FlatOperand, axis: int, start: Size, size: Size, source: Source) -> FlatVar:
        """The entries of ``x`` from ``start`` on along ``axis``."""
        aval = self.aval_of(x)
        starts: list[Size] = [0] * len(aval.shape)
        limits, shape = list(aval.shape), list(aval.shape)
        starts[axis], limits[axis], shape[axis] = start, dims.add(start, size), size
        params = {"start_indices": tuple(starts), "limit_indices": tuple(limits), "strides": None}
        return self.emit("slice", params, (x,), Aval(aval.dtype, tuple(shape)), source)

    def split(self, params: Mapping[str, Any], x: FlatOperand, source: Source) -> list[FlatOperand]:
        """The parts of an array, each of them as a slice."""
        results: list[FlatOperand] = []
        start: Size = 0
        for size in params["sizes"]:
            results.append(self.part(x, params["axis"], start, size_of(size), source))
            start = dims.add(start, size_of(size))
        return results

    def scan(
        self, params: Mapping[str, Any], operands: Sequence[FlatOperand], source: Source
    ) -> list[FlatOperand]:
        """The equations of all steps of a loop of fixed length."""
        length, body = params["length"], params["jaxpr"]
        if not isinstance(length, int) or not 1 <= length <= MAX_STEPS:
            raise UnsupportedError(
                f'{self.label} at {source}: primitive "scan" has {length} steps; only a fixed number from 1 '
                f"to {MAX_STEPS} is supported."
            )
        for key in params:
            if key not in _SCAN_PARAMETERS:
                raise UnsupportedError(f'{self.label} at {source}: primitive "scan" has the parameter {key}.')
        consts = operands[: params["num_consts"]]
        carry = list(operands[len(consts) : len(consts) + params["num_carry"]])
        arrays = operands[len(consts) + len(carry) :]
        stacked: list[list[FlatOperand]] = []
        for step in reversed(range(length)) if params["reverse"] else range(length):
            entries = []
            for x in arrays:
                row, aval = self.part(x, 0, step, 1, source), self.aval_of(x)
                entry = Aval(aval.dtype, aval.shape[1:])
                entries.append(self.emit("squeeze", {"dimensions": (0,)}, (row,), entry, source))
            outputs = self.inline(body.jaxpr, body.consts, [*consts, *carry, *entries], source)
            carry = outputs[: len(carry)]
            stacked.append(outputs[len(carry) :])
        if params["reverse"]:
            stacked.reverse()
        return carry + [self.stack(steps, source) for steps in zip(*stacked, strict=True)]

    def stack(self, entries: Sequence[FlatOperand], source: Source) -> FlatVar:
        """The entries along a new first axis."""
        aval = self.aval_of(entries[0])
        shape = (len(entries), *aval.shape)
        return self.emit("stack", {"axis": 0}, entries, Aval(aval.dtype, shape), source)

    def source(self, eqn: Any, caller: Source) -> Source:
        """The deepest line of user code of an equation; inside a function of JAX, the line that calls it.

        Tracebacks are not part of JAX's public interface: without one, the caller's line stands.
        """
        frames = getattr(getattr(eqn.source_info, "traceback", None), "frames", None) or ()
        for frame in frames:
            if self.files.owns(frame.file_name):
                return Source(self.files.name(frame.file_name), frame.line_num, frame.function_name)
        return caller

    def finish(self, output: FlatOperand, inputs: int) -> FlatJaxpr:
        """Drop dead equations, from the last to the first, and number what is left without gaps."""
        live = {output}
        kept: list[_RawEquation] = []
        for equation in reversed(self.equations):
            if not live.isdisjoint(equation.results):
                live.update(equation.operands)
                kept.insert(0, equation)
        numbers: dict[FlatOperand, FlatOperand] = {FlatVar(index): FlatVar(index) for index in range(inputs)}
        equations = []
        for equation in kept:
            if len(equation.results) != 1:
                raise UnsupportedError(
                    f'{self.label} at {equation.source}: primitive "{equation.primitive}" has '
                    f"{len(equation.results)} results; only primitives with one result are supported."
                )
            operands = tuple(numbers.get(operand, operand) for operand in equation.operands)
            (result,) = equation.results
            aval = self.avals[result.index]
            equations.append(
                FlatEquation(equation.primitive, equation.params, operands, aval, equation.source)
            )
            numbers[result] = FlatVar(inputs + len(equations) - 1)
        return FlatJaxpr(
            label=self.label,
            inputs=tuple(self.avals[:inputs]),
            equations=tuple(equations),
            output=numbers.get(output, output),
            output_aval=self.avals[output.index] if isinstance(output, FlatVar) else output.aval,
            jax_version=jax.__version__,
            given=self.given,
        )
