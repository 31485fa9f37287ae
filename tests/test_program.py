"""The imported program: its JSON, its digest, and that only well-typed programs exist."""

import json
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from maskpool_verify.errors import AuditError
from maskpool_verify.program import Program, Rational, at, digest, from_json, to_json

F32 = "float32"


def array(*shape: int | str, dtype: str = F32) -> dict[str, Any]:
    return {"dtype": dtype, "shape": list(shape)}


def program_data() -> dict[str, Any]:
    """max(logits, 1/2) @ features, and the mask is not used."""
    return {
        "schema": "maskpool-verify/program/1",
        "kernel": "pool",
        "function": "pool.py:pool",
        "shape": {"n": 4, "d": 3},
        "jax_version": "0.10.2",
        "arguments": [
            {"name": "features", "role": "features", **array(4, 3)},
            {"name": "logits", "role": "logits", **array(4)},
            {"name": "mask", "role": "mask", **array(4, dtype="bool")},
        ],
        "equations": [
            {
                "primitive": "max",
                "operands": [{"var": 1}, {"real": {"num": "1", "den": "2"}, "dtype": "float32"}],
                "result": array(4),
            },
            {
                "primitive": "dot_general",
                "operands": [{"var": 3}, {"var": 0}],
                "dimension_numbers": [[[0], [0]], [[], []]],
                "result": array(3),
            },
        ],
        "result": {"var": 4},
        "type": array(3),
    }


def read(data: dict[str, Any]) -> Program:
    return from_json(json.dumps(data))


def test_json_is_read_as_written() -> None:
    text = to_json(read(program_data()))
    assert json.loads(text) == program_data()
    assert from_json(text) == read(program_data())
    assert to_json(from_json(text)) == text
    assert text.endswith("}\n")


def test_one_equation_per_line() -> None:
    lines = to_json(read(program_data())).splitlines()
    assert [json.loads(line.rstrip(","))["primitive"] for line in lines if "primitive" in line] == [
        "max",
        "dot_general",
    ]


def put(path: str, value: Any) -> Any:
    """A change of the data: set ``value`` at a dotted path."""

    def change(data: dict[str, Any]) -> None:
        *parents, last = [int(key) if key.isdigit() else key for key in path.split(".")]
        target: Any = data
        for key in parents:
            target = target[key]
        target[last] = value

    change.__name__ = f"{path}={value}"
    return change


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (put("schema", "maskpool-verify/program/2"), "schema"),
        (put("author", "me"), "author"),
        (put("equations.0.accuracy", None), "accuracy"),
        (put("arguments.0.weak_type", True), "weak_type"),
        (put("equations.0.operands.0", {"var": 3}), "variable 3 is not defined yet"),
        (put("equations.0.operands.0", {"var": -1}), "equations.0"),
        (put("equations.0.operands.0", {"var": True}), "equations.0"),
        (put("equations.0.operands.0", {"var": 2}), "needs float or int operands"),
        (put("equations.0.operands.0", {"var": 0}), r"the result has type float32\[4,3\]"),
        (put("equations.0.operands", [{"var": 1}]), "equations.0"),
        (put("equations.0.operands.1", {"bool": True}), "needs float or int operands"),
        (put("equations.0.operands.1", {"int": "1", "dtype": "int32"}), "operands of different dtypes"),
        (put("equations.0.operands.1", {"int": 1, "dtype": "int32"}), "equations.0"),
        (put("equations.0.operands.1", {"int": "-0", "dtype": "int32"}), "equations.0"),
        (put("equations.0.operands.1", {"int": "1", "dtype": "float32"}), "equations.0"),
        (put("equations.0.operands.1", {"infinity": "minus", "dtype": "float32"}), "equations.0"),
        (put("equations.0.operands.1", {"nan": True}), "nan.dtype: Field required"),
        (put("equations.0.operands.1", {"nan": False, "dtype": "float32"}), "equations.0"),
        (
            put("equations.0.operands.1", {"text": "x"}),
            'expected "var", "real", "infinity", "nan", "int" or "bool"',
        ),
        (put("equations.0.operands.1.real.num", "2"), "not in lowest terms"),
        (put("equations.0.operands.1.real.num", "01"), "equations.0"),
        (put("equations.0.operands.1.real.num", "-0"), "equations.0"),
        (put("equations.0.operands.1.real.den", "0"), "equations.0"),
        (put("equations.0.operands.1.real.num", 1), "equations.0"),
        (put("equations.0.primitive", "maximum"), "equations.0"),
        (put("equations.0.result.shape", [5]), r"the result has type float32\[4\], not float32\[5\]"),
        (put("equations.0.result.dtype", "float64"), "the result has type"),
        (put("equations.0.result.dtype", "float8"), "dtype"),
        (put("equations.1.dimension_numbers", [[[0], [1]], [[], []]]), "does not match axis 1"),
        (put("equations.1.dimension_numbers", [[[0], []], [[], []]]), "unequal numbers of axes"),
        (put("equations.1.dimension_numbers", [[[1], [0]], [[], []]]), "not distinct axes"),
        (put("result", {"var": 5}), "variable 5 is not defined"),
        (put("result", {"var": 3}), r"returns float32\[4\]"),
        (put("type.shape", [4]), "the program returns"),
        (put("arguments.1.shape", [0]), "arguments.1.shape.0"),
        (put("arguments.1.shape", [True]), "arguments.1.shape.0"),
        (put("shape.n", "4"), "shape.n"),
    ],
)
def test_corrupted_json_is_refused(change: Any, message: str) -> None:
    data = program_data()
    change(data)
    with pytest.raises(AuditError, match=message):
        read(data)


