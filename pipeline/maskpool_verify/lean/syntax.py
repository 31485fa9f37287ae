"""The imported program as a term of the deep embedding ``MaskPool.Kernel``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import assert_never

from maskpool_verify import dims
from maskpool_verify.dims import Size
from maskpool_verify.manifest import DType
from maskpool_verify.program import (
    ArrayType,
    BoolLiteral,
    BoolReduce,
    BroadcastInDim,
    Compare,
    Concatenate,
    ConvertElementType,
    Cumulate,
    DimAsValue,
    DotGeneral,
    Equation,
    InfinityLiteral,
    IntLiteral,
    Iota,
    IsFinite,
    NanLiteral,
    Operand,
    Program,
    RealLiteral,
    Reduce,
    Reshape,
    Reverse,
    Slice,
    Squeeze,
    Transpose,
    Var,
)

_TYPE_NAMES: dict[DType, str] = {
    "float16": "f16",
    "bfloat16": "bf16",
    "float32": "f32",
    "float64": "f64",
    "int32": "i32",
    "int64": "i64",
    "bool": "bool_",
}


def list_text(items: Sequence[Size]) -> str:
    """``[4, 3]`` or ``[n, 2 * d]``"""
    return f"[{', '.join(map(dims.lean, items))}]"


def type_text(type_: ArrayType) -> str:
    """``f32 [4, 3]``"""
    return f"{_TYPE_NAMES[type_.dtype]} {list_text(type_.shape)}"


def dtype_text(dtype: DType) -> str:
    """``.float .f32``, ``.int .i32`` or ``.bool``"""
    if dtype == "bool":
        return ".bool"
    return f".{'int' if dtype.startswith('int') else 'float'} .{_TYPE_NAMES[dtype]}"


def number(value: int) -> str:
    """A numeral as an argument of a function."""
    return str(value) if value >= 0 else f"({value})"


def _operand(operand: Operand, *, scalar: bool) -> str:
    match operand:
        case Var():
            return f"v#{operand.index}"
        case RealLiteral():
            value = operand.value.fraction()
            head = "scalar" if scalar else "real"
            return f"(.{head} {number(value.numerator)} {value.denominator})"
        case InfinityLiteral():
            head = "scalarInfinity" if scalar else "infinity"
            return f"(.{head} {str(operand.is_negative).lower()})"
        case NanLiteral():
            return ".scalarNan" if scalar else ".nan"
        case IntLiteral():
            head = "scalarInt" if scalar else "int"
            return f"(.{head} {number(operand.value)})"
        case BoolLiteral():
            head = "scalarBool" if scalar else "bool"
            return f"(.{head} {str(operand.value).lower()})"
        case _:
            assert_never(operand)


def _parameters(equation: Equation) -> str:
    """JAX's parameters of an equation, by name."""
    match equation:
        case BroadcastInDim():
            return (
                f" (shape := {list_text(equation.shape)})"
                f" (broadcast_dimensions := {list_text(equation.broadcast_dimensions)})"
            )
        case Reshape():
            return f" (new_sizes := {list_text(equation.new_sizes)})"
        case Slice():
            starts = f" (start_indices := {list_text(equation.start_indices)})"
            return starts + (f" (strides := {list_text(equation.strides)})" if equation.strides else "")
        case Squeeze() | Reverse():
            return f" (dimensions := {list_text(equation.dimensions)})"
        case Transpose():
            return f" (permutation := {list_text(equation.permutation)})"
        case Concatenate():
            return f" (dimension := {equation.dimension})"
        case Iota():
            return f" (shape := {list_text(equation.shape)}) (dimension := {equation.dimension})"
        case DimAsValue():
            return f" (dim := {dims.lean(equation.dim)})"
        case Reduce() | BoolReduce():
            return f" (axes := {list_text(equation.axes)})"
        case Cumulate():
            return f" (axis := {equation.axis})"
        case DotGeneral():
            (left, right), (left_batch, right_batch) = equation.dimension_numbers
            contract = f"({list_text(left)}, {list_text(right)})"
            batch = f"({list_text(left_batch)}, {list_text(right_batch)})"
            return f" (dimension_numbers := ({contract}, {batch}))"
        case ConvertElementType():
            return f" (new_dtype := {dtype_text(equation.new_dtype)})"
        case _:
            return ""


_STRUCTURAL = (
    BroadcastInDim,
    Reshape,
    Squeeze,
    Transpose,
    Slice,
    Reverse,
    Concatenate,
    Reduce,
    Cumulate,
    BoolReduce,
    DotGeneral,
    ConvertElementType,
)


def operation(equation: Equation) -> str:
    """The right-hand side of an equation, such as ``.reduce_sum (axes := [0]) v#5``."""
    scalar = isinstance(equation, _STRUCTURAL)
    operands = [_operand(operand, scalar=scalar) for operand in equation.operands]
    literal = equation.operands[0] if equation.operands else None
    if (
        isinstance(equation, ConvertElementType | Compare | IsFinite)
        and isinstance(literal, RealLiteral | InfinityLiteral | NanLiteral | IntLiteral)
        and not any(isinstance(operand, Var) for operand in equation.operands)
    ):
        # Nothing else says what type the literal has.
        operands[0] = (
            f"({operands[0].removeprefix('(').removesuffix(')')} : Arg _ ({_TYPE_NAMES[literal.dtype]} []))"
        )
    return " ".join([f".{equation.primitive}{_parameters(equation)}", *operands])


def equation_lines(program: Program) -> tuple[str, ...]:
    """One line for each equation, marked with the number of the variable it binds, and one for the result."""
    first = len(program.arguments)
    lines = [
        f".eqn ({type_text(equation.result)}) ({operation(equation)}) <|  -- v#{first + number_}"
        for number_, equation in enumerate(program.equations)
    ]
    return (*lines, f".ret {_operand(program.result, scalar=True)}")


def kernel_type(program: Program) -> str:
    """``Kernel [f32 [4, 3], bool_ [4]] (f32 [3])``"""
    arguments = ", ".join(type_text(argument.type) for argument in program.arguments)
    return f"Kernel [{arguments}] ({type_text(program.type)})"
