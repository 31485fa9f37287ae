"""``setup`` and ``doctor``."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from maskpool_verify.commands import doctor, install
from maskpool_verify.engine.wasm import InstallStep, default_cache
from maskpool_verify.engine.wasm.package import installation
from maskpool_verify.errors import EnvironmentFault


@pytest.fixture
def installing(monkeypatch: pytest.MonkeyPatch) -> list[dict[str, Any]]:
    """Take the place of the installer; the calls that it got."""
    calls: list[dict[str, Any]] = []

    def fake(cache: Path, report: Callable[[InstallStep], None], **options: Any) -> Path:
        calls.append({"cache": cache, **options})
        for done in (0, 60_000_000, 120_000_000):
            report(InstallStep("download", done, 120_000_000))
        report(InstallStep("check"))
        return installation(cache)

    monkeypatch.setattr(install, "install", fake)
    return calls


def test_setup_repairs_and_says_where(installing, tmp_path: Path, run, monkeypatch):
    monkeypatch.setenv("MASKPOOL_CACHE", str(tmp_path))
    outcome = run(tmp_path, "setup")
    assert outcome.status == 0
    assert installing == [{"cache": tmp_path, "repair": True}]
    assert outcome.out == f"The embedded Lean is in {installation(tmp_path)}.\n"
    assert outcome.err == "downloading the embedded Lean (120 MB)\ncomparing the checksum\n"


def test_quiet_setup_says_nothing(installing, tmp_path: Path, run):
    outcome = run(tmp_path, "setup", "--quiet")
    assert (outcome.status, outcome.out, outcome.err) == (0, "", "")


def test_check_installs_what_is_missing(installing, checkout: Path, run, monkeypatch):
    """The fake installs nothing, so that the check ends with the next complaint."""
    monkeypatch.setenv("MASKPOOL_CACHE", str(checkout / "cache"))
    monkeypatch.setenv("PATH", "")
    outcome = run(checkout, "check", "-q")
    assert installing == [{"cache": checkout / "cache", "repair": False}]
    assert outcome.status == 3
    assert "run `maskpool-verify setup`" in outcome.sentence


def test_no_network(tmp_path: Path, run, monkeypatch, contents):
    """Port 9 of this machine: nobody answers there."""
    monkeypatch.setenv("MASKPOOL_CACHE", str(tmp_path))
    monkeypatch.setenv("npm_config_registry", "http://127.0.0.1:9")
    monkeypatch.setenv("npm_config_fetch_retries", "0")
    outcome = run(tmp_path, "setup", "-q")
    assert outcome.status == 3
    assert "check the network and try again" in outcome.sentence
    assert list(contents(tmp_path)) == ["install.lock"], "nothing half-made is left"


def test_cache_that_cannot_be_written(tmp_path: Path, run, monkeypatch):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("MASKPOOL_CACHE", str(tmp_path / "file"))
    outcome = run(tmp_path, "setup", "-q")
    assert outcome.status == 3
    assert outcome.sentence.startswith(f"Cannot install Lean in {tmp_path / 'file'}")


# -- doctor


@pytest.fixture
def healthy(monkeypatch: pytest.MonkeyPatch, engine) -> None:
    """An installation whose checksums are right (to compute them takes seconds), and this package."""
    monkeypatch.setattr(doctor, "verify", lambda _: [])
    version = doctor.version
    monkeypatch.setattr(doctor, "version", lambda name: "1" if name == "maskpool-verify" else version(name))


def lines(out: str) -> dict[str, tuple[str, str]]:
    """State and text by title."""
    rows = [(line[:9].strip(), *line[9:].split(": ", 1)) for line in out.splitlines()]
    return {title: (state, text) for state, title, text in rows}


def test_doctor_finds_nothing(healthy, checkout: Path, run):
    outcome = run(checkout, "doctor")
    assert (outcome.status, outcome.err) == (0, "")
    found = lines(outcome.out)
    assert {state for state, _ in found.values()} == {"ok"}
    assert found["embedded Lean"][1].startswith("Lean 4.28.0-pre in ")
    assert found["manifest"][1] == "masked_attention_pool, masked_attention_pool_stable in maskpool.toml"
    assert found["Node.js"][1].startswith("v")


def test_doctor_names_a_bad_manifest(healthy, tmp_path: Path, run):
    outcome = run(tmp_path, "doctor")
    assert outcome.status == 2
    state, text = lines(outcome.out)["manifest"]
    assert (state, text) == ("problem", "There is no manifest maskpool.toml; create it or name another one.")


def test_doctor_names_a_damaged_engine(healthy, checkout: Path, run, monkeypatch):
    monkeypatch.setattr(doctor, "verify", lambda cache: [f"{cache / 'lean.wasm'} is damaged"])
    outcome = run(checkout, "doctor")
    assert outcome.status == 3
    state, text = lines(outcome.out)["embedded Lean"]
    assert (state, text) == (
        "problem",
        f"{default_cache() / 'lean.wasm'} is damaged; run maskpool-verify setup.",
    )


def test_doctor_reports_a_missing_engine_and_goes_on(checkout: Path, run, monkeypatch):
    monkeypatch.setenv("MASKPOOL_CACHE", str(checkout / "cache"))
    outcome = run(checkout, "doctor")
    assert outcome.status == 3
    found = lines(outcome.out)
    assert found["embedded Lean"][0] == "problem"
    assert "run maskpool-verify setup" in found["embedded Lean"][1]
    assert found["manifest"][0] == "ok"
    assert not (checkout / "cache").exists(), "nothing is installed"


def test_doctor_names_a_node_that_does_not_run(healthy, checkout: Path, run, monkeypatch):
    monkeypatch.setattr(doctor, "node_command", lambda: ["/nonexistent/node"])
    outcome = run(checkout, "doctor")
    assert outcome.status == 3
    assert lines(outcome.out)["Node.js"][0] == "problem"


def test_doctor_without_any_node(healthy, checkout: Path, run, monkeypatch):
    def none() -> list[str]:
        raise EnvironmentFault("Found no node.")

    monkeypatch.setattr(doctor, "node_command", none)
    assert lines(run(checkout, "doctor").out)["Node.js"] == ("problem", "Found no node.")
