"""The result of a stress run as data: what was observed, in which dtypes, and the smallest inputs that break.

It is evidence and no proof: a property that was not seen to break may still break. The JSON form has a schema
name, which changes with its fields. Numbers are text: the fewest digits from which they can be read back.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal, TypeAlias

from pydantic import BaseModel, ConfigDict, Field, model_validator

from maskpool_verify.manifest import DType
from maskpool_verify.refute.counterexample import Input, Values
from maskpool_verify.stress.cases import Part, Property
from maskpool_verify.stress.judging import Kind

SCHEMA: Literal["maskpool-verify/stress/1"] = "maskpool-verify/stress/1"

Status: TypeAlias = Literal["equal", "rounding", "broken", "untried"]
"""``equal``: bit for bit, in every case. ``rounding``: may be rounding. ``untried``: no case."""


class _Model(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, serialize_by_alias=True, populate_by_name=True)


class Bag(_Model):
    """The arguments of one call; ``inputs`` are left out where they have too many entries to list."""

    sizes: dict[str, int]
    inputs: tuple[Input, ...] | None


class Break(_Model):
    """The smallest input found on which a property breaks in one way.

    The results of ``left`` and ``right``, which are ``found`` and ``required``, have to agree; where there is
    only one bag, its result has to be ``required``, or any finite one if that is null. Both are null if they
    have too many entries to list. ``of`` names the argument in which the gradient is taken; it is empty for
    the result itself. ``orders``: row ``r`` of a bag of ``right`` is row ``orders[bag][r]`` of ``left``.
    ``minimal`` is false if the time was over before nothing smaller was left to try. ``cases`` counts the
    cases that break in this way, and ``also`` names other causes among them.
    """

    cause: str
    kind: Kind
    of: str
    left: Bag
    right: Bag | None
    orders: tuple[tuple[int, ...], ...]
    found: Values | None
    required: Values | None
    sentence: str
    minimal: bool
    cases: int = Field(ge=1)
    also: tuple[str, ...]


class Observation(_Model):
    """One property of the result or of the gradient, in one dtype.

    Over all cases that are not broken, ``ulps`` is the largest number of steps between two entries that
    should agree, and ``at`` is the case; ``epsilons`` is the largest difference relative to the larger entry
    or to the largest feature that counts, in machine epsilons.
    """

    property: Property
    part: Part
    status: Status
    tried: int = Field(ge=0)
    ulps: int = Field(ge=0)
    epsilons: float = Field(ge=0, allow_inf_nan=False)
    at: str
    breaks: tuple[Break, ...]

    @model_validator(mode="after")
    def _consistent(self) -> Observation:
        if (self.status == "broken") != bool(self.breaks):
            raise ValueError(f"{self.property} is {self.status}, with {len(self.breaks)} breaks")
        if (self.status == "untried") != (self.tried == 0):
            raise ValueError(f"{self.property} is {self.status}, with {self.tried} cases")
        if self.ulps and self.status in ("equal", "untried"):
            raise ValueError(f"{self.property} is {self.status}, with a difference of {self.ulps} ulps")
        return self


class Raised(_Model):
    """The function raises at these sizes."""

    sizes: dict[str, int]
    error: str


class InDTypes(_Model):
    """What was observed with one choice of dtypes.

    ``arguments`` are the dtypes of the float arguments, ``result`` is the one that the kernel returns (empty
    if it raises everywhere), ``declared`` says that they are those of the manifest. ``quick``: at few and
    small sizes alone. ``subnormals_flushed``: the compiler takes subnormal numbers for zero. ``complete`` is
    false if the time was over before all cases were tried, or before every break was as small as it gets.
    """

    arguments: tuple[DType, ...]
    result: str
    declared: bool
    quick: bool
    subnormals_flushed: bool
    complete: bool
    sizes: tuple[dict[str, int], ...]
    observations: tuple[Observation, ...]
    raised: tuple[Raised, ...]

    @property
    def name(self) -> str:
        """``float32``, or ``float16 and float32``."""
        return " and ".join(dict.fromkeys(self.arguments))

    @property
    def broken(self) -> tuple[Observation, ...]:
        """What was seen to break."""
        return tuple(o for o in self.observations if o.status == "broken")


class KernelStress(_Model):
    """What was observed of one kernel."""

    name: str
    rows_symbol: str
    in_dtypes: tuple[InDTypes, ...]

    @property
    def broken(self) -> bool:
        """Whether a property was seen to break, or the function raises."""
        return any(each.broken or each.raised for each in self.in_dtypes)


class Platform(_Model):
    """What compiled and ran the kernels."""

    jax: str
    jaxlib: str
    backend: str
    device: str


class StressReport(_Model):
    """The result of ``maskpool-verify stress``."""

    schema_version: Literal["maskpool-verify/stress/1"] = Field(alias="schema")
    seed: int
    platform: Platform
    kernels: tuple[KernelStress, ...]

    @property
    def exit_code(self) -> int:
        """1 if something was seen to break, else 0."""
        return int(any(kernel.broken for kernel in self.kernels))


def joined(reports: Iterable[StressReport]) -> StressReport:
    """One report on all kernels; seed and platform are those of the first.

    Raises:
        ValueError: there is no report, or they are of different runs.
    """
    first, *more = reports
    if any((each.seed, each.platform) != (first.seed, first.platform) for each in more):
        raise ValueError("the reports have other seeds or platforms")
    kernels = (kernel for each in (first, *more) for kernel in each.kernels)
    return first.model_copy(update={"kernels": tuple(kernels)})


def to_json(report: StressReport) -> str:
    """The report as JSON text."""
    return report.model_dump_json(indent=2, by_alias=True) + "\n"


def from_json(text: str) -> StressReport:
    """Read a report; pydantic's ``ValidationError`` if it is not one."""
    return StressReport.model_validate_json(text)
