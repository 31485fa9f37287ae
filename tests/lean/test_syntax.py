"""The imported program as a Lean term, as text."""

from __future__ import annotations

import jax.numpy as jnp
import pytest
from claims import translated
from primitives import CASES, Case, f32, truth

from maskpool_verify.lean.syntax import dtype_text, equation_lines, kernel_type, number, operation, type_text
from maskpool_verify.program import ArrayType


@pytest.mark.parametrize("name", CASES)
def test_each_primitive_is_written_with_the_parameters_of_jax(name: str) -> None:
    case: Case = CASES[name]
    program = translated(case.function, *case.inputs).program
    assert tuple(map(operation, program.equations)) == case.operations


def test_each_equation_is_a_line_with_its_type_and_number() -> None:
    program = translated(lambda x, m: jnp.where(m, x, 0.0) * x, f32(2), truth(2)).program
    assert kernel_type(program) == "Kernel [f32 [2], bool_ [2]] (f32 [2])"
    assert equation_lines(program) == (
        ".eqn (f32 []) (.convert_element_type (new_dtype := .float .f32) (.scalar 0 1 : Arg _ (f32 []))) <|"
        "  -- v#2",
        ".eqn (f32 [2]) (.broadcast_in_dim (shape := [2]) (broadcast_dimensions := []) v#2) <|  -- v#3",
        ".eqn (f32 [2]) (.select_n v#1 v#3 v#0) <|  -- v#4",
        ".eqn (f32 [2]) (.mul v#4 v#0) <|  -- v#5",
        ".ret v#5",
    )


def test_programs_without_equations() -> None:
    assert equation_lines(translated(lambda x, y: y, f32(2), f32(3)).program) == (".ret v#1",)
    literal = translated(lambda x: jnp.float32(-0.75), f32(2)).program
    assert equation_lines(literal) == (".ret (.scalar (-3) 4)",)
    assert kernel_type(literal) == "Kernel [f32 [2]] (f32 [])"


@pytest.mark.parametrize(
    ("dtype", "type_", "argument"),
    [
        ("float16", "f16 [4, 3]", ".float .f16"),
        ("bfloat16", "bf16 [4, 3]", ".float .bf16"),
        ("float32", "f32 [4, 3]", ".float .f32"),
        ("float64", "f64 [4, 3]", ".float .f64"),
        ("bool", "bool_ [4, 3]", ".bool"),
    ],
)
def test_types(dtype: str, type_: str, argument: str) -> None:
    assert type_text(ArrayType(dtype=dtype, shape=(4, 3))) == type_
    assert dtype_text(dtype) == argument


def test_negative_numerals_are_bracketed() -> None:
    assert [number(3), number(0), number(-3)] == ["3", "0", "(-3)"]
