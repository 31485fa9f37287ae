"""``trace`` and ``check`` on the bundled kernels, with the embedded Lean."""

from __future__ import annotations

import fcntl
import json
import os
import pty
import re
import shutil
import signal
import struct
import subprocess
import termios
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest

from maskpool_verify import certificates, report

KERNELS = ("masked_attention_pool", "masked_attention_pool_stable")
KERNEL = "kernels/masked_attention_pool.py"
PROPERTIES = (
    "specification",
    "permutation",
    "padding",
    "masked_irrelevance",
    "all_masked",
    "masked_irrelevance_any_arithmetic",
    "all_masked_any_arithmetic",
)
ALLOWED = ["propext", "Classical.choice", "Quot.sound"]


def swap_branches(project: Path) -> None:
    """Swap the branches of the `where` that makes the weights."""
    file = project / KERNEL
    text = file.read_text()
    old, new = "where(mask, jnp.exp(selected_logits), 0.0)", "where(mask, 0.0, jnp.exp(selected_logits))"
    assert text.count(old) == 1
    file.write_text(text.replace(old, new))


def line_of(project: Path, code: str) -> int:
    (number,) = [n for n, line in enumerate((project / KERNEL).read_text().splitlines(), 1) if code in line]
    return number


# -- the kernels as they are


def test_every_property_of_every_kernel_is_proved(built_project: Path, run):
    outcome = run(built_project, "check", "--report", ".maskpool/new/report.json", "--format", "json")
    assert outcome.status == 0
    assert outcome.err == "", "no module is built again"
    written = (built_project / ".maskpool/new/report.json").read_text()
    assert outcome.out == written
    found = json.loads(outcome.out)
    assert found["verdict"] == "verified"
    assert [kernel["name"] for kernel in found["kernels"]] == list(KERNELS)
    for kernel in found["kernels"]:
        assert kernel["verdict"] == "verified"
        shapes = [trace["shape"] for trace in kernel["traces"]]
        assert shapes == [{"n": "n", "d": "d"}, {"n": 4, "d": 3}]
        proved = [(t["property"], t["shape"], t["padded_shape"]) for t in kernel["theorems"]]
        wanted = [(p, shapes[0], None) for p in ("translation", *PROPERTIES)]
        assert sorted(map(str, proved)) == sorted(map(str, [*wanted, ("instance", shapes[1], None)]))
        for theorem in kernel["theorems"]:
            assert theorem["status"] == "proved"
            assert theorem["axioms"] == [axiom for axiom in ALLOWED if axiom in theorem["axioms"]]
    assert found["audit"] == {"allowed": ALLOWED, "audited": 18, "violations": []}
    assert report.to_json(report.from_json(written)) == written


def test_statements_are_about_the_imported_program(built_project: Path, run):
    outcome = run(
        built_project, "check", "--second-kernel", "off", "--kernel", KERNELS[0], "--format", "json"
    )
    (kernel,) = json.loads(outcome.out)["kernels"]
    statements = {(t["property"], t["shape"]["n"]): t["statement"] for t in kernel["theorems"]}
    program, inputs = "masked_attention_pool.symbolic.program.eval", "(features, logits, mask, ())"
    assert statements["specification", "n"] == (
        "∀ {R : Type} [RealArith R] {n d : Nat} (features : Tensor R [n, d]) (logits : Tensor R [n]) "
        f"(mask : Tensor Bool [n]), {program} [n, d] {inputs} = pool logits features.rows mask"
    )
    assert statements["padding", "n"].startswith("∀ {R : Type} [RealArith R] {n d extra : Nat}")
    assert f"{program} [n + extra, d] " in statements["padding", "n"]
    assert all(f"{program} [n, d] (" in text for (_, n), text in statements.items() if n == "n")
    assert statements["instance", 4].endswith(
        f"masked_attention_pool.n4_d3.program.eval [] {inputs} = {program} [4, 3] {inputs}"
    )


def test_quiet_is_one_line_for_each_kernel(built_project: Path, run):
    outcome = run(built_project, "check", "-q", "--second-kernel", "off")
    assert (outcome.status, outcome.err) == (0, "")
    assert outcome.out == "".join(f"{kernel}: verified\n" for kernel in KERNELS)


