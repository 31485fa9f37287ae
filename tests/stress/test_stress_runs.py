"""Stress runs as a whole: the same for the same seed, honest about what was not tried, readable again."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from maskpool_verify.errors import ManifestError, TraceError
from maskpool_verify.manifest import ArgumentSpec, Kernel
from maskpool_verify.refute.cases import Run, masked_entries, reordered, selection_axes, valid_rows
from maskpool_verify.stress import Progress, StressReport, from_json, joined, stress, to_json
from maskpool_verify.stress.cases import cases, changed, ordinary, recast, steps, unusual
from maskpool_verify.stress.running import flushed

HERE = Path(__file__).parent
MakeKernel = Callable[..., Kernel]
MakeReport = Callable[..., StressReport]


def described(name: str, *specs: tuple[str, str, str, tuple[str, ...]], spec: Any = "attention") -> Kernel:
    arguments = tuple(
        ArgumentSpec(name=n, role=role, dtype=dtype, shape=shape)  # type: ignore[arg-type]
        for n, role, dtype, shape in specs
    )
    symbols = dict.fromkeys(axis for argument in arguments for axis in argument.shape)
    return Kernel(
        name=name,
        function=f"nowhere.py:{name}",
        spec=spec,
        rows="n",
        shapes=({str(s): str(s) for s in symbols},),
        arguments=arguments,
    )


BATCH = (
    ("features", "features", "float32", ("b", "n", "d")),
    ("logits", "logits", "float32", ("b", "n")),
    ("length", "length", "int32", ("b",)),
)


def by_length(features: Any, logits: Any, length: Any) -> Any:
    """Right, for a batch of bags with their lengths."""
    mask = jnp.arange(logits.shape[1]) < length[:, None]
    shift = jax.lax.stop_gradient(jnp.max(jnp.where(mask, logits, -jnp.inf), axis=1, initial=-jnp.inf))
    shift = jnp.where(jnp.isfinite(shift), shift, 0.0)[:, None]
    weights = jnp.where(mask, jnp.exp(jnp.where(mask, logits - shift, 0.0)), 0.0)
    total = weights.sum(axis=1, keepdims=True)
    pooled = jnp.einsum("bn,bnd->bd", weights, jnp.where(mask[..., None], features, 0.0))
    return pooled / jnp.where(total > 0, total, 1.0)


def one_too_many(features: Any, logits: Any, length: Any) -> Any:
    """Takes the row behind the end."""
    return by_length(features, logits, length + 1)


def statuses(report: StressReport) -> dict[tuple[str, str], str]:
    (kernel,) = report.kernels
    return {(o.property, o.part): o.status for o in kernel.in_dtypes[0].observations}


# -- kernels of other kinds


def test_lengths_and_batches() -> None:
    kernel = described("by_length", *BATCH)
    report = stress(kernel, function=by_length, quick=True, budget_seconds=600)
    (seen,) = report.kernels[0].in_dtypes
    assert (seen.complete, seen.raised) == (True, ())
    assert "broken" not in statuses(report).values()
    assert "untried" not in statuses(report).values()


def test_a_length_that_is_one_too_long() -> None:
    kernel = described("one_too_many", *BATCH)
    report = stress(kernel, function=one_too_many, quick=True, budget_seconds=600)
    (seen,) = report.kernels[0].in_dtypes
    (found,) = [
        b for o in seen.observations if o.property == "all_masked" for b in o.breaks if b.kind == "nonzero"
    ]
    assert found.sentence == "With no row that counts, the result is not zero."
    assert found.left.sizes == {"b": 1, "n": 1, "d": 1}
    assert [i.values.entries for i in found.left.inputs or ()] == [("1",), ("0",), ("0",)]
    assert found.found is not None
    assert found.found.entries == ("1",)


def test_gradients_in_parameters() -> None:
    """sqrt(0) in a parameter: the result is finite, its gradient is not."""
    kernel = described(
        "scaled",
        ("features", "features", "float32", ("n", "d")),
        ("scale", "parameter", "float32", ("d",)),
        ("mask", "mask", "bool", ("n",)),
        spec="none",
    )

    def scaled(features: Any, scale: Any, mask: Any) -> Any:
        return jnp.where(mask[:, None], features, 0.0).sum(axis=0) * jnp.sqrt(scale - scale)

    report = stress(kernel, function=scaled, quick=True, budget_seconds=600)
    assert statuses(report)["finite", "value"] == "equal"
    assert statuses(report)["finite", "gradient"] == "broken"
    found = [b for o in report.kernels[0].in_dtypes[0].observations for b in o.breaks]
    assert {b.of for b in found} == {"scale"}


# -- what is tried


def test_sizes(kernel: MakeKernel) -> None:
    everywhere = [(step.sizes["n"], step.sizes["d"], step.paddings) for step in steps(kernel("stable"))]
    assert everywhere == [(1, 1, (1, 2)), (2, 1, (1,)), (3, 2, (1, 2, 3, 7, 64, 1024)), (64, 8, (1,))]


def test_listed_sizes_are_kept(kernel: MakeKernel) -> None:
    listed = kernel("stable").model_copy(update={"shapes": ({"n": 4, "d": 3}, {"n": 6, "d": 3})})
    assert [(step.sizes, step.paddings) for step in steps(listed)] == [
        ({"n": 4, "d": 3}, (2,)),
        ({"n": 6, "d": 3}, ()),
    ]
    report = stress(listed, root=HERE, budget_seconds=600)
    assert {s["n"] for s in report.kernels[0].in_dtypes[0].sizes} == {4, 6}
    assert "untried" not in statuses(report).values()


def test_masked_rows_hold_what_the_dtype_can_hold() -> None:
    assert list(unusual("float32")) == [
        "1", "1e4", "-1e4", "1e30", "-1e30", "the smallest subnormal", "-0", "inf", "-inf", "NaN",
    ]  # fmt: skip
    assert unusual("float16")["65504"] == 65504.0
    for dtype in ("float16", "bfloat16", "float32", "float64"):
        for name, value in unusual(dtype).items():
            stored = np.asarray(value).astype(jnp.dtype(dtype))
            assert np.isfinite(stored.astype(float)) == (name not in ("inf", "-inf", "NaN"))
            assert stored != 0 or name == "-0"


def test_the_cases_of_a_property_are_what_it_says(kernel: MakeKernel) -> None:
    """Masked rows change and no others; new rows are masked; orders are bijections."""
    stable = kernel("stable")
    for step in steps(stable, quick=True):
        for case in cases(stable, step, seed=0):
            other = changed(stable, case)
            if other is None:
                continue
            mask, new_mask = case.run.inputs[2], other.inputs[2]
            rows = len(mask)
            for old, new in zip(case.run.inputs[:2], other.inputs[:2], strict=True):
                if case.property == "permutation":
                    assert case.change is not None
                    assert case.change.orders is not None
                    assert np.array_equal(new, old[case.change.orders])
                    assert sorted(case.change.orders.tolist()) == list(range(rows))
                else:
                    assert np.array_equal(new[:rows][mask], old[mask], equal_nan=True)
            if case.property == "padding":
                assert np.array_equal(new_mask[:rows], mask)
                assert len(new_mask) > rows
                assert not new_mask[rows:].any()
            if case.property == "masked_irrelevance":
                assert np.array_equal(new_mask, mask)
                assert not mask.all()


SHAPES = [
    (("n",), ("n", "d")),
    (("b", "n"), ("n", "b", "d")),
    (("n", "b"), ("b", "n")),
    (("b", "n"), ("n", "d")),
]


@settings(deadline=None)
@given(st.sampled_from(SHAPES), st.integers(0, 2**32), st.sampled_from([1, 2, 3]))
def test_masked_entries_and_reordered_entry_by_entry(shapes: Any, seed: int, rows: int) -> None:
    mask_shape, feature_shape = shapes
    kernel = described(
        "any",
        ("features", "features", "float32", feature_shape),
        ("mask", "mask", "bool", mask_shape),
        spec="none",
    )
    sizes = {symbol: rows if symbol == "n" else 2 for symbol in kernel.symbols}
    random = np.random.default_rng(seed)
    features = kernel.features
    run = Run(
        sizes,
        (ordinary(kernel, sizes, seed % 100).inputs[0], random.random([sizes[s] for s in mask_shape]) < 0.5),
    )
    found = masked_entries(kernel, run, features)
    valid, axes = valid_rows(kernel, run), selection_axes(kernel)
    for index in np.ndindex(found.shape):
        at = dict(zip(feature_shape, index, strict=True))
        assert found[index] == (not valid[tuple(at.get(axis, slice(None)) for axis in axes)].any())
    orders = random.permutation(rows)
    value, axis = run.inputs[0], feature_shape.index("n")
    again = reordered(value, feature_shape, kernel, orders)
    for index in np.ndindex(value.shape):
        assert again[index] == value[(*index[:axis], orders[index[axis]], *index[axis + 1 :])]


# -- the run


def test_the_same_seed_gives_the_same_report(quick_report: MakeReport, kernel: MakeKernel) -> None:
    first = quick_report("mean_over_padded_length")
    again = stress(kernel("mean_over_padded_length"), root=HERE, quick=True, budget_seconds=600)
    assert to_json(first) == to_json(again)
    other = stress(kernel("mean_over_padded_length"), root=HERE, quick=True, budget_seconds=600, seed=1)
    assert other.seed == 1
    assert to_json(other) != to_json(first)
    assert statuses(other).keys() == statuses(first).keys()


def test_a_long_padding_is_made_short(kernel: MakeKernel) -> None:
    """Broken by 7 further rows or more: the smallest number of rows is found."""

    def many_rows(features: Any, mask: Any) -> Any:
        scale = 1.0 if features.shape[0] < 10 else 2.0
        return scale * jnp.where(mask[:, None], features, 0.0).sum(axis=0)

    described_ = kernel("mean_over_padded_length")
    report = stress(described_, function=many_rows, budget_seconds=600)
    (found,) = [
        b for o in report.kernels[0].in_dtypes[0].observations
        if (o.property, o.part) == ("padding", "value") for b in o.breaks
    ]  # fmt: skip
    assert found.right is not None
    assert found.right.sizes["n"] == 10
    assert found.minimal
    assert {"n": 1027, "d": 2} in report.kernels[0].in_dtypes[0].sizes


def test_without_time_nothing_is_claimed(kernel: MakeKernel) -> None:
    report = stress(kernel("stable"), root=HERE, budget_seconds=1e-9)
    (seen,) = report.kernels[0].in_dtypes
    assert not seen.complete
    assert set(statuses(report).values()) == {"untried"}


def test_progress(kernel: MakeKernel) -> None:
    steps_: list[Progress] = []
    stress(kernel("mean_over_padded_length"), root=HERE, quick=True, progress=steps_.append)
    assert {step.dtype for step in steps_} == {"float32"}
    assert all(0 <= step.done < step.total for step in steps_)
    assert len({str(step.sizes) for step in steps_}) == 3


def test_other_dtypes(kernel: MakeKernel) -> None:
    report = stress(
        kernel("mean_over_padded_length"), root=HERE, quick=True, dtypes=("float16", "float32", "bfloat16")
    )
    (observed,) = report.kernels
    assert [(d.name, d.declared, d.result) for d in observed.in_dtypes] == [
        ("float32", True, "float32"),
        ("float16", False, "float16"),
        ("bfloat16", False, "bfloat16"),
    ]
    assert [spec.dtype for spec in recast(kernel("stable"), "float64").arguments] == [
        "float64",
        "float64",
        "bool",
    ]


def test_subnormals_that_are_flushed_are_those_of_jax() -> None:
    for dtype in ("float16", "float32"):
        tiny = jnp.finfo(dtype).smallest_subnormal
        doubled = np.asarray(jax.jit(lambda x: x * 2)(np.asarray([tiny])))
        assert flushed((dtype,)) == (() if doubled.any() else (dtype,))


# -- functions that do not work


def test_a_function_that_raises(kernel: MakeKernel) -> None:
    def picky(features: Any, mask: Any) -> Any:
        if features.shape[0] == 2:
            raise ValueError("two are too many")
        return jnp.where(mask[:, None], features, 0.0).sum(axis=0)

    report = stress(kernel("mean_over_padded_length"), root=HERE, function=picky, quick=True)
    (seen,) = report.kernels[0].in_dtypes
    assert [raised.sizes for raised in seen.raised] == [{"n": 2, "d": 1}]
    assert seen.raised[0].error.startswith("ValueError at test_stress_runs.py:")
    assert seen.raised[0].error.endswith(": two are too many.")
    assert {"n": 2, "d": 1} not in seen.sizes
    assert report.exit_code == 1


@pytest.mark.parametrize(
    ("result", "says"),
    [
        (lambda x: (x, x), 'Kernel "mean_over_padded_length" returns tuple; stress needs one array'),
        (
            lambda x: (x > 0).sum(axis=0),
            'Kernel "mean_over_padded_length" returns int32 numbers; stress needs',
        ),
    ],
)
def test_a_result_that_is_no_array_of_floats(result: Any, says: str, kernel: MakeKernel) -> None:
    with pytest.raises(TraceError, match=says):
        stress(kernel("mean_over_padded_length"), function=lambda features, mask: result(features))


def test_a_function_that_is_not_there(kernel: MakeKernel) -> None:
    with pytest.raises(ManifestError):
        stress(kernel("stable"), root=HERE / "nowhere")


# -- the report


def test_a_report_can_be_read_again(quick_report: MakeReport) -> None:
    report = quick_report("large_negative_fill")
    assert from_json(to_json(report)) == report


@pytest.mark.parametrize(
    "corrupt",
    [
        lambda r: r.update(schema="maskpool-verify/stress/2"),
        lambda r: r.update(verdict="verified"),
        lambda r: r["kernels"][0].pop("rows_symbol"),
        lambda r: r["kernels"][0]["in_dtypes"][0].update(arguments=["float8"]),
        lambda r: broken(r).update(status="equal"),
        lambda r: broken(r).update(breaks=[]),
        lambda r: broken(r).update(tried=0),
        lambda r: broken(r).update(tried=-1),
        lambda r: broken(r).update(ulps=1.5),
        lambda r: broken(r).update(property="correctness"),
        lambda r: broken(r)["breaks"][0].update(kind="fine"),
        lambda r: broken(r)["breaks"][0]["found"]["entries"].append("0"),
        lambda r: broken(r)["breaks"][0]["left"]["sizes"].update(n="n"),
    ],
)
def test_a_corrupted_report_is_rejected(corrupt: Callable[[Any], Any], quick_report: MakeReport) -> None:
    data = json.loads(to_json(quick_report("large_negative_fill")))
    from_json(json.dumps(data))
    corrupt(data)
    with pytest.raises(ValidationError):
        from_json(json.dumps(data))


def broken(data: Any) -> Any:
    observations = data["kernels"][0]["in_dtypes"][0]["observations"]
    return next(o for o in observations if o["status"] == "broken")


def test_reports_are_joined(quick_report: MakeReport) -> None:
    reports = [quick_report("stable"), quick_report("large_negative_fill")]
    both = joined(reports)
    assert [kernel.name for kernel in both.kernels] == ["stable", "large_negative_fill"]
    assert both.exit_code == 1
    assert joined(reports[:1]).exit_code == 0
    with pytest.raises(ValueError, match="other seeds"):
        joined([reports[0], reports[1].model_copy(update={"seed": 5})])
