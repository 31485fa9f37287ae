"""Completion, as a shell asks for it."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent.parent


def completed(*words: str) -> list[str]:
    """What a shell may put in place of the last word."""
    environment = os.environ | {
        "PYTHONPATH": str(ROOT / "pipeline"),
        "_MASKPOOL_VERIFY_COMPLETE": "bash_complete",
        "COMP_WORDS": " ".join(("maskpool-verify", *words)),
        "COMP_CWORD": str(len(words)),
    }
    command = [sys.executable, "-m", "maskpool_verify.main"]
    ended = subprocess.run(
        command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False, timeout=60
    )
    assert ended.stderr == ""
    return [line.partition(",")[2] for line in ended.stdout.split()]


@pytest.mark.parametrize(
    ("words", "found"),
    [
        (("ch",), ["check"]),
        (("check", "--ch"), ["--changed"]),
        (("check", "--kernel", "masked_attention_pool_"), ["masked_attention_pool_stable"]),
        (("check", "--manifest", "nowhere.toml", "--kernel", "m"), []),
        (("check", "--engine", "l"), ["lake"]),
        (("explain", "masked_attention_pool.n4"), ["masked_attention_pool.n4_d3.instance_of_symbolic"]),
    ],
)
def test_what_is_completed(words: tuple[str, ...], found: list[str]):
    assert completed(*words) == found


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_the_script(shell: str, tmp_path: Path, run):
    outcome = run(tmp_path, "completion", shell)
    assert outcome.status == 0
    assert f"_MASKPOOL_VERIFY_COMPLETE={shell}_complete" in outcome.out
    if shutil.which(shell):
        (tmp_path / "script").write_text(outcome.out)
        subprocess.run([shell, "-n", tmp_path / "script"], check=True, timeout=60)
