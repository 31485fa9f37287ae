"""One program on many inputs at once: every variable gets a further axis in front.

NumPy takes about as long for a hundred small arrays in one as for a single one.
"""

from __future__ import annotations

from typing import Any

from maskpool_verify.program import (
    SCHEMA,
    Argument,
    ArrayType,
    BoolReduce,
    BroadcastInDim,
    Concatenate,
    Cumulate,
    DotGeneral,
    Equation,
    Operand,
    Program,
    Reduce,
    Reshape,
    Reverse,
    Slice,
    Squeeze,
    Transpose,
    Var,
)


def batched(program: Program, count: int) -> Program:
    """The program on ``count`` inputs; every argument and the result have ``count`` as their first axis.

    Raises:
        ValueError: an equation is of a kind that is not known here, or the result is a literal.
    """
    places: list[int] = list(range(len(program.arguments)))
    equations: list[Equation] = []

    def moved(operand: Operand) -> Operand:
        return Var(var=places[operand.index]) if isinstance(operand, Var) else operand

    for equation in program.equations:
        if any(isinstance(operand, Var) for operand in equation.operands):
            fields: dict[str, Any] = {name: getattr(equation, name) for name in type(equation).model_fields}
            fields |= _shifted(equation, count)
            fields["operands"] = tuple(map(moved, equation.operands))
            fields["result"] = _wider(equation.result, count)
            equations.append(type(equation).model_validate(fields))
        else:  # the same for all inputs
            equations.append(equation)
            same = Var(var=len(program.arguments) + len(equations) - 1)
            wide = _wider(equation.result, count)
            equations.append(
                BroadcastInDim(
                    primitive="broadcast_in_dim",
                    operands=(same,),
                    shape=wide.shape,
                    broadcast_dimensions=tuple(range(1, len(wide.shape))),
                    result=wide,
                )
            )
        places.append(len(program.arguments) + len(equations) - 1)
    if not isinstance(program.result, Var):
        raise ValueError("the result is a literal")
    return Program(
        schema=SCHEMA,
        kernel=program.kernel,
        function=program.function,
        shape=program.shape,
        jax_version=program.jax_version,
        arguments=tuple(
            Argument(name=a.name, role=a.role, dtype=a.dtype, shape=(count, *a.shape))
            for a in program.arguments
        ),
        equations=tuple(equations),
        result=moved(program.result),
        type=_wider(program.type, count),
    )


def _wider(kind: ArrayType, count: int) -> ArrayType:
    return ArrayType(dtype=kind.dtype, shape=(count, *kind.shape))


def _shifted(equation: Equation, count: int) -> dict[str, Any]:
    """The parameters that name axes or sizes; what is no field of this kind is none for elementwise ones."""
    match equation:
        case BroadcastInDim():
            return {
                "shape": (count, *equation.shape),
                "broadcast_dimensions": (0, *_up(equation.broadcast_dimensions)),
            }
        case Reshape():
            return {"new_sizes": (count, *equation.new_sizes)}
        case Squeeze() | Reverse():
            return {"dimensions": _up(equation.dimensions)}
        case Transpose():
            return {"permutation": (0, *_up(equation.permutation))}
        case Slice():
            return {
                "start_indices": (0, *equation.start_indices),
                "limit_indices": (count, *equation.limit_indices),
                "strides": (1, *equation.strides) if equation.strides else None,
            }
        case Concatenate():
            return {"dimension": equation.dimension + 1}
        case Reduce() | BoolReduce():
            return {"axes": _up(equation.axes)}
        case Cumulate():
            return {"axis": equation.axis + 1}
        case DotGeneral():
            (left_sum, right_sum), (left_batch, right_batch) = equation.dimension_numbers
            batch = ((0, *_up(left_batch)), (0, *_up(right_batch)))
            return {"dimension_numbers": ((_up(left_sum), _up(right_sum)), batch)}
    if set(type(equation).model_fields) <= {"primitive", "operands", "result", "new_dtype"}:
        return {}
    raise ValueError(f'the primitive "{equation.primitive}" is not known here')


def _up(axes: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(axis + 1 for axis in axes)