@pytest.mark.parametrize("text", ["", "{", "[]", "{}", "null", "[" * 10**5])
def test_text_that_is_no_program_is_refused(text: str) -> None:
    with pytest.raises(AuditError):
        from_json(text)


def test_a_key_that_occurs_twice_is_refused() -> None:
    text = to_json(read(program_data())).replace('"kernel": "pool"', '"kernel": "pool", "kernel": "pool"')
    with pytest.raises(AuditError, match='"kernel" occurs twice'):
        from_json(text)


@pytest.mark.parametrize(
    ("equation", "message"),
    [
        (
            {"primitive": "broadcast_in_dim", "shape": [3, 5], "broadcast_dimensions": [1]},
            "cannot be broadcast",
        ),
        ({"primitive": "broadcast_in_dim", "shape": [4, 4], "broadcast_dimensions": []}, "do not increase"),
        ({"primitive": "reshape", "new_sizes": [2, 3]}, "do not have the same number of entries"),
        (
            {"primitive": "slice", "start_indices": [2], "limit_indices": [5]},
            "may not be on an axis of size 4",
        ),
        (
            {"primitive": "slice", "start_indices": [2], "limit_indices": [1]},
            "may not be on an axis of size 4",
        ),
        ({"primitive": "slice", "start_indices": [], "limit_indices": []}, "need one entry for each axis"),
        ({"primitive": "rev", "dimensions": [1]}, "not distinct axes"),
        ({"primitive": "cumsum", "axis": 1}, "not distinct axes"),
        ({"primitive": "is_finite"}, r"the result has type bool\[4\]"),
        ({"primitive": "squeeze", "dimensions": [0]}, "do not all have size 1"),
        ({"primitive": "transpose", "permutation": [1]}, "not a permutation"),
        ({"primitive": "reduce_sum", "axes": [1]}, "not distinct axes"),
        ({"primitive": "reduce_max", "axes": [0, 0]}, "not distinct axes"),
        ({"primitive": "reduce_or", "axes": [0]}, "needs bool operands"),
        ({"primitive": "not"}, "needs bool operands"),
        (
            {"primitive": "convert_element_type", "new_dtype": "int32"},
            "a conversion from float32 to int32 is not supported",
        ),
    ],
)
def test_ill_typed_equations_are_refused(equation: dict[str, Any], message: str) -> None:
    data = program_data()
    data["equations"][0] = {"operands": [{"var": 1}], "result": array(4), **equation}
    with pytest.raises(AuditError, match=message):
        read(data)


def test_mixed_dtypes_are_refused() -> None:
    data = program_data()
    data["arguments"].append({"name": "scale", "role": "parameter", **array(4, dtype="float16")})
    data["equations"] = [{"primitive": "add", "operands": [{"var": 1}, {"var": 3}], "result": array(4)}]
    data.update(result={"var": 4}, type=array(4))
    with pytest.raises(AuditError, match="operands of different dtypes"):
        read(data)


def test_the_digest_is_that_of_the_meaning() -> None:
    original = digest(read(program_data()))
    assert original.startswith("sha256:")
    assert len(original) == len("sha256:") + 64
    names = [put("jax_version", "9"), put("kernel", "other"), put("function", "other.py:pool")]
    meaning = [
        put("equations.0.primitive", "min"),
        put("equations.0.operands.1.real.den", "3"),
        put("equations.1.operands.0.var", 1),
        put("arguments.1.role", "parameter"),
    ]
    for change in names + meaning:
        data = program_data()
        change(data)
        assert (digest(read(data)) == original) is (change in names)


