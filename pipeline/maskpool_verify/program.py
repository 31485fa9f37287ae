"""The imported program: what a traced kernel becomes before Lean sees it.

A :class:`Program` is a list of equations in single-assignment form. Variables are numbered from 0: first the
arguments in call order, then the result of every equation in order. Equations carry JAX's primitive and
parameter names; parameters with only one supported value (such as ``precision=None``) are checked at import
and left out.

The committed JSON holds no line numbers: a change of the kernel's file that does not change the program
leaves it as it is. A value of type :class:`Program` is always well typed; building or reading an ill-typed
one fails.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from math import gcd
from typing import Annotated, Any, Literal, NoReturn, Self, TypeAlias, get_args

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Discriminator,
    Field,
    Tag,
    ValidationError,
    model_validator,
)

from maskpool_verify import dims
from maskpool_verify.constraints import Constraints
from maskpool_verify.errors import AuditError
from maskpool_verify.manifest import DType, Role

SCHEMA: Literal["maskpool-verify/program/1"] = "maskpool-verify/program/1"


def _canonical(size: str) -> str:
    if not dims.canonical(size):
        raise ValueError(f'"{size}" is not the canonical text of a size')
    return size


def _canonical_constraint(text: str) -> str:
    if Constraints.parse((text,)).texts != (text,):
        raise ValueError(f'"{text}" is not the canonical text of a constraint')
    return text


Size: TypeAlias = Annotated[int, Field(ge=1)] | Annotated[str, AfterValidator(_canonical)]
"""The length of an axis: a number, or the text of a size (see :mod:`maskpool_verify.dims`)."""

SIZE_FIELDS = ("shape", "new_sizes", "start_indices", "limit_indices", "dim")
"""The parameters of equations that hold sizes, as JAX calls them."""

Start: TypeAlias = Annotated[int, Field(ge=0)] | Annotated[str, AfterValidator(_canonical)]
"""A position along an axis."""

Dimension: TypeAlias = int | Annotated[str, AfterValidator(_canonical)]
"""A number or the text of a size, of any sign."""

FloatDType: TypeAlias = Literal["float16", "bfloat16", "float32", "float64"]
IntDType: TypeAlias = Literal["int32", "int64"]

Axis: TypeAlias = Annotated[int, Field(ge=0)]
"""The number of an axis, counted from 0; JAX never leaves negative ones in a jaxpr."""


class _Model(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, serialize_by_alias=True)


class ArrayType(_Model):
    """Dtype and shape of a variable; ``shape == ()`` for a scalar."""

    dtype: DType
    shape: tuple[Size, ...]

    @property
    def is_float(self) -> bool:
        """True for floating-point dtypes."""
        return self.dtype in get_args(FloatDType)

    def __str__(self) -> str:
        return f"{self.dtype}[{','.join(map(str, self.shape))}]"


class Rational(_Model):
    """An exact rational in lowest terms; decimal strings, so that no JSON reader rounds them."""

    num: Annotated[str, Field(pattern=r"^(0|-?[1-9][0-9]*)$")]
    den: Annotated[str, Field(pattern=r"^[1-9][0-9]*$")]

    @model_validator(mode="after")
    def _lowest_terms(self) -> Self:
        if gcd(int(self.num), int(self.den)) != 1:
            raise ValueError(f"{self.num}/{self.den} is not in lowest terms")
        return self

    @classmethod
    def of(cls, value: Fraction) -> Self:
        return cls(num=str(value.numerator), den=str(value.denominator))

    def fraction(self) -> Fraction:
        return Fraction(int(self.num), int(self.den))


class Var(_Model):
    """A variable by its number: ``{"var": 3}``."""

    index: int = Field(alias="var", ge=0)


class RealLiteral(_Model):
    """The exact value that JAX stored for a float literal, and in which dtype it stored it.

    ``{"real": {"num": "1", "den": "2"}, "dtype": "float32"}``
    """

    value: Rational = Field(alias="real")
    dtype: FloatDType


class InfinityLiteral(_Model):
    """``{"infinity": "negative", "dtype": "float32"}``."""

    sign: Literal["negative", "positive"] = Field(alias="infinity")
    dtype: FloatDType

    @property
    def is_negative(self) -> bool:
        """Whether it is ``-inf``."""
        return self.sign == "negative"


class NanLiteral(_Model):
    """``{"nan": true, "dtype": "float32"}``."""

    value: Literal[True] = Field(default=True, alias="nan")
    dtype: FloatDType


class IntLiteral(_Model):
    """``{"int": "-3", "dtype": "int32"}``; a decimal string, so that no JSON reader rounds it."""

    text: Annotated[str, Field(pattern=r"^(0|-?[1-9][0-9]*)$")] = Field(alias="int")
    dtype: IntDType

    @property
    def value(self) -> int:
        """The number."""
        return int(self.text)


class BoolLiteral(_Model):
    """``{"bool": true}``."""

    value: bool = Field(alias="bool")


Literals: TypeAlias = RealLiteral | InfinityLiteral | NanLiteral | IntLiteral | BoolLiteral
"""The kinds of literals."""


def _kind(operand: Any) -> str | None:
    """The key that tells the kinds of operands apart, so that a message is about the right one."""
    keys = operand.keys() if isinstance(operand, dict) else {_KEYS.get(type(operand))}
    return next((key for key in _KEYS.values() if key in keys), None)


_KEYS: Mapping[type, str] = {
    Var: "var",
    RealLiteral: "real",
    InfinityLiteral: "infinity",
    NanLiteral: "nan",
    IntLiteral: "int",
    BoolLiteral: "bool",
}

Operand: TypeAlias = Annotated[
    Annotated[Var, Tag("var")]
    | Annotated[RealLiteral, Tag("real")]
    | Annotated[InfinityLiteral, Tag("infinity")]
    | Annotated[NanLiteral, Tag("nan")]
    | Annotated[IntLiteral, Tag("int")]
    | Annotated[BoolLiteral, Tag("bool")],
    Discriminator(
        _kind,
        custom_error_type="operand",
        custom_error_message='expected "var", "real", "infinity", "nan", "int" or "bool"',
    ),
]
"""A variable or a scalar literal.

