"""``check --format`` and ``--report``: the formats reach stdout and files."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from maskpool_verify import formats
from maskpool_verify.report import from_json

KERNEL = "kernels/masked_attention_pool.py"


@pytest.fixture
def stale(checkout: Path) -> Path:
    """A project that is stale, so that no engine is needed; below the top of a repository."""
    shutil.rmtree(checkout / "certificates")
    top = checkout.parent / "repository"
    (top / ".git").mkdir(parents=True)
    (top / "a folder").mkdir()
    checkout.rename(top / "a folder" / "project")
    return top / "a folder" / "project"


@pytest.mark.parametrize("format_", formats.FORMATS)
def test_every_format_on_stdout(format_: formats.Format, stale: Path, run):
    outcome = run(stale, "check", "--format", format_, "--report", "r.json")
    assert outcome.status == 1
    report = from_json((stale / "r.json").read_text())
    assert outcome.out == formats.render(report, format_, "a folder/project")


def test_several_reports_at_once(stale: Path, run):
    names = [f"new/report{suffix}" for suffix in formats.SUFFIXES]
    options = [word for name in names for word in ("--report", name)]
    outcome = run(stale, "check", "--quiet", *options)
    assert outcome.status == 1
    report = from_json((stale / "new" / "report.json").read_text())
    for name in names:
        format_ = formats.format_of(Path(name))
        assert (stale / name).read_text() == formats.render(report, format_, "a folder/project")
    assert sorted(p.name for p in (stale / "new").iterdir()) == sorted(Path(name).name for name in names)


def test_annotations_name_files_from_the_top_of_the_repository(stale: Path, run):
    first, *_ = run(stale, "check", "--format", "github").out.splitlines()
    assert first.startswith(f"::error file=a folder/project/{KERNEL},line=")
    log = json.loads(run(stale, "check", "--format", "sarif").out)
    location = log["runs"][0]["results"][0]["locations"][0]["physicalLocation"]["artifactLocation"]
    assert location["uri"] == f"a%20folder/project/{KERNEL}"


def test_without_a_repository_files_are_named_from_the_manifest(stale: Path, run):
    (stale.parent.parent / ".git").rmdir()
    first, *_ = run(stale, "check", "--format", "github").out.splitlines()
    assert first.startswith(f"::error file={KERNEL},line=")


def test_formats_have_suffixes_of_their_own():
    assert sorted(formats.SUFFIXES.values()) == sorted(set(formats.FORMATS) - {"github"})
    for suffix, format_ in formats.SUFFIXES.items():
        assert formats.format_of(Path(f"a.b{suffix.upper()}")) == format_
