"""What was observed, as lines of text: a table, and the smallest inputs that break a property."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from maskpool_verify.dims import assigned
from maskpool_verify.refute.counterexample import Input
from maskpool_verify.refute.text import bag, beside, nested, row_values
from maskpool_verify.stress.cases import Property
from maskpool_verify.stress.report import Break, InDTypes, KernelStress, Observation, StressReport

TITLE = "Observed in floating point"
ROWS = 16
"""Bags with more rows are not printed."""

_EQUAL: Mapping[Property, str] = {"all_masked": "zero", "finite": "finite", "masked_gradient": "zero"}


def heading(report: StressReport) -> str:
    """How it was observed, in a line."""
    platform = report.platform
    return f"under jit, JAX {platform.jax} on {platform.backend} ({platform.device}), seed {report.seed}"


def observed(kernel: KernelStress) -> list[str]:
    """All about one kernel."""
    return [line for each in kernel.in_dtypes for line in _in_dtypes(kernel, each)]


def summary(kernel: KernelStress) -> str:
    """What is broken, in one line: ``broken in float32: padding, finite``."""
    parts = []
    for each in kernel.in_dtypes:
        if names := list(dict.fromkeys(o.property for o in each.broken)):
            parts.append(f"broken in {each.name}: {', '.join(names)}")
        if each.raised:
            parts.append(f"raises in {each.name}")
    return "; ".join(parts) or "nothing broken"


def _in_dtypes(kernel: KernelStress, seen: InDTypes) -> Iterator[str]:
    result = f", result {seen.result}" if seen.result not in ("", *seen.arguments) else ""
    flushed = "; subnormals are flushed to zero" if seen.subnormals_flushed else ""
    declared = "" if seen.declared else ", not the dtype of the manifest"
    unfinished = "" if seen.complete else "; the time was over before everything was tried"
    yield f"{seen.name}{declared}{result}: {len(seen.sizes)} sizes{flushed}{unfinished}"
    yield ""
    yield from (f"  {line}" for line in _table(seen))
    for raised in seen.raised:
        yield ""
        yield f"  Raises at {assigned(raised.sizes)}: {raised.error}"
    for observation in seen.observations:
        shown = {b.cause for o in seen.observations if o.property == observation.property
                 and o.part == "value" for b in o.breaks}  # fmt: skip
        for found in observation.breaks:
            yield ""
            yield f"  {observation.property}, {observation.part}: {found.sentence}"
            if observation.part == "value" or found.cause not in shown:
                yield from (f"    {line}".rstrip() for line in _bags(kernel, found))
            yield from (f"    {line}" for line in _results(found))
    yield ""


def _table(seen: InDTypes) -> list[str]:
    table = [["property", "result", "gradient"]]
    for name in dict.fromkeys(o.property for o in seen.observations):
        by_part = {o.part: _status(o) for o in seen.observations if o.property == name}
        table.append([name, by_part.get("value", "-"), by_part.get("gradient", "-")])
    widths = [max(18, *map(len, column)) for column in zip(*table, strict=True)]
    widths[1] = max(26, widths[1])  # whatever the number of ulps
    return ["  ".join(c.ljust(w) for c, w in zip(row, widths, strict=True)).rstrip() for row in table]


def _status(observation: Observation) -> str:
    match observation.status:
        case "broken":
            return "BROKEN"
        case "untried":
            return "not tried"
        case "equal":
            return _EQUAL.get(observation.property, "bitwise equal")
    unit = "ulp" if observation.ulps == 1 else "ulps"
    return f"{observation.ulps} {unit} ({observation.epsilons:g} eps)"


def _bags(kernel: KernelStress, found: Break) -> Iterator[str]:
    if found.left.inputs is None or found.left.sizes[kernel.rows_symbol] > ROWS:
        yield f"{assigned(found.left.sizes)}: too large to print"
        return
    blocks = [bag(found.left.sizes, found.left.inputs, kernel.rows_symbol)]
    right = found.right
    if right is not None and right.inputs is not None:
        if right.sizes[kernel.rows_symbol] <= ROWS:
            starred = _changed_rows(found.left.inputs, right.inputs)
            blocks.append(
                bag(right.sizes, right.inputs, kernel.rows_symbol, starred=starred, orders=found.orders)
            )
        else:
            blocks.append([assigned(right.sizes)])
    yield from beside(blocks)


def _changed_rows(left: tuple[Input, ...], right: tuple[Input, ...]) -> set[int]:
    """The rows of the second bag that are new, or hold other numbers."""
    found: set[int] = set()
    for old, new in zip(left, right, strict=True):
        if old.row_axis is None or new.row_axis is None:
            continue
        before, after = old.values.shape[old.row_axis], new.values.shape[new.row_axis]
        found |= {r for r in range(after) if r >= before or row_values(old, r) != row_values(new, r)}
    return found


def _results(found: Break) -> Iterator[str]:
    """Both results, or the result and what is required."""
    labels = ("found", "required") if found.right is None else ("first", "second")
    width = max(map(len, labels)) if found.required else 0
    for label, shown in zip(labels, (found.found, found.required), strict=True):
        if shown is not None:
            yield f"{label.ljust(width)}  {nested(shown)}"
