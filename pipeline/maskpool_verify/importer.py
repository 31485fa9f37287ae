"""From the flat jaxpr to a :class:`~maskpool_verify.program.Program`.

Equations are taken over one by one, with two adjustments that do not change values: ``stop_gradient`` and
``copy`` are replaced by their operand, and where JAX combines a scalar variable, or one with axes of size 1,
with a larger array elementwise, it is first broadcast by an equation of its own, so that all variables of an
elementwise equation have the same shape.

Everything that is not listed here is refused: an unknown primitive, an unknown parameter, another value of a
known one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from math import copysign, isinf, isnan
from typing import Any, NoReturn, get_args

import numpy as np
from pydantic import TypeAdapter, ValidationError

from maskpool_verify.dims import Size
from maskpool_verify.errors import UnsupportedError
from maskpool_verify.manifest import DType, Kernel, Shape
from maskpool_verify.program import (
    SCHEMA,
    Argument,
    ArrayType,
    BoolLiteral,
    BroadcastInDim,
    Equation,
    InfinityLiteral,
    IntLiteral,
    NanLiteral,
    Operand,
    Program,
    Rational,
    RealLiteral,
    Var,
    operand_type,
    require_well_typed,
)
from maskpool_verify.tracing import (
    Aval,
    FlatEquation,
    FlatJaxpr,
    FlatLiteral,
    FlatOperand,
    Source,
    is_size,
    size_of,
)

_DTYPES: tuple[str, ...] = get_args(DType)
_EQUATION: TypeAdapter[Equation] = TypeAdapter(Equation)


@dataclass(frozen=True)
class ImportedProgram:
    """A program; for each of its equations the line of user code that it comes from.

    ``origins[k]`` is the number of the equation of the flat jaxpr that became equation ``k``.
    """

    program: Program
    sources: tuple[Source, ...]
    origins: tuple[int, ...]


def import_program(flat: FlatJaxpr, kernel: Kernel, shape: Shape) -> ImportedProgram:
    """Import the trace of ``kernel`` at ``shape``; :class:`UnsupportedError` for what is not modelled."""
    arguments = tuple(
        Argument(name=a.name, role=a.role, dtype=a.dtype, shape=a.sizes(shape)) for a in kernel.arguments
    )
    building = _Import(flat, arguments)
    for number, equation in enumerate(flat.equations):
        building.add(number, equation)
    program = Program(
        schema=SCHEMA,
        kernel=kernel.name,
        function=kernel.function,
        shape=shape,
        constraints=flat.given.texts,
        jax_version=flat.jax_version,
        arguments=arguments,
        equations=tuple(building.equations),
        result=building.operand(flat.output, f"{flat.label}: the result"),
        type=building.array_type(flat.output_aval, f"{flat.label}: the result"),
    )
    return ImportedProgram(program, tuple(building.sources), tuple(building.origins))


@dataclass(frozen=True)
class _Rule:
    """How to import a primitive: the parameters to keep, and which values the other ones may have.

    An elementwise primitive ``promotes`` if JAX broadcasts its operands to the shape of the result.
    """

    keep: tuple[str, ...] = ()
    check: Mapping[str, Callable[[Any, FlatEquation], bool]] | None = None
    promotes: bool = False


def _is_none(value: Any, _: FlatEquation) -> bool:
    return value is None


def _is_result_dtype(value: Any, equation: FlatEquation) -> bool:
    return value is None or str(np.dtype(value)) == equation.aval.dtype


def _is_bool(value: Any, _: FlatEquation) -> bool:
    return isinstance(value, bool)


def _is_false(value: Any, _: FlatEquation) -> bool:
    return value is False


_RULES: Mapping[str, _Rule] = {
    "neg": _Rule(),
    **dict.fromkeys(
        ("exp", "log", "tanh", "logistic", "sqrt", "rsqrt", "cbrt", "exp2", "expm1", "log1p"),
        _Rule(check={"accuracy": _is_none}),
    ),
    **dict.fromkeys(("erf", "erfc", "erf_inv", "abs", "sign", "floor", "ceil"), _Rule()),
    **dict.fromkeys(("sin", "cos", "tan"), _Rule(check={"accuracy": _is_none})),
    **dict.fromkeys(("asin", "acos", "atan", "sinh", "cosh", "asinh", "acosh", "atanh"), _Rule()),
    "is_finite": _Rule(),
    **dict.fromkeys(("add", "sub", "div", "max", "min"), _Rule(promotes=True)),
    "mul": _Rule(check={"out_dtype": _is_none}, promotes=True),
    **dict.fromkeys(("lt", "le", "gt", "ge", "eq", "ne"), _Rule(promotes=True)),
    **dict.fromkeys(("and", "or", "xor", "select_n"), _Rule(promotes=True)),
    "not": _Rule(),
    "broadcast_in_dim": _Rule(keep=("shape", "broadcast_dimensions"), check={"sharding": _is_none}),
    "reshape": _Rule(keep=("new_sizes",), check={"dimensions": _is_none, "sharding": _is_none}),
    "squeeze": _Rule(keep=("dimensions",)),
    "transpose": _Rule(keep=("permutation",)),
    "slice": _Rule(keep=("start_indices", "limit_indices", "strides")),
    "rev": _Rule(keep=("dimensions",)),
    "concatenate": _Rule(keep=("dimension",)),
    "iota": _Rule(keep=("shape", "dimension", "dtype"), check={"sharding": _is_none}),
    "dim_as_value": _Rule(keep=("dim",)),
    **dict.fromkeys(
        ("reduce_sum", "reduce_prod", "reduce_max", "reduce_min", "reduce_or", "reduce_and"),
        _Rule(keep=("axes",), check={"out_sharding": _is_none}),
    ),
    **dict.fromkeys(
        ("cumsum", "cumprod", "cummax", "cummin"), _Rule(keep=("axis",), check={"reverse": _is_false})
    ),
    "dot_general": _Rule(
        keep=("dimension_numbers",),
        check={"precision": _is_none, "preferred_element_type": _is_result_dtype, "out_sharding": _is_none},
    ),
    "convert_element_type": _Rule(keep=("new_dtype",), check={"weak_type": _is_bool, "sharding": _is_none}),
}

_IDENTITIES = ("stop_gradient", "copy", "copy_p")

SUPPORTED_PRIMITIVES: tuple[str, ...] = (*_RULES, *_IDENTITIES)
"""All primitives that an imported kernel may contain after its calls are inlined."""


class _Import:
    """The program so far. ``operands[k]`` is what variable ``k`` of the flat jaxpr has become."""

    def __init__(self, flat: FlatJaxpr, arguments: tuple[Argument, ...]) -> None:
        self.label = flat.label
        self.given = flat.given
        self.types: list[ArrayType] = [argument.type for argument in arguments]
        self.operands: list[Operand] = [Var(var=index) for index in range(len(arguments))]
        self.equations: list[Equation] = []
        self.sources: list[Source] = []
        self.origins: list[int] = []
        self.number = 0

    def array_type(self, aval: Aval, where: str) -> ArrayType:
        if aval.dtype not in _DTYPES:
            raise UnsupportedError(
                f"{where} has dtype {aval.dtype}; the supported dtypes are {', '.join(_DTYPES)}."
            )
        if 0 in aval.shape:
            raise UnsupportedError(f"{where} is an empty array, {aval}; only positive sizes are supported.")
        return ArrayType.model_validate({"dtype": aval.dtype, "shape": aval.shape})

    def operand(self, operand: FlatOperand, where: str) -> Operand:
        if not isinstance(operand, FlatLiteral):
            return self.operands[operand.index]
        self.array_type(operand.aval, f"{where}: the literal {operand.value}")
        value = operand.value
        if isinstance(value, bool):
            return BoolLiteral(bool=value)
        if isinstance(value, int):
            return IntLiteral.model_validate({"int": str(value), "dtype": operand.aval.dtype})
        if isnan(value):
            return NanLiteral.model_validate({"nan": True, "dtype": operand.aval.dtype})
        if isinf(value):
            sign = "negative" if value < 0 else "positive"
            return InfinityLiteral.model_validate({"infinity": sign, "dtype": operand.aval.dtype})
        if value == 0 and copysign(1, value) < 0:
            raise UnsupportedError(
                f"{where}: there is a negative zero literal, which no rational is; write 0.0."
            )
        return RealLiteral.model_validate({"real": Rational.of(Fraction(value)), "dtype": operand.aval.dtype})

    def push(self, equation: Equation, source: Source) -> Var:
        self.equations.append(equation)
        self.sources.append(source)
        self.origins.append(self.number)
        self.types.append(equation.result)
        return Var(var=len(self.types) - 1)

    def add(self, number: int, flat: FlatEquation) -> None:
        """Import one equation and record what its variable has become."""
        self.number = number
        where = f'{self.label} at {flat.source}, equation {number}: primitive "{flat.primitive}"'
        if flat.primitive in _IDENTITIES:
            _check_parameters(where, flat, _Rule())
            self.operands.append(self.operand(flat.operands[0], where))
            return
        if flat.primitive not in _RULES:
            raise UnsupportedError(
                f"{where} is not supported; the supported ones are {', '.join(SUPPORTED_PRIMITIVES)}."
            )
        rule = _RULES[flat.primitive]
        parameters = _check_parameters(where, flat, rule)
        result = self.array_type(flat.aval, f"{where}: the result")
        operands = tuple(self.operand(operand, where) for operand in flat.operands)
        if rule.promotes:
            operands = tuple(self.promote(operand, result.shape, flat.source) for operand in operands)
        fields = {"primitive": flat.primitive, "operands": operands, "result": result, **parameters}
        try:
            equation = _EQUATION.validate_python(fields)
            require_well_typed(
                equation, [operand_type(operand, self.types) for operand in operands], self.given
            )
        except ValidationError as error:
            first = error.errors()[0]
            _refuse(where, f"{'.'.join(map(str, first['loc'][1:]))}: {first['msg']}")
        except ValueError as error:
            _refuse(where, str(error))
        self.operands.append(self.push(equation, flat.source))

    def promote(self, operand: Operand, shape: tuple[Size, ...], source: Source) -> Operand:
        """Broadcast a variable that is a scalar or has axes of size 1 to ``shape``; other operands stay."""
        if not isinstance(operand, Var) or self.types[operand.index].shape == shape:
            return operand
        current = self.types[operand.index]
        if current.shape and len(current.shape) != len(shape):
            return operand
        broadcast = BroadcastInDim(
            primitive="broadcast_in_dim",
            operands=(operand,),
            shape=shape,
            broadcast_dimensions=tuple(range(len(current.shape))),
            result=ArrayType(dtype=current.dtype, shape=shape),
        )
        return self.push(broadcast, source)


def _refuse(where: str, reason: str) -> NoReturn:
    raise UnsupportedError(f"{where} is not supported here: {reason}.") from None


def _check_parameters(where: str, equation: FlatEquation, rule: _Rule) -> dict[str, Any]:
    """The parameters to keep, as plain tuples and names; :class:`UnsupportedError` for any other surprise."""
    checks = rule.check or {}
    for key, value in equation.params.items():
        if key in rule.keep:
            continue
        if key not in checks:
            raise UnsupportedError(f"{where} has the unknown parameter {key}={value!r}.")
        if not checks[key](value, equation):
            raise UnsupportedError(f"{where} with {key}={value!r} is not supported.")
    for key in rule.keep:
        if key not in equation.params:
            raise UnsupportedError(
                f"{where} lacks the parameter {key}; this version of JAX is not supported."
            )
    return {key: _plain(equation.params[key]) for key in rule.keep}


def _plain(value: Any) -> Any:
    """A parameter as nested tuples of numbers and sizes, ``None``, or the name of a dtype."""
    if value is None:
        return None
    if isinstance(value, tuple | list):
        return tuple(map(_plain, value))
    if isinstance(value, str):
        return value  # a size that the lowering has read
    return size_of(value) if is_size(value) else str(np.dtype(value))