def test_trace_of_unchanged_kernels_changes_nothing(checkout: Path, run, contents):
    before = contents(checkout)
    outcome = run(checkout, "trace")
    assert outcome.status == 0
    assert outcome.out == "".join(
        f"{kernel}: {count} and {count} equations; nothing has changed\n"
        for kernel, count in zip(KERNELS, (23, 25), strict=True)
    )
    assert contents(checkout) == before


@pytest.mark.parametrize("no_color", ["", "1"])
def test_terminal_of_80_columns(no_color: str, checkout: Path, start, monkeypatch: pytest.MonkeyPatch):
    """The kernels are stale, so that no engine is needed to print a report."""
    monkeypatch.setenv("NO_COLOR", no_color)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.delenv("COLUMNS", raising=False)
    shutil.rmtree(checkout / "certificates")
    terminal, child = pty.openpty()
    fcntl.ioctl(child, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
    process = start(checkout, "check", stdout=child)
    os.close(child)
    shown = b""
    with suppress(OSError):  # the other end is closed
        while chunk := os.read(terminal, 10_000):
            shown += chunk
    os.close(terminal)
    assert process.communicate(timeout=60) == (None, "")
    assert process.returncode == 1
    text = shown.decode()
    assert ("\x1b[" in text) == (not no_color)
    lines = re.sub(r"\x1b\[[\d;]*m", "", text).split("\r\n")
    assert "masked_attention_pool  stale" in lines
    assert 70 < max(map(len, lines)) <= 80


# -- a kernel that has changed


def test_changed_kernel_is_stale_and_then_refuted_by_name(project: Path, run, contents):
    """With one kernel, to keep Lean's work short."""
    manifest = project / "maskpool.toml"
    text = manifest.read_text()
    manifest.write_text(text[: text.rindex("[[kernel]]")])
    shutil.rmtree(project / "certificates" / KERNELS[1])
    assert run(project, "trace").status == 0
    swap_branches(project)

    before = contents(project)
    stale = run(project, "check")
    assert stale.status == 1
    assert contents(project) == before
    wrong = line_of(project, "weights =")
    words = " ".join(stale.out.split())
    assert "masked_attention_pool stale" in words
    assert "equation v#14 was `f32 [n] = select_n v#2 v#13 v#11` and is now" in words
    assert f"`f32 [n] = select_n v#2 v#11 v#13` ({KERNEL}:{wrong})" in words

    assert run(project, "trace").status == 0
    before = contents(project)
    outcome = run(project, "check", "--second-kernel", "off", "--budget", "5")
    assert outcome.status == 1
    assert contents(project) == before
    lines = outcome.out.splitlines()
    rows = {tuple(line.split()[:2]): line.split(maxsplit=3)[2:] for line in lines if line.startswith("  ")}
    assert rows["translation", "symbolic"] == ["proved", "propext"]
    assert rows["instance", "n4_d3"] == ["proved", "propext"]
    # Masked features are replaced by zero, and so the result is always zero: nothing else is wrong. That the
    # growing normalizer of a padded bag does not matter, the checker of invariance does not see.
    assert rows["specification", "symbolic"] == ["REFUTED", "see the counterexample"]
    for property_ in ("permutation", "masked_irrelevance"):
        status, axioms = rows[property_, "symbolic"]
        assert status == "proved"
        assert "propext" in axioms
    for property_ in ("padding", "all_masked"):
        assert rows[property_, "symbolic"] == ["FAILED", "it rests on specification at symbolic"]
    assert "masked_attention_pool  refuted" in lines
    assert outcome.out.count("Counterexample to ") == 1
    assert "  Counterexample to specification (proved over the reals):" in lines
    cells = [line.split() for line in lines]
    assert ["0", "[1]", "0", "yes"] in cells, "one row, which counts, and holds one"
    assert ["exact", "[0]", "[1]"] in cells, "the result is zero, and should be that row"
    assert "⊢" not in outcome.out, "a counterexample says more than the goal of a proof"
    assert outcome.err.endswith("s)\n")
    assert "certificates.masked_attention_pool.properties: failed" in outcome.err


POSITIONAL = """import jax.numpy as jnp


def masked_attention_pool(features, logits, mask):
    return jnp.sort(features, axis=0)[0]
"""


def test_unsupported_kernel_leaves_the_others_and_is_observed(project: Path, run):
    (project / KERNEL).write_text(POSITIONAL)
    outcome = run(project, "check", "--second-kernel", "off", "--format", "json")
    assert outcome.status == 1
    found = json.loads(outcome.out)
    assert found["verdict"] == "unsupported"
    assert [kernel["verdict"] for kernel in found["kernels"]] == ["unsupported", "verified"]
    unsupported, verified = found["kernels"]
    (message,) = unsupported["messages"]
    assert f"{KERNEL}:5" in message
    assert '"sort"' in message
    # It does not depend on the order of the rows, and on nothing else that it may depend on.
    observed = {c["property"]: c["evidence"] for c in unsupported["counterexamples"]}
    assert set(observed) == {"specification", "padding", "masked_irrelevance", "all_masked"}
    assert set(observed.values()) == {"observed"}
    assert verified["counterexamples"] == []


def test_no_budget_no_search(project: Path, run):
    (project / KERNEL).write_text(POSITIONAL)
    arguments = ("--second-kernel", "off", "--kernel", KERNELS[0], "--format", "json")
    outcome = run(project, "check", "--budget", "0", *arguments)
    assert outcome.status == 1
    (kernel,) = json.loads(outcome.out)["kernels"]
    assert (kernel["verdict"], kernel["counterexamples"]) == ("unsupported", [])
    assert run(project, "check", "--budget", "-1", *arguments).status == 2


def test_source_that_keeps_proofs_from_the_kernel(checkout: Path, run):
    file = checkout / "MaskPool.lean"
    file.write_text(file.read_text() + "\nset_option debug.skipKernelTC true\n")
    outcome = run(checkout, "check")
    assert outcome.status == 1
    line = len(file.read_text().splitlines())
    assert outcome.sentence.startswith(
        f"MaskPool.lean:{line}:11: `set_option debug.skipKernelTC` is not allowed"
    )


def test_library_that_does_not_build_is_an_error(project: Path, run):
    file = project / "MaskPool.lean"
    file.write_text(file.read_text() + "\nexample : 1 = 2 := rfl\n")
    outcome = run(project, "check", "--second-kernel", "off", "--kernel", KERNELS[0], "--format", "json")
    assert outcome.status == 1
    (kernel,) = json.loads(outcome.out)["kernels"]
    assert kernel["verdict"] == "error"
    assert kernel["messages"][0].startswith("MaskPool does not build: MaskPool.lean:")


# -- processes


def lean_processes(project: Path) -> list[str]:
    """The command lines of processes that work for ``project``."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            command = (process / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
        except OSError:
            continue
        if str(project) in command:
            found.append(command)
    return found


def wait_until(condition: Callable[[], object], seconds: float = 60) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it takes too long"
        time.sleep(0.02)


def test_interrupted_build(project: Path, start: Callable[..., subprocess.Popen[str]], contents):
    before = contents(project)
    process = start(project, "check", "--fresh")  # everything is built already
    wait_until(lambda: lean_processes(project) or process.poll() is not None)
    os.killpg(process.pid, signal.SIGINT)
    out, err = process.communicate(timeout=30)
    assert (process.returncode, out) == (130, "")
    assert err.lstrip() == "maskpool-verify: interrupted; no file is left half-written.\n"
    assert lean_processes(project) == []
    assert list(project.rglob("new.*")) == []
    assert contents(project) == before


def test_two_checks_at_once(project: Path, start: Callable[..., subprocess.Popen[str]]):
    with certificates.locked(project):
        processes = [
            start(project, "check", "--second-kernel", "off", "--kernel", KERNELS[0]) for _ in range(2)
        ]
        waiting = [process.stderr.readline() for process in processes]
    assert waiting == ["waiting for another maskpool-verify in this project\n"] * 2
    for process in processes:
        out, err = process.communicate(timeout=60)
        assert (process.returncode, err) == (0, "")
        assert out.splitlines()[-1].startswith("verified: 9 of 9 proved")
