"""A Jaxpr and the Lean program that was made of it, equation by equation, for people to compare."""

from __future__ import annotations

import linecache
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from pydantic import BaseModel, ConfigDict

from maskpool_verify.frontend import TracedKernel
from maskpool_verify.lean import syntax
from maskpool_verify.tracing import Aval, FlatEquation, FlatOperand, FlatVar, is_size, size_of

_SHORT: Mapping[str, str] = {"bfloat16": "bf16", "bool": "bool"}


class ListedEquation(BaseModel):
    """One equation of a Jaxpr in JAX's notation, and what it has become in Lean.

    An equation that does not change its operand has no Lean text, and one that broadcasts has two lines.
    ``source`` is its ``"file:line"`` and ``code`` that line. The first entry of a listing holds the
    arguments, the last one the result.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    jaxpr: str
    lean: tuple[str, ...]
    source: str
    code: str


def listing(traced: TracedKernel, root: Path) -> tuple[ListedEquation, ...]:
    """The flat Jaxpr of a trace beside its program; ``root`` is the directory of the manifest."""
    return tuple(_entries(traced, root))


def _entries(traced: TracedKernel, root: Path) -> Iterator[ListedEquation]:
    flat, program = traced.flat, traced.program
    *lines, returned = syntax.equation_lines(program)
    inputs = " ".join(f"{_name(k)}:{_type(aval)}" for k, aval in enumerate(flat.inputs))
    head = f"def program : {syntax.kernel_type(program)} :="
    yield ListedEquation(jaxpr=f"{{ lambda ; {inputs}. let", lean=(head,), source="", code="")
    for number, equation in enumerate(flat.equations):
        source = str(equation.source)
        yield ListedEquation(
            jaxpr=f"{_name(len(flat.inputs) + number)}:{_type(equation.aval)} = {_right_side(equation)}",
            lean=tuple(lines[k] for k, origin in enumerate(traced.origins) if origin == number),
            source=source,
            code=source_line(root, source),
        )
    yield ListedEquation(jaxpr=f"in ({_operand(flat.output)},) }}", lean=(returned,), source="", code="")


def source_line(root: Path, source: str) -> str:
    """The code at ``"file:line"`` without indentation; empty if there is none."""
    file, _, line = source.rpartition(":")
    return linecache.getline(str(root / file), int(line)).strip() if line.isdecimal() else ""


def _right_side(equation: FlatEquation) -> str:
    shown = {key: value for key, value in sorted(equation.params.items()) if value is not None}
    parameters = " ".join(f"{key}={_value(value)}" for key, value in shown.items())
    operands = " ".join(map(_operand, equation.operands))
    return f"{equation.primitive}{f'[{parameters}]' if parameters else ''} {operands}".rstrip()


def _operand(operand: FlatOperand) -> str:
    return _name(operand.index) if isinstance(operand, FlatVar) else f"{operand.value}:{_type(operand.aval)}"


def _name(number: int) -> str:
    """JAX's names of variables: ``a`` to ``z``, ``ba`` to ``zz``, and so on."""
    higher, letter = divmod(number, 26)
    return (_name(higher) if higher else "") + chr(ord("a") + letter)


def _type(aval: Aval) -> str:
    dtype = _SHORT.get(aval.dtype) or aval.dtype.replace("float", "f").replace("uint", "u").replace(
        "int", "i"
    )
    return f"{dtype}[{','.join(map(str, aval.shape))}]"


def _value(value: Any) -> str:
    """A parameter; sizes in their canonical order, and dtypes by their names."""
    if isinstance(value, tuple | list):
        return _sequence(value)
    if isinstance(value, np.dtype | type):
        return str(np.dtype(value))
    return str(size_of(value)) if is_size(value) and not isinstance(value, bool) else str(value)


def _sequence(values: Sequence[Any]) -> str:
    inner = ", ".join(map(_value, values))
    return f"({inner},)" if len(values) == 1 else f"({inner})"
