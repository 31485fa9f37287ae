"""What went into a check, and whether two checks had the same."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from maskpool_verify.commands import check as checking
from maskpool_verify.engine.wasm import WasmEngine
from maskpool_verify.errors import EnvironmentFault
from maskpool_verify.main import cli
from maskpool_verify.provenance import Provenance, checksums, differences, sha256, versions

A, B = 64 * "a", 64 * "b"
THEN = Provenance(
    versions={"lean": "4.28.0", "jax": "0.10.2"},
    sources={"MaskPool.lean": A, "maskpool.toml": A},
    engine={"lean.wasm": A},
    artifacts={"MaskPool.olean": A},
)


def test_checksums_are_those_of_the_content(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "b").write_bytes(b"content")
    expected = hashlib.sha256(b"content").hexdigest()
    assert sha256(tmp_path / "a" / "b") == expected
    files = [tmp_path / "a" / "b", tmp_path / "missing", tmp_path / "a"]
    assert checksums(tmp_path, files) == {"a/b": expected}


def test_a_file_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(EnvironmentFault, match="cannot be read"):
        sha256(tmp_path / "missing")


def test_versions_of_everything_that_ran() -> None:
    found = versions("4.28.0 (abc)")
    assert found["lean"] == "4.28.0 (abc)"
    assert found.keys() == {"python", "lean", "maskpool-verify", "jax", "jaxlib", "numpy"}
    assert all(found.values())


def test_the_same_inputs_do_not_differ() -> None:
    assert differences(THEN, THEN) == []


def test_artifacts_are_no_inputs() -> None:
    assert differences(THEN, THEN.model_copy(update={"artifacts": {}})) == []


@pytest.mark.parametrize(
    ("field", "value", "sentence"),
    [
        ("versions", {"lean": "4.29.0", "jax": "0.10.2"}, "version of lean was 4.28.0 and is 4.29.0"),
        ("sources", {"MaskPool.lean": B, "maskpool.toml": A},
         f"source MaskPool.lean was {A[:12]}… and is {B[:12]}…"),
        ("sources", {"MaskPool.lean": A}, "source maskpool.toml is gone"),
        ("sources", {**THEN.sources, "MaskPool/New.lean": B}, "source MaskPool/New.lean is new"),
        ("engine", {"lean.wasm": B}, f"engine file lean.wasm was {A[:12]}… and is {B[:12]}…"),
        ("engine", {}, "engine file lean.wasm is gone"),
    ],
)  # fmt: skip
def test_what_differs_is_named(field: str, value: dict[str, str], sentence: str) -> None:
    assert differences(THEN, THEN.model_copy(update={field: value})) == [sentence]


def test_a_report_goes_through_json() -> None:
    assert Provenance.model_validate_json(THEN.model_dump_json()) == THEN


# -- check --reproduce


@pytest.fixture
def reproduce(monkeypatch: pytest.MonkeyPatch, engine: WasmEngine, capsys: pytest.CaptureFixture[str]):
    """Run ``check`` in a project; its exit code and what it says on stderr."""
    monkeypatch.setattr(checking, "ready_engine", lambda *_: engine)

    def run(project: Path, *arguments: str) -> tuple[int, list[str]]:
        monkeypatch.chdir(project)
        capsys.readouterr()
        command = ["check", "--quiet", "--second-kernel", "off", *arguments]
        status = cli.main(command, prog_name="maskpool-verify", standalone_mode=False)
        return status, capsys.readouterr().err.splitlines()

    return run


def test_reproduce_says_whether_the_inputs_are_the_same(project: Path, reproduce) -> None:
    assert reproduce(project, "--report", "report.json") == (0, [])
    same = (0, ["report.json: every input is the same"])
    assert reproduce(project, "--reproduce", "report.json") == same
    manifest = project / "maskpool.toml"
    manifest.write_text(manifest.read_text() + "# changed\n")
    status, (sentence,) = reproduce(project, "--reproduce", "report.json")
    assert status == 1
    assert sentence.startswith("report.json: source maskpool.toml was ")
