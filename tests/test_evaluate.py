"""The evaluator: the values of all variables, and which inputs it takes."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from maskpool_verify.evaluate import evaluate, result
from maskpool_verify.frontend import trace_kernel
from maskpool_verify.manifest import load_manifest

ROOT = Path(__file__).parent.parent
KERNEL = load_manifest(ROOT / "maskpool.toml").kernel("masked_attention_pool_stable")
PROGRAM = trace_kernel(KERNEL, {"n": 4, "d": 3}, ROOT).program


def inputs() -> list[Any]:
    features = np.arange(12, dtype=np.float32).reshape(4, 3)
    return [features, np.zeros(4, np.float32), np.array([True, False, True, False])]


def test_the_values_of_all_variables_by_number() -> None:
    values = evaluate(PROGRAM, inputs())
    types = PROGRAM.variable_types()
    assert [(v.shape, str(v.dtype)) for v in values] == [(t.shape, t.dtype) for t in types]
    # Equal logits: the mean of the unmasked rows 0 and 2.
    np.testing.assert_allclose(result(PROGRAM, values), [3, 4, 5], rtol=1e-6)


def test_in_float64_every_float_is_float64() -> None:
    values = evaluate(PROGRAM, inputs(), in_float64=True)
    assert {str(value.dtype) for value in values} == {"float64", "bool"}


def test_inputs_of_the_wrong_type_are_refused() -> None:
    features, logits, mask = inputs()
    for wrong in ([features, logits], [features.T, logits, mask], [features.astype("float64"), logits, mask]):
        with pytest.raises(ValueError, match=r"arguments|not of type"):
            evaluate(PROGRAM, wrong)
