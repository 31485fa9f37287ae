"""``init`` where there is something already, and ``refute``."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest


def test_init_writes_files_and_says_what_is_next(tmp_path: Path, run: Callable) -> None:
    outcome = run(tmp_path, "init", "--files-only")
    assert outcome.status == 0
    assert outcome.out == (
        "kernels/attention_pool.py: written\n"
        "maskpool.toml: written\n"
        ".gitignore: .maskpool/ added\n"
        "Next: maskpool-verify trace && maskpool-verify accept && maskpool-verify check\n"
    )
    assert sorted(p.name for p in tmp_path.iterdir()) == [".gitignore", "kernels", "maskpool.toml"]
    assert run(tmp_path, "trace", "--quiet").status == 0


@pytest.mark.parametrize("path", ["maskpool.toml", "kernels/attention_pool.py"])
def test_init_changes_nothing_where_a_file_is_there(
    tmp_path: Path, run: Callable, contents: Callable, path: str
) -> None:
    (tmp_path / path).parent.mkdir(exist_ok=True)
    (tmp_path / path).write_text("mine")
    before = contents(tmp_path)
    outcome = run(tmp_path, "init")
    assert outcome.status == 2
    assert outcome.sentence.startswith(f"{path} is there already")
    assert contents(tmp_path) == before


def test_refute_finds_nothing_against_a_right_kernel(checkout: Path, run: Callable) -> None:
    outcome = run(checkout, "refute", "--kernel", "masked_attention_pool", "--budget", "0.5")
    assert (outcome.status, outcome.err) == (0, "")
    name, *lines = outcome.out.splitlines()
    assert name == "masked_attention_pool"
    assert len(lines) == 5
    assert all("no counterexample among" in line for line in lines)


def test_refute_shows_the_smallest_bag(checkout: Path, run: Callable) -> None:
    kernel = checkout / "kernels" / "masked_attention_pool.py"
    text = kernel.read_text("utf-8")
    kernel.write_text(text.replace("normalizer = jnp.sum(weights)", "normalizer = jnp.sum(mask)"), "utf-8")
    outcome = run(checkout, "refute", "--kernel", "masked_attention_pool", "--budget", "2", "--quiet")
    assert outcome.status == 1
    assert "Counterexample to specification (proved over the reals):" in outcome.out
    assert "n = 1, d = 1" in outcome.out
    assert "no counterexample" not in outcome.out
