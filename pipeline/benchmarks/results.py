"""What was measured, on which machine, and against which target; as JSON and as Markdown."""

from __future__ import annotations

import statistics
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Literal, TypeAlias

from pydantic import BaseModel, ConfigDict, Field, FiniteFloat, PositiveInt, ValidationError, model_validator

from maskpool_verify.errors import MaskpoolError
from maskpool_verify.files import write_whole

SCHEMA: Literal["maskpool-verify/benchmarks/2"] = "maskpool-verify/benchmarks/2"

Unit: TypeAlias = Literal["s", "MB", "s/equation", "times"]


class MeasurementError(MaskpoolError):
    """Something could not be measured, or results cannot be read."""


class _Model(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, serialize_by_alias=True, populate_by_name=True)


class Measurement(_Model):
    """One quantity, measured ``len(samples)`` times. ``target`` is an upper bound for the median.

    ``failure`` says why there is no sample.
    """

    what: str
    unit: Unit
    samples: tuple[FiniteFloat, ...] = ()
    target: FiniteFloat | None = None
    failure: str | None = None

    @model_validator(mode="after")
    def _has_either(self) -> Measurement:
        if bool(self.samples) == bool(self.failure):
            raise ValueError("a measurement has either samples or a failure")
        return self

    @property
    def median(self) -> float:
        """The median of the samples."""
        return statistics.median(self.samples)

    @property
    def spread(self) -> float:
        """The largest sample minus the smallest."""
        return max(self.samples) - min(self.samples)

    @property
    def verdict(self) -> str:
        """``met``, ``missed by`` how much, ``failed``; nothing without a target."""
        if self.failure is not None:
            return "failed"
        if self.target is None:
            return ""
        excess = self.median - self.target
        if excess <= 0:
            return "met"
        return f"missed by {_quantity(excess, self.unit)} ({excess / self.target:.0%})"

    @property
    def summary(self) -> str:
        """One line."""
        what, target, median, *_ = _cells(self)
        return "  ".join(cell for cell in (what, median, target, self.failure or self.verdict) if cell)


class Topic(_Model):
    """Measurements that belong together; ``method`` says in words how they were made.

    ``commit`` is the commit whose checkout was measured, on ``date``.
    """

    name: str
    title: str
    method: str
    date: str = Field(pattern=r"^\d{4}-\d\d-\d\d$")
    commit: str = Field(pattern=r"^[0-9a-f]{12}$")
    measurements: tuple[Measurement, ...] = Field(min_length=1)


class Machine(_Model):
    """Where it ran; ``memory_gb`` is the memory of the machine in units of 10⁹ bytes."""

    system: str
    cores: PositiveInt
    memory_gb: FiniteFloat
    python: str
    jax: str
    engine: str


class Results(_Model):
    """What was measured, perhaps in several runs; ``quick`` runs measure most things only once."""

    schema_version: Literal["maskpool-verify/benchmarks/2"] = Field(SCHEMA, alias="schema")
    quick: bool
    machine: Machine
    topics: tuple[Topic, ...] = Field(min_length=1)


def to_json(results: Results) -> str:
    """The text of the JSON file."""
    return results.model_dump_json(indent=2) + "\n"


def from_json(text: str) -> Results:
    """Read what :func:`to_json` gives.

    Raises:
        MeasurementError: the text is not that, naming the first field that is wrong.
    """
    try:
        return Results.model_validate_json(text)
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(map(str, first["loc"])) or "the file"
        raise MeasurementError(
            f"The benchmark results are malformed: {where}: {first['msg']}; run make bench again."
        ) from None


def merged(measured: Results, kept: Results) -> Results:
    """``kept`` with the topics of ``measured`` in place of its own of the same name.

    Raises:
        MeasurementError: they are of different machines or versions.
    """
    if measured.machine != kept.machine:
        raise MeasurementError(
            "The committed results are of another machine or of other versions; measure everything again."
        )
    new = {topic.name: topic for topic in measured.topics}
    topics = [new.pop(topic.name, topic) for topic in kept.topics]
    return kept.model_copy(update={"topics": (*topics, *new.values()), "quick": measured.quick or kept.quick})


def write(results: Results, folder: Path) -> None:
    """Write ``benchmarks.json`` and ``benchmarks.md`` in ``folder``."""
    write_whole(folder / "benchmarks.json", to_json(results).encode())
    write_whole(folder / "benchmarks.md", markdown(results).encode())


# -- Markdown

_HEADER = ("What", "Target", "Median", "Spread", "Runs", "")


def markdown(results: Results) -> str:
    """The results as a document: a table for each topic."""
    return "\n".join(_document(results))


def _document(results: Results) -> Iterator[str]:
    machine = results.machine
    yield "# Benchmarks"
    yield ""
    yield "Written by `make bench`, together with the samples in `benchmarks.json`; do not edit."
    yield ""
    if results.quick:
        yield "* Quick run: most things were measured once."
    yield f"* Machine: {machine.system}, {machine.cores} cores, {machine.memory_gb:.0f} GB of memory"
    yield f"* Python {machine.python}, JAX {machine.jax}, {machine.engine}"
    yield ""
    yield "The spread is the largest sample minus the smallest. A target is an upper bound for the median."
    for topic in results.topics:
        when = f"Measured on {topic.date}, at commit `{topic.commit}`."
        yield from ("", f"## {topic.title}", "", topic.method, "", when, "")
        yield _row(_HEADER)
        yield "| --- | ---: | ---: | ---: | ---: | --- |"
        for measurement in topic.measurements:
            yield _row(_cells(measurement))
        for measurement in topic.measurements:
            if measurement.failure:
                yield from ("", f"{measurement.what}: {measurement.failure}")
    yield ""


def _row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _cells(measurement: Measurement) -> tuple[str, ...]:
    verdict = measurement.verdict if measurement.verdict in ("", "met") else f"**{measurement.verdict}**"
    target = "" if measurement.target is None else f"≤ {_quantity(measurement.target, measurement.unit)}"
    if not measurement.samples:
        return (measurement.what, target, "", "", "", verdict)
    runs = len(measurement.samples)
    median = _quantity(measurement.median, measurement.unit)
    spread = _quantity(measurement.spread, measurement.unit) if runs > 1 else ""
    return (measurement.what, target, median, spread, str(runs), verdict)


def _quantity(value: float, unit: Unit) -> str:
    match unit:
        case "s":
            return f"{value:.2f} s"
        case "MB":
            return f"{value:.0f} MB"
        case "s/equation":
            return f"{1000 * value:.0f} ms"
        case "times":
            return f"{value:.2f}"
