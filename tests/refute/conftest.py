"""Kernels of ``refutable.py`` as subjects of a search."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import TypeAlias

import pytest

from maskpool_verify.errors import UnsupportedError
from maskpool_verify.frontend import trace_kernel
from maskpool_verify.loading import load_function
from maskpool_verify.manifest import ArgumentSpec, Kernel
from maskpool_verify.refute import Subject

HERE = Path(__file__).parent

MakeSubject: TypeAlias = Callable[..., Subject]

FEATURES = ArgumentSpec(name="features", role="features", dtype="float32", shape=("n", "d"))
LOGITS = ArgumentSpec(name="logits", role="logits", dtype="float32", shape=("n",))
MASK = ArgumentSpec(name="mask", role="mask", dtype="bool", shape=("n",))
OTHER_ARGUMENTS: dict[str, tuple[ArgumentSpec, ...]] = {
    "heads_mixed": (FEATURES, LOGITS.model_copy(update={"shape": ("n", "h")}), MASK),
    "length_off_by_one": (
        FEATURES,
        LOGITS,
        ArgumentSpec(name="length", role="length", dtype="int32", shape=()),
    ),
    "lengths_of_next_bag": (
        FEATURES.model_copy(update={"shape": ("b", "n", "d")}),
        LOGITS.model_copy(update={"shape": ("b", "n")}),
        ArgumentSpec(name="length", role="length", dtype="int32", shape=("b",)),
    ),
    "masked_mean": (FEATURES, MASK),
    "mean_of_all": (FEATURES, MASK),
}


@cache
def make_subject(name: str, file: str = "refutable.py", root: Path = HERE) -> Subject:
    """A kernel of these tests, at all sizes; without a program if it cannot be imported."""
    arguments = OTHER_ARGUMENTS.get(name, (FEATURES, LOGITS, MASK))
    symbols = dict.fromkeys(axis for argument in arguments for axis in argument.shape)
    kernel = Kernel(
        name=name,
        function=f"{file}:{name}",
        spec="none" if len(arguments) == 2 else "attention",
        rows="n",
        shapes=({str(symbol): str(symbol) for symbol in symbols},),
        arguments=arguments,
    )
    try:
        return Subject.of_traces(kernel, [trace_kernel(kernel, kernel.open_shape, root)], root)
    except UnsupportedError:
        return Subject(kernel, root, None, load_function(kernel, root))


@pytest.fixture
def subject() -> MakeSubject:
    return make_subject
