"""The second reading of a Jaxpr, as text. What the texts mean is tested in Lean."""

from __future__ import annotations

import jax.numpy as jnp
import pytest
from claims import flat, translated
from jax import lax
from primitives import CASES, Case, f32, truth

from maskpool_verify.errors import UnsupportedError
from maskpool_verify.importer import SUPPORTED_PRIMITIVES
from maskpool_verify.lean.readable import ReadableFunction, read_jaxpr


@pytest.mark.parametrize("name", CASES)
def test_each_primitive_reads_the_entries_that_jax_documents(name: str) -> None:
    case: Case = CASES[name]
    jaxpr = flat(case.function, *case.inputs)
    read = read_jaxpr(jaxpr, [f"x{number}" for number in range(len(case.inputs))])
    assert tuple(line.value for line in read.lines) == case.values


def test_the_cases_are_all_primitives() -> None:
    used = {e.primitive for case in CASES.values() for e in flat(case.function, *case.inputs).equations}
    assert used == set(SUPPORTED_PRIMITIVES) - {"stop_gradient", "copy", "copy_p"}


def test_lines_are_numbered_on_from_the_arguments_and_typed() -> None:
    read = translated(lambda x, m: jnp.sum(lax.select(m, x, -x), axis=0), f32(3, 2), truth(3, 2)).readable
    assert [(line.name, line.type) for line in read.lines] == [
        ("t2", "Tensor α [3, 2]"),
        ("t3", "Tensor α [3, 2]"),
        ("t4", "Tensor α [2]"),
    ]
    assert read.result == "t4"


def test_bool_values_are_tensors_of_bool() -> None:
    case = CASES["lt"]
    assert translated(case.function, *case.inputs).readable.lines[0].type == "Tensor Bool [2, 2]"


def test_arguments_have_the_names_they_are_given() -> None:
    read = read_jaxpr(flat(lambda x, y: x + y, f32(2), f32(2)), ["features", "«at»"])
    assert read.lines[0].value == "fun j => Ops.add (features j) («at» j)"


def test_an_operand_with_an_axis_of_size_one_is_repeated_first() -> None:
    read = translated(lax.add_p.bind, f32(2, 1), f32(2, 3)).readable
    assert [line.value for line in read.lines] == [
        "fun j => x0 (j.1, 0, ())",
        "fun j => Ops.add (t2 j) (x1 j)",
    ]


def test_stop_gradient_is_its_operand() -> None:
    assert translated(lambda x: lax.stop_gradient(x) + x, f32(2)).readable == ReadableFunction(
        (translated(lambda x: x + x, f32(2)).readable.lines), "t1"
    )


def test_an_argument_can_be_returned_as_it_is() -> None:
    assert translated(lambda x, y: y, f32(2), f32(3)).readable == ReadableFunction((), "x1")


def test_a_literal_is_returned_as_a_constant_tensor() -> None:
    assert translated(lambda x: jnp.float32(-2.5), f32(2)).readable == ReadableFunction(
        (), "fun _ => Ops.lit (-5) 2"
    )


def test_an_unknown_primitive_is_named_with_its_line() -> None:
    with pytest.raises(
        UnsupportedError, match=r'test_readable\.py:\d+: primitive "lgamma" has no readable form'
    ):
        read_jaxpr(flat(lambda x: lax.lgamma(x), f32(2)), ["x"])  # noqa: PLW0108 - its own line


def test_a_conversion_to_integers_is_refused() -> None:
    jaxpr = flat(lambda x: x.astype(jnp.int32).astype(jnp.float32), f32(2))
    with pytest.raises(UnsupportedError, match="a conversion from float32 to int32 has no readable form"):
        read_jaxpr(jaxpr, ["x"])