A literal in an elementwise equation has the shape of the variables beside it.
"""


class Scalar(_Model):
    """The type of a literal."""

    dtype: DType

    def __str__(self) -> str:
        return f"a {self.dtype} literal"


Known: TypeAlias = ArrayType | Scalar
"""What is known of an operand."""


def _ill_typed(message: str) -> NoReturn:
    raise ValueError(message)


def _is_float(operand: Known) -> bool:
    return operand.dtype in get_args(FloatDType)


def _is_bool(operand: Known) -> bool:
    return operand.dtype == "bool"


def _shape(operand: Known) -> tuple[Size, ...]:
    """The shape of an operand that is not broadcast: a literal is a scalar."""
    return () if isinstance(operand, Scalar) else operand.shape


def _dtype(operands: Sequence[Known]) -> DType:
    """The one dtype of all operands."""
    dtypes = {operand.dtype for operand in operands}
    if len(dtypes) != 1:
        _ill_typed(f"operands of different dtypes ({', '.join(map(str, operands))})")
    return dtypes.pop()


def _common_shape(operands: Sequence[Known]) -> tuple[Size, ...]:
    """The one shape of all variables among ``operands``; ``()`` if all are literals."""
    shapes = {operand.shape for operand in operands if isinstance(operand, ArrayType)}
    if len(shapes) > 1:
        _ill_typed(f"operands of different shapes ({', '.join(map(str, operands))})")
    return shapes.pop() if shapes else ()


def _require_float(operands: Sequence[Known]) -> None:
    if not all(map(_is_float, operands)):
        _ill_typed(f"needs float operands, has {', '.join(map(str, operands))}")


def _require_numbers(operands: Sequence[Known]) -> None:
    if any(map(_is_bool, operands)):
        _ill_typed(f"needs float or int operands, has {', '.join(map(str, operands))}")


def _require_bool(operands: Sequence[Known]) -> None:
    if not all(map(_is_bool, operands)):
        _ill_typed(f"needs bool operands, has {', '.join(map(str, operands))}")


def _require_axes(axes: Sequence[int], rank: int) -> None:
    if len(set(axes)) != len(axes) or any(axis >= rank for axis in axes):
        _ill_typed(f"axes {tuple(axes)} are not distinct axes of a rank-{rank} array")


def _without(shape: Sequence[Size], axes: Sequence[int]) -> tuple[Size, ...]:
    return tuple(size for axis, size in enumerate(shape) if axis not in axes)


OneOperand: TypeAlias = tuple[Operand]
TwoOperands: TypeAlias = tuple[Operand, Operand]


class _Equation(_Model):
    """Common part of all equations.

    ``require`` checks sizes under constraints; then ``infer`` computes the result type from the operands'.
    """

    operands: tuple[Operand, ...]
    result: ArrayType

    def infer(self, operands: Sequence[Known]) -> ArrayType:
        """The type of the result; ``ValueError`` if the operands or parameters do not fit."""
        raise NotImplementedError

    def require(self, operands: Sequence[Known], given: Constraints) -> None:
        """``ValueError`` if sizes may not fit under the constraints ``given``."""


class FloatUnary(_Equation):
    """Elementwise function of one float array."""

    primitive: Literal[
        "neg",
        "exp",
        "log",
        "tanh",
        "logistic",
        "sqrt",
        "rsqrt",
        "cbrt",
        "exp2",
        "expm1",
        "log1p",
        "erf",
        "erfc",
        "erf_inv",
        "abs",
        "sign",
        "floor",
        "ceil",
        "sin",
        "cos",
        "tan",
        "asin",
        "acos",
        "atan",
        "sinh",
        "cosh",
        "asinh",
        "acosh",
        "atanh",
    ]
    operands: OneOperand

    def infer(self, operands: Sequence[Known]) -> ArrayType:
        _require_float(operands)
        return ArrayType(dtype=_dtype(operands), shape=_common_shape(operands))


class IsFinite(_Equation):
    """Elementwise: false of infinities and NaN."""

    primitive: Literal["is_finite"]
    operands: OneOperand

    def infer(self, operands: Sequence[Known]) -> ArrayType:
        _require_float(operands)
        return ArrayType(dtype="bool", shape=_common_shape(operands))


class Binary(_Equation):
    """Elementwise function of two arrays of numbers of the same dtype and shape."""

    primitive: Literal["add", "sub", "mul", "div", "max", "min"]
    operands: TwoOperands

    def infer(self, operands: Sequence[Known]) -> ArrayType:
        _require_numbers(operands)
        return ArrayType(dtype=_dtype(operands), shape=_common_shape(operands))


class Compare(_Equation):
    """Elementwise comparison of two arrays of numbers of the same dtype and shape."""

    primitive: Literal["lt", "le", "gt", "ge", "eq", "ne"]
    operands: TwoOperands

    def infer(self, operands: Sequence[Known]) -> ArrayType:
        _require_numbers(operands)
        _dtype(operands)
        return ArrayType(dtype="bool", shape=_common_shape(operands))


class Not(_Equation):
    """Elementwise negation of a bool array."""

    primitive: Literal["not"]
    operands: OneOperand

    def infer(self, operands: Sequence[Known]) -> ArrayType:
        _require_bool(operands)
        return ArrayType(dtype="bool", shape=_common_shape(operands))


class BoolBinary(_Equation):
    """Elementwise connective of two bool arrays of the same shape."""

    primitive: Literal["and", "or", "xor"]
    operands: TwoOperands

    def infer(self, operands: Sequence[Known]) -> ArrayType:
        _require_bool(operands)
        return ArrayType(dtype="bool", shape=_common_shape(operands))


class SelectN(_Equation):
    """``select_n(which, x, y)``: elementwise ``x`` where ``which`` is false and ``y`` where it is true."""

    primitive: Literal["select_n"]
    operands: tuple[Operand, Operand, Operand]

    def infer(self, operands: Sequence[Known]) -> ArrayType:
        _require_bool(operands[:1])
        return ArrayType(dtype=_dtype(operands[1:]), shape=_common_shape(operands))


class BroadcastInDim(_Equation):
    """Axis ``i`` of the operand becomes axis ``broadcast_dimensions[i]`` of ``shape``; size 1 is repeated."""

    primitive: Literal["broadcast_in_dim"]
    operands: OneOperand
    shape: tuple[Size, ...]
    broadcast_dimensions: tuple[Axis, ...]

    def infer(self, operands: Sequence[Known]) -> ArrayType:
        source, dims = _shape(operands[0]), self.broadcast_dimensions
        _require_axes(dims, len(self.shape))
        if len(dims) != len(source) or tuple(sorted(dims)) != dims:
            _ill_typed(f"broadcast_dimensions {dims} do not increase over the axes of {operands[0]}")
        for size, dim in zip(source, dims, strict=True):
            if size not in (1, self.shape[dim]):
                _ill_typed(f"an axis of size {size} cannot be broadcast to size {self.shape[dim]}")
        return ArrayType(dtype=_dtype(operands), shape=self.shape)


class Reshape(_Equation):
    """The same entries, in row-major order, in another shape."""

    primitive: Literal["reshape"]
    operands: OneOperand
    new_sizes: tuple[Size, ...]

    def infer(self, operands: Sequence[Known]) -> ArrayType:
        return ArrayType(dtype=_dtype(operands), shape=self.new_sizes)

    def require(self, operands: Sequence[Known], given: Constraints) -> None:
        before, after = dims.mul(*_shape(operands[0])), dims.mul(*self.new_sizes)
        if given.normal(dims.sub(before, after)) != 0:
            _ill_typed(f"{operands[0]} and {self.new_sizes} do not have the same number of entries")


class Squeeze(_Equation):
    """Removes the axes ``dimensions``, which have size 1."""

    primitive: Literal["squeeze"]
    operands: OneOperand
    dimensions: tuple[Axis, ...]

    def infer(self, operands: Sequence[Known]) -> ArrayType:
        source = _shape(operands[0])
        _require_axes(self.dimensions, len(source))
        if any(source[axis] != 1 for axis in self.dimensions):
            _ill_typed(f"dimensions {self.dimensions} of {operands[0]} do not all have size 1")
        return ArrayType(dtype=_dtype(operands), shape=_without(source, self.dimensions))


class Transpose(_Equation):
    """Axis ``i`` of the result is axis ``permutation[i]`` of the operand."""

    primitive: Literal["transpose"]
    operands: OneOperand
    permutation: tuple[Axis, ...]

    def infer(self, operands: Sequence[Known]) -> ArrayType:
        source = _shape(operands[0])
        if sorted(self.permutation) != list(range(len(source))):
            _ill_typed(f"{self.permutation} is not a permutation of the axes of {operands[0]}")
        shape = tuple(source[axis] for axis in self.permutation)
        return ArrayType(dtype=_dtype(operands), shape=shape)


class Slice(_Equation):
    """The entries from ``start_indices`` on, and before ``limit_indices``; every ``strides``-th of them."""

    primitive: Literal["slice"]
    operands: OneOperand
    start_indices: tuple[Start, ...]
    limit_indices: tuple[Size, ...]
    strides: tuple[Annotated[int, Field(ge=1)], ...] | None = None

    def infer(self, operands: Sequence[Known]) -> ArrayType:
        steps = self.strides or (1,) * len(self.start_indices)
        lengths = map(dims.sub, self.limit_indices, self.start_indices)
        return ArrayType(dtype=_dtype(operands), shape=tuple(map(_strided, lengths, steps)))

    def require(self, operands: Sequence[Known], given: Constraints) -> None:
        source = _shape(operands[0])
        steps = self.strides or (1,) * len(source)
        if not len(source) == len(self.start_indices) == len(self.limit_indices) == len(steps):
            _ill_typed(
                f"start_indices, limit_indices and strides need one entry for each axis of {operands[0]}"
            )
        for size, start, limit, step in zip(
            source, self.start_indices, self.limit_indices, steps, strict=True
        ):
            length = dims.add(dims.sub(limit, start), step - 1)
            if not all(map(given.nonnegative, (start, length, dims.sub(size, limit)))):
                _ill_typed(f"the slice from {start} to {limit} may not be on an axis of size {size}")


def _strided(length: Size, step: int) -> Size:
    """The number of entries that a slice of some length takes."""
    if step == 1:
        return length
    return dims.add(dims.operation("floordiv", dims.sub(length, 1), step), 1)


class Reverse(_Equation):
    """The axes ``dimensions`` in reverse order."""

    primitive: Literal["rev"]
    operands: OneOperand
    dimensions: tuple[Axis, ...]

    def infer(self, operands: Sequence[Known]) -> ArrayType:
        source = _shape(operands[0])
        _require_axes(self.dimensions, len(source))
        return ArrayType(dtype=_dtype(operands), shape=source)


class Concatenate(_Equation):
    """Two arrays, one behind the other along the axis ``dimension``."""

    primitive: Literal["concatenate"]
    operands: TwoOperands
    dimension: Axis

    def infer(self, operands: Sequence[Known]) -> ArrayType:
        left, right = map(_shape, operands)
        _require_axes((self.dimension,), len(left))
        if _without(left, (self.dimension,)) != _without(right, (self.dimension,)):
            _ill_typed(f"{operands[0]} and {operands[1]} differ in more than axis {self.dimension}")
        shape = list(left)
        shape[self.dimension] = dims.add(left[self.dimension], right[self.dimension])
        return ArrayType(dtype=_dtype(operands), shape=tuple(shape))


class Iota(_Equation):
    """The coordinate along the axis ``dimension``, from 0."""

    primitive: Literal["iota"]
    operands: tuple[()]
    shape: tuple[Size, ...]
    dimension: Axis
    dtype: FloatDType | IntDType

    def infer(self, operands: Sequence[Known]) -> ArrayType:
        _require_axes((self.dimension,), len(self.shape))
        return ArrayType(dtype=self.dtype, shape=self.shape)


class DimAsValue(_Equation):
    """The value of a size; JAX makes it an int64 where that is its default, else an int32."""

    primitive: Literal["dim_as_value"]
    operands: tuple[()]
    dim: Dimension

    def infer(self, operands: Sequence[Known]) -> ArrayType:
        if self.result.dtype not in get_args(IntDType):
            _ill_typed(f"a size is not of type {self.result}")
        return ArrayType(dtype=self.result.dtype, shape=())


class Reduce(_Equation):
    """Sum, product, maximum or minimum of an array of numbers over ``axes``."""

    primitive: Literal["reduce_sum", "reduce_prod", "reduce_max", "reduce_min"]
    operands: OneOperand
    axes: tuple[Axis, ...]

    def infer(self, operands: Sequence[Known]) -> ArrayType:
        _require_numbers(operands)
        source = _shape(operands[0])
        _require_axes(self.axes, len(source))
        return ArrayType(dtype=_dtype(operands), shape=_without(source, self.axes))


class Cumulate(_Equation):
    """The reductions of the entries up to each position along ``axis``."""

    primitive: Literal["cumsum", "cumprod", "cummax", "cummin"]
    operands: OneOperand
    axis: Axis

    def infer(self, operands: Sequence[Known]) -> ArrayType:
        _require_numbers(operands)
        source = _shape(operands[0])
        _require_axes((self.axis,), len(source))
        return ArrayType(dtype=_dtype(operands), shape=source)


class BoolReduce(_Equation):
    """Disjunction or conjunction of a bool array over ``axes``."""

    primitive: Literal["reduce_or", "reduce_and"]
    operands: OneOperand
    axes: tuple[Axis, ...]

    def infer(self, operands: Sequence[Known]) -> ArrayType:
        _require_bool(operands)
        source = _shape(operands[0])
        _require_axes(self.axes, len(source))
        return ArrayType(dtype="bool", shape=_without(source, self.axes))


class DotGeneral(_Equation):
    """Sum of products over contracted axes.

    ``dimension_numbers`` is ``((left contracting, right contracting), (left batch, right batch))``. The axes
    of the result are the batch axes, then the free axes of the left operand, then those of the right operand.
    """

    primitive: Literal["dot_general"]
    operands: TwoOperands
    dimension_numbers: tuple[
        tuple[tuple[Axis, ...], tuple[Axis, ...]],
        tuple[tuple[Axis, ...], tuple[Axis, ...]],
    ]

    def infer(self, operands: Sequence[Known]) -> ArrayType:
        _require_float(operands)
        left, right = map(_shape, operands)
        (left_sum, right_sum), (left_batch, right_batch) = self.dimension_numbers
        _require_axes(left_sum + left_batch, len(left))
        _require_axes(right_sum + right_batch, len(right))
        if len(left_sum) != len(right_sum) or len(left_batch) != len(right_batch):
            _ill_typed(f"dimension_numbers {self.dimension_numbers} pair unequal numbers of axes")
        for i, j in zip(left_sum + left_batch, right_sum + right_batch, strict=True):
            if left[i] != right[j]:
                _ill_typed(f"axis {i} of {operands[0]} does not match axis {j} of {operands[1]}")
        batch = tuple(left[i] for i in left_batch)
        shape = batch + _without(left, left_sum + left_batch) + _without(right, right_sum + right_batch)
        return ArrayType(dtype=_dtype(operands), shape=shape)


class ConvertElementType(_Equation):
    """Conversion: false is 0 and true is 1; numbers are rounded to float dtypes, and true unless 0.

    There is none from float to int dtypes, which truncates.
    """

    primitive: Literal["convert_element_type"]
    operands: OneOperand
    new_dtype: DType

    def infer(self, operands: Sequence[Known]) -> ArrayType:
        if _is_float(operands[0]) and self.new_dtype in get_args(IntDType):
            _ill_typed(f"a conversion from {operands[0].dtype} to {self.new_dtype} is not supported")
        return ArrayType(dtype=self.new_dtype, shape=_shape(operands[0]))


Equation: TypeAlias = Annotated[
    FloatUnary
    | IsFinite
    | Binary
    | Compare
    | Not
    | BoolBinary
    | SelectN
    | BroadcastInDim
    | Reshape
    | Squeeze
    | Transpose
    | Slice
    | Reverse
    | Concatenate
    | Iota
    | DimAsValue
    | Reduce
    | Cumulate
    | BoolReduce
    | DotGeneral
    | ConvertElementType,
    Field(discriminator="primitive"),
]


class Argument(_Model):
    """An argument of the kernel at one shape."""

    name: str
    role: Role
    dtype: DType
    shape: tuple[Size, ...]

    @property
    def type(self) -> ArrayType:
        return ArrayType(dtype=self.dtype, shape=self.shape)


class Program(_Model):
    """A kernel at one shape, as imported from its jaxpr; always well typed.

    ``shape`` gives the size of every symbol of the manifest: a number, or the name under which its size is
    left open; ``constraints`` is what the manifest says of those. ``result`` is the operand that the kernel
    returns and ``type`` its type.
    """

    schema_version: Literal["maskpool-verify/program/1"] = Field(alias="schema")
    kernel: str
    function: str
    shape: dict[str, Size]
    constraints: tuple[Annotated[str, AfterValidator(_canonical_constraint)], ...] = ()
    jax_version: str
    arguments: tuple[Argument, ...]
    equations: tuple[Equation, ...]
    result: Operand
    type: ArrayType

    @property
    def symbols(self) -> tuple[str, ...]:
        """The symbols of the manifest whose sizes are left open, in the order of their numbers in Lean."""
        return tuple(symbol for symbol, size in self.shape.items() if isinstance(size, str))

    def variable_types(self) -> tuple[ArrayType, ...]:
        """The type of every variable, by its number."""
        return tuple(argument.type for argument in self.arguments) + tuple(e.result for e in self.equations)

    @property
    def given(self) -> Constraints:
        """What is assumed of the sizes that are left open."""
        return Constraints.parse(self.constraints)

    @model_validator(mode="after")
    def _well_typed(self) -> Self:
        types = self.variable_types()
        given = self.given
        for number, equation in enumerate(self.equations):
            known = types[: len(self.arguments) + number]
            try:
                require_well_typed(
                    equation, [operand_type(operand, known) for operand in equation.operands], given
                )
            except ValueError as error:
                raise ValueError(f"equation {number} ({equation.primitive}): {error}") from None
        returned = operand_type(self.result, types)
        if isinstance(returned, Scalar):
            returned = ArrayType(dtype=returned.dtype, shape=())
        if returned != self.type:
            raise ValueError(f"the program returns {returned}, not {self.type}")
        return self


def require_well_typed(equation: Equation, operands: Sequence[Known], given: Constraints) -> None:
    """Check the type of the result of an equation, and all sizes in it, under constraints.

    Raises:
        ValueError: something does not fit, or Lean would compute a size differently from JAX.
    """
    equation.require(operands, given)
    inferred = equation.infer(operands)
    result = equation.result
    if inferred != result:
        pairs = zip(inferred.shape, result.shape, strict=False)
        if (inferred.dtype, len(inferred.shape)) != (result.dtype, len(result.shape)) or any(
            given.normal(dims.sub(left, right)) != 0 for left, right in pairs
        ):
            _ill_typed(f"the result has type {inferred}, not {result}")
    for size in _sizes(equation):
        given.require_exact(size)


def _sizes(equation: Equation) -> Iterator[Size]:
    """All sizes in an equation."""
    yield from equation.result.shape
    for name in SIZE_FIELDS:
        value = getattr(equation, name, ())
        yield from value if isinstance(value, tuple) else (value,)


def at(program: Program, sizes: Mapping[str, int]) -> Program:
    """The program when the symbols of the manifest have the values ``sizes``.

    Raises:
        ValueError: there is no such program, because an axis would be empty or a constraint does not hold.
    """
    values = {name: sizes[symbol] for symbol, name in program.shape.items() if isinstance(name, str)}
    if (violated := program.given.violated(values)) is not None:
        raise ValueError(f"the constraint {violated} does not hold at {dict(sizes)}")

    def placed(value: Any) -> Any:
        if isinstance(value, tuple | list):
            return tuple(map(placed, value))
        return dims.at(value, values) if isinstance(value, str) else value

    def typed(kind: ArrayType) -> ArrayType:
        return ArrayType(dtype=kind.dtype, shape=placed(kind.shape))

    equations = []
    for equation in program.equations:
        fields = {name: getattr(equation, name) for name in type(equation).model_fields}
        fields |= {name: placed(fields[name]) for name in SIZE_FIELDS if name in fields}
        equations.append(type(equation).model_validate({**fields, "result": typed(equation.result)}))
    return Program(
        schema=SCHEMA,
        kernel=program.kernel,
        function=program.function,
        shape={symbol: dims.at(size, values) for symbol, size in program.shape.items()},
        jax_version=program.jax_version,
        arguments=tuple(
            Argument(name=a.name, role=a.role, dtype=a.dtype, shape=placed(a.shape))
            for a in program.arguments
        ),
        equations=tuple(equations),
        result=program.result,
        type=typed(program.type),
    )


def operand_type(operand: Operand, types: Sequence[ArrayType]) -> Known:
    """What is known of ``operand`` if ``types`` are the variables so far; ``ValueError`` if it is not one."""
    match operand:
        case Var():
            if operand.index >= len(types):
                raise ValueError(f"variable {operand.index} is not defined yet")
            return types[operand.index]
        case BoolLiteral():
            return Scalar(dtype="bool")
        case _:
            return Scalar(dtype=operand.dtype)


def _ordered(equation: Mapping[str, Any]) -> dict[str, Any]:
    """Primitive, operands, parameters, result: the order in which one reads an equation."""
    parameters = {k: v for k, v in equation.items() if k not in ("primitive", "operands", "result")}
    return {
        "primitive": equation["primitive"],
        "operands": equation["operands"],
        **parameters,
        "result": equation["result"],
    }


def to_json(program: Program) -> str:
    """The program as JSON text: fixed key order, one argument or equation per line, a final newline."""
    data = program.model_dump(mode="json")
    data["equations"] = [_ordered(equation) for equation in data["equations"]]
    if not program.constraints:
        del data["constraints"]
    lines = []
    for key, value in data.items():
        if key in ("arguments", "equations") and value:
            items = ",\n".join(f"    {json.dumps(item, ensure_ascii=False)}" for item in value)
            lines.append(f'  "{key}": [\n{items}\n  ]')
        else:
            lines.append(f'  "{key}": {json.dumps(value, ensure_ascii=False)}')
    return "{\n" + ",\n".join(lines) + "\n}\n"


def _unique_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    keys = [key for key, _ in pairs]
    for key in keys:
        if keys.count(key) > 1:
            raise ValueError(f'the key "{key}" occurs twice')
    return dict(pairs)


def from_json(text: str) -> Program:
    """Read what :func:`to_json` wrote; :class:`AuditError` for anything that is not a well-typed program."""
    try:
        json.loads(text, object_pairs_hook=_unique_keys)
        return Program.model_validate_json(text)
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(map(str, first["loc"])) or "program"
        reason = first["msg"].removeprefix("Value error, ")
        raise AuditError(f"The imported program is malformed at {where}: {reason}; write it again.") from None
    except (ValueError, RecursionError) as error:
        raise AuditError(f"The imported program is not JSON as expected: {error}; write it again.") from None


def digest(program: Program) -> str:
    """``"sha256:..."`` of what the program means: constraints, arguments, equations, result and type.

    The names of kernel and function, the symbols of the shape and the JAX version are left out.
    """
    meaning = {"schema_version", "arguments", "equations", "result", "type"}
    if program.constraints:
        meaning.add("constraints")
    data = program.model_dump(mode="json", include=meaning)
    canonical = json.dumps(data, sort_keys=True, separators=(",", ":"), ensure_ascii=True)
    return "sha256:" + hashlib.sha256(canonical.encode("ascii")).hexdigest()
