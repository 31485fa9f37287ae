"""A counterexample as data: it goes into the JSON report and can be read back.

Numbers are text: ``"1/2"`` is exact, ``"0.3678..."`` has more digits, ``"nan"`` and ``"inf"`` are what
IEEE 754 makes of an operation without a real value.
"""

from __future__ import annotations

from typing import Literal, TypeAlias

from pydantic import BaseModel, ConfigDict, model_validator

from maskpool_verify.lean.properties import Property


class _Model(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


Evidence: TypeAlias = Literal["proved", "observed"]
"""``proved``: over the reals, with certified intervals. ``observed``: JAX in float64 shows it."""


class Values(_Model):
    """An array: its entries as text, the last axis fastest."""

    shape: tuple[int, ...]
    entries: tuple[str, ...]

    @model_validator(mode="after")
    def _as_many_as_the_shape_says(self) -> Values:
        count = 1
        for size in self.shape:
            count *= size
        if count != len(self.entries):
            raise ValueError(f"{len(self.entries)} entries for the shape {self.shape}")
        return self


class Input(_Model):
    """One argument. ``row_axis`` is the number of its row axis, if it has one."""

    name: str
    role: Literal["features", "logits", "mask", "length", "parameter"]
    row_axis: int | None
    values: Values


class RunReport(_Model):
    """One run: inputs, the exact result, and what JAX gives in the dtypes of the manifest and in float64.

    ``result`` is null if it was only observed; JAX's are null if the function raises.
    """

    sizes: dict[str, int]
    inputs: tuple[Input, ...]
    result: Values | None
    jax: Values | None
    jax_float64: Values | None


class Broken(_Model):
    """An equation of the program, the place it comes from, and the code there."""

    equation: str
    source: str
    code: str


class Counterexample(_Model):
    """An input on which a property fails.

    The results of ``left`` and ``right`` have to agree; where there is only one run, its result has to be
    ``expected``. For permutation, row ``r`` of ``right`` is row ``orders[bag][r]`` of ``left``; there is one
    order for each bag, the last batch axis fastest. ``rows`` are the rows of ``right`` that are new (padding)
    or hold other values (masked irrelevance). ``undefined`` names the first operation without a real value
    that the result depends on, ``broken`` the first equation at which the two runs do not correspond any
    more. ``confirmed_by_jax``: the results of JAX differ too.
    """

    property: Property
    evidence: Evidence
    rows_symbol: str
    dtype: str
    left: RunReport
    right: RunReport | None
    expected: Values | None
    orders: tuple[tuple[int, ...], ...]
    rows: tuple[int, ...]
    undefined: Broken | None
    broken: Broken | None
    confirmed_by_jax: bool
    sentence: str


class FloatWarning(_Model):
    """Where floating point goes another way than the reals.

    ``found`` and ``expected`` are results of JAX in the dtypes of the manifest, or ``expected`` is exact.
    """

    property: Property
    case: str
    dtype: str
    left: RunReport
    right: RunReport | None
    found: Values
    expected: Values
    sentence: str
