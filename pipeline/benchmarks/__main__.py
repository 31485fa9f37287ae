"""``python -m benchmarks``: measure, and write ``docs/benchmarks.md`` and ``docs/benchmarks.json``."""

from __future__ import annotations

import datetime
import importlib.metadata
import os
import platform
import subprocess
import sys
import tempfile
from pathlib import Path

import click
from rich.console import Console

from benchmarks.project import ROOT, Workspace
from benchmarks.results import (
    SCHEMA,
    Machine,
    Measurement,
    MeasurementError,
    Results,
    Topic,
    from_json,
    merged,
    write,
)
from benchmarks.topics import PLANS, Plan
from maskpool_verify.engine.process import termination_raises
from maskpool_verify.engine.wasm import default_cache, install
from maskpool_verify.errors import MaskpoolError


@click.command()
@click.option(
    "--only",
    "names",
    multiple=True,
    type=click.Choice([plan.name for plan in PLANS]),
    help="Measure this alone, and keep what is known of the rest; may be repeated.",
)
@click.option("--quick", is_flag=True, help="Measure everything once.")
def main(names: tuple[str, ...], quick: bool) -> None:
    """Measure the product and compare with its targets.

    A target that is missed is shown and is no error; the exit code is 1 if something could not be measured.
    """
    console = Console(stderr=True)
    try:
        install(default_cache())
        with termination_raises(), tempfile.TemporaryDirectory(prefix="benchmarks.") as directory:
            workspace = Workspace(Path(directory), quick=quick)
            plans = [plan for plan in PLANS if not names or plan.name in names]
            commit = _commit()
            topics = tuple(_measure(plan, workspace, console, commit) for plan in plans)
            results = Results(
                schema=SCHEMA,
                quick=quick,
                machine=_machine(workspace),
                topics=topics,
            )
        if names:
            kept = from_json((ROOT / "docs" / "benchmarks.json").read_text("utf-8"))
            both = merged(results, kept)
            order = [plan.name for plan in PLANS]
            topics = tuple(sorted(both.topics, key=lambda topic: order.index(topic.name)))
            results = both.model_copy(update={"topics": topics})
    except MaskpoolError as error:
        console.print(f"[red]{error}", highlight=False)
        sys.exit(error.exit_code)
    write(results, ROOT / "docs")
    sys.exit(any(measurement.failure for topic in topics for measurement in topic.measurements))


def _commit() -> str:
    """The commit of the checkout, which has to be what is measured.

    Raises:
        MeasurementError: something is not committed, but for the results themselves.
    """
    try:
        changed = _git("status", "--porcelain", "--", ".", ":!docs/benchmarks.*")
        commit = _git("rev-parse", "HEAD")
    except (OSError, subprocess.CalledProcessError) as error:
        raise MeasurementError(f"git does not say which commit is measured: {error}") from None
    if changed:
        raise MeasurementError(f"There are changes that are not committed: {changed.splitlines()[0]}")
    return commit[:12]


def _git(*arguments: str) -> str:
    done = subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, text=True, check=True)
    return done.stdout.strip()


def _measure(plan: Plan, workspace: Workspace, console: Console, commit: str) -> Topic:
    console.print(f"[bold]{plan.title}", highlight=False)
    measurements: list[Measurement] = []
    with console.status("measuring"):
        for measurement in plan.measure(workspace):
            measurements.append(measurement)
            console.print(f"  {measurement.summary}", markup=False, highlight=False)
    return Topic(
        name=plan.name,
        title=plan.title,
        method=plan.method,
        date=datetime.datetime.now(datetime.UTC).date().isoformat(),
        commit=commit,
        measurements=tuple(measurements),
    )


def _machine(workspace: Workspace) -> Machine:
    info = workspace.engine.info()
    return Machine(
        system=f"{platform.system()} {platform.machine()}",
        cores=os.cpu_count() or 1,
        memory_gb=round(os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") / 1e9, 1),
        python=platform.python_version(),
        jax=importlib.metadata.version("jax"),
        engine=f"Lean {info.lean_version} (engine {info.name})",
    )


if __name__ == "__main__":
    main()