@given(st.fractions())
def test_rationals_are_exact(value: Fraction) -> None:
    assert Rational.of(value).fraction() == value


def test_models_are_frozen() -> None:
    with pytest.raises(ValidationError):
        read(program_data()).kernel = "other"


# -- sizes that are left open


def open_data() -> dict[str, Any]:
    """The same program for all sizes."""
    data = program_data()
    data["shape"] = {"n": "n", "d": "d"}
    text = json.dumps(data).replace("[4, 3]", '["n", "d"]').replace("[4]", '["n"]').replace("[3]", '["d"]')
    return json.loads(text)  # type: ignore[no-any-return]


def test_a_program_at_numbers_is_the_one_that_was_written_there() -> None:
    program = at(read(open_data()), {"n": 4, "d": 3})
    assert program == read(program_data())
    assert digest(program) == digest(read(program_data()))
    assert program.symbols == ()


def test_the_sizes_of_parameters_are_replaced_too() -> None:
    data = open_data()
    data["equations"].append(
        {
            "primitive": "broadcast_in_dim",
            "operands": [{"var": 4}],
            "shape": ["2*n + 1", "d"],
            "broadcast_dimensions": [1],
            "result": array("2*n + 1", "d"),
        }
    )
    last = at(read(data), {"n": 5, "d": 2}).equations[-1]
    assert last.shape == last.result.shape == (11, 2)
    assert last.broadcast_dimensions == (1,)


def test_a_program_without_symbols_is_the_same_anywhere() -> None:
    program = read(program_data())
    assert at(program, {}) == program


@pytest.mark.parametrize("sizes", [{"n": 0, "d": 3}, {"n": 1, "d": 3}])
def test_there_is_no_program_with_an_empty_axis(sizes: dict[str, int]) -> None:
    data = open_data()
    data["equations"].append(
        {
            "primitive": "slice",
            "operands": [{"var": 3}],
            "start_indices": [1],
            "limit_indices": ["n"],
            "result": array("n - 1"),
        }
    )
    with pytest.raises(ValueError, match="shape"):
        at(read(data), sizes)
    assert at(read(data), {"n": 2, "d": 3}).equations[-1].result.shape == (1,)


def halved(**changes: Any) -> dict[str, Any]:
    """Rows in pairs, which needs an even number of them."""
    data = open_data()
    data["constraints"] = ["mod(n, 2) == 0"]
    data["equations"].append(
        {
            "primitive": "reshape",
            "operands": [{"var": 0}],
            "new_sizes": ["floordiv(n, 2)", 2, "d"],
            "result": array("floordiv(n, 2)", 2, "d"),
        }
    )
    return {**data, **changes}


def test_constraints_are_kept_and_count() -> None:
    program = read(halved())
    assert from_json(to_json(program)) == program
    assert program.given.texts == ("mod(n, 2) == 0",)
    assert digest(program) != digest(read(halved(constraints=["mod(n, 2) == 0", "n >= 4"])))
    assert '"constraints"' not in to_json(read(open_data()))
    closed = at(program, {"n": 4, "d": 3})
    assert closed.constraints == ()
    assert closed.equations[-1].result.shape == (2, 2, 3)
    with pytest.raises(
        ValueError, match=r"the constraint mod\(n, 2\) == 0 does not hold at {'n': 3, 'd': 3}"
    ):
        at(program, {"n": 3, "d": 3})


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"constraints": []}, "do not have the same number of entries"),
        ({"constraints": ["mod(n, 3) == 0"]}, "do not have the same number of entries"),
        ({"constraints": ["mod(n,2)==0"]}, "not the canonical text of a constraint"),
        ({"constraints": ["n != 2"]}, "is not a comparison of two sizes"),
    ],
)
def test_a_program_that_loses_its_constraint_is_refused(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(AuditError, match=message):
        read(halved(**changes))


@pytest.mark.parametrize("size", ["mod(n - 5, 3)", "floordiv(n, d - 1)", "min(n - 5, 3) + 4"])
def test_sizes_that_lean_would_compute_differently_are_refused(size: str) -> None:
    data = open_data()
    data["equations"].append(
        {
            "primitive": "broadcast_in_dim",
            "operands": [{"var": 4}],
            "shape": [size, "d"],
            "broadcast_dimensions": [1],
            "result": array(size, "d"),
        }
    )
    with pytest.raises(AuditError, match=r"may be negative|may not be positive"):
        read(data)
    read({**data, "constraints": ["n >= 5", "d >= 2"]})
