"""``check --changed``: what is said and left out; Lean is not needed where nothing has changed."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from maskpool_verify.commands import check as checking

KERNEL = "masked_attention_pool_stable"


@pytest.fixture
def repository(checkout: Path) -> Path:
    """A project, committed as it is."""
    (checkout / ".gitignore").write_text(".maskpool/\n")
    identity = ("-c", "user.name=a", "-c", "user.email=a@example.org", "-c", "commit.gpgsign=false")
    for command in (("init", "-q", "-b", "main"), ("add", "-A"), ("commit", "-q", "-m", "x")):
        subprocess.run(["git", *identity, *command], cwd=checkout, check=True)
    return checkout


def test_nothing_has_changed(repository: Path, run, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(checking, "ready_engine", None)
    outcome = run(repository, "check", "--changed", "main", "--report", "report.json")
    assert (outcome.status, outcome.out) == (0, "")
    assert outcome.err == "no kernel has changed since main; nothing is checked.\n"
    assert not (repository / "report.json").exists()


def test_only_what_has_changed_is_checked(repository: Path, run):
    file = repository / f"kernels/{KERNEL}.py"
    text = file.read_text()
    assert "0.0)" in text
    file.write_text(text.replace("0.0)", "1.0)"))
    outcome = run(repository, "check", "--changed", "main")
    assert outcome.status == 1
    assert outcome.err == f"{KERNEL}: its trace has changed\n"
    assert outcome.out.startswith(f"{KERNEL}  stale\n")
    assert "\nmasked_attention_pool " not in outcome.out


def test_a_revision_that_is_not_there(repository: Path, run):
    outcome = run(repository, "check", "--changed", "nowhere")
    assert outcome.status == 2
    assert outcome.sentence == ('There is no revision "nowhere"; fetch it, or name a commit, branch or tag.')
