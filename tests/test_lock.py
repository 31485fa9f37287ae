"""The accepted statements: reading, writing, comparing, and ``accept``."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from maskpool_verify import api, lock
from maskpool_verify.check import check
from maskpool_verify.commands import accept as accepting
from maskpool_verify.engine.wasm import WasmEngine
from maskpool_verify.errors import EnvironmentFault, StaleError
from maskpool_verify.lock import EMPTY, PATH, SCHEMA, Lock, Statement
from maskpool_verify.main import cli
from maskpool_verify.manifest import load_manifest
from maskpool_verify.report import Report, TheoremReport


def statement(text: str = "p → q", digest: str = "sha256:1", **changes: Any) -> Statement:
    fields = {"property": "permutation", "statement": text, "digest": digest} | changes
    return Statement.model_validate(fields)


def make(statements: dict[str, Statement], definitions: dict[str, str] | None = None) -> Lock:
    return Lock(schema=SCHEMA, statements=statements, definitions=definitions or {})


OLD = make({"a": statement(), "b": statement()}, {"pool": "1", "mass": "2"})


def test_what_is_written_is_read(tmp_path: Path) -> None:
    lock.write(tmp_path, OLD)
    assert lock.read(tmp_path) == OLD
    assert json.loads((tmp_path / PATH).read_text())["schema"] == "maskpool-verify/statements/1"
    assert [path.name for path in (tmp_path / PATH).parent.iterdir()] == ["statements.lock"]


def test_no_lock_accepts_nothing(tmp_path: Path) -> None:
    assert lock.read(tmp_path) == EMPTY
    assert lock.differences(EMPTY, make({"a": statement()})) == ["a is not accepted yet"]


@pytest.mark.parametrize(
    "change",
    [
        lambda text: "",
        lambda text: text[:50],
        lambda text: "[]",
        lambda text: text.replace("/statements/1", "/statements/2"),
        lambda text: text.replace('"digest"', '"digests"'),
        lambda text: text.replace('"schema"', '"extra": 1, "schema"'),
        lambda text: text.replace('"permutation"', '"something"'),
        lambda text: text.replace('"definitions"', '"definition"'),
        lambda text: "\udcff" + text,
    ],
)
def test_malformed_locks_are_refused(change: Callable[[str], str], tmp_path: Path) -> None:
    lock.write(tmp_path, OLD)
    path = tmp_path / PATH
    path.write_text(change(path.read_text()), "utf-8", errors="surrogateescape")
    with pytest.raises(StaleError, match=r"statements\.lock is malformed at .*; restore it"):
        lock.read(tmp_path)


def test_a_lock_that_cannot_be_read(tmp_path: Path) -> None:
    (tmp_path / PATH).mkdir(parents=True)
    with pytest.raises(EnvironmentFault, match="Cannot read"):
        lock.read(tmp_path)


def test_the_same_statements_do_not_differ() -> None:
    assert lock.differences(OLD, OLD) == []
    assert lock.differences(OLD, make({"a": statement()}, {"mass": "2"})) == []


@pytest.mark.parametrize(
    ("now", "sentence"),
    [
        (statement("p"), "a states something else.\n  accepted: p → q\n  now:      p"),
        (statement(digest="sha256:2"), "a reads the same, but means something else"),
        (statement(property="padding"), "a was accepted as permutation, and is padding now"),
    ],
)
def test_a_statement_that_differs(now: Statement, sentence: str) -> None:
    assert lock.differences(OLD, make({"a": now})) == [sentence]


def test_a_definition_that_differs_is_named() -> None:
    changed = make({"a": statement(digest="sha256:2")}, {"pool": "0", "mass": "2", "new": "3"})
    assert lock.differences(OLD, changed) == [
        "a reads the same, but means something else",
        "these declarations have changed: pool",
    ]


def test_definitions_of_the_lock_cannot_be_wrong_or_missing() -> None:
    """A reviewer reads them in a diff; so they count even if no statement shows a change."""
    assert lock.differences(OLD, make({"a": statement()}, {"pool": "0"})) == [
        "these declarations have changed: pool"
    ]
    assert lock.differences(OLD, make({"a": statement()}, {"new": "0"})) == [
        "these declarations are not listed: new"
    ]


def test_theorems_that_disappear() -> None:
    assert lock.disappeared(OLD, ["a"]) == ["b"]
    assert lock.disappeared(OLD, ["a", "b", "c"]) == []


def test_merging_a_part_keeps_the_rest() -> None:
    part = make({"a": statement("p")}, {"pool": "0"})
    merged = lock.merged(OLD, part, ["a", "b"])
    assert merged == make({"a": statement("p"), "b": statement()}, {"mass": "2", "pool": "0"})


def test_merging_drops_what_is_not_wanted() -> None:
    whole = make({"a": statement("p")}, {"pool": "0"})
    assert lock.merged(OLD, whole, ["a"]) == whole


def test_only_theorems_that_were_found_are_accepted() -> None:
    found = TheoremReport(
        name="a", property="permutation", shape={"n": 4}, statement="p", digest="sha256:1", status="proved"
    )
    missing = found.model_copy(update={"name": "b", "digest": None})
    assert lock.of_reports([found, missing], {"pool": "1"}) == make({"a": statement("p")}, {"pool": "1"})


# -- accept

KERNEL = "masked_attention_pool"


def checked(project: Path, engine: WasmEngine) -> Report:
    manifest = load_manifest(project / "maskpool.toml")
    return check(manifest, manifest.kernels, engine, second="off")


@pytest.fixture
def accept(monkeypatch: pytest.MonkeyPatch, engine: WasmEngine) -> Callable[[Path], int]:
    """Run ``accept``, without the second kernel."""
    checking = api.check

    def run(project: Path) -> int:
        monkeypatch.chdir(project)
        monkeypatch.setattr(accepting, "ready_engine", lambda *_: engine)
        monkeypatch.setattr(api, "check", lambda *a, **k: checking(*a, **k, second="off"))
        status = cli.main(["accept"], prog_name="maskpool-verify", standalone_mode=False)
        assert isinstance(status, int)
        return status

    return run


def test_what_was_accepted_passes(
    project: Path, engine: WasmEngine, accept, capsys: pytest.CaptureFixture[str]
) -> None:
    committed = (project / PATH).read_bytes()
    (project / PATH).unlink()
    before = checked(project, engine)
    assert before.verdict == "stale"
    assert any("is not accepted yet" in message for message in before.kernels[0].messages)
    assert accept(project) == 0
    assert f"certificates.{KERNEL}.symbolic.permutation is not accepted yet.\n" in capsys.readouterr().out
    assert (project / PATH).read_bytes() == committed
    assert checked(project, engine).verdict == "verified"


def test_a_dropped_kernel_can_be_accepted(
    project: Path, engine: WasmEngine, accept, capsys: pytest.CaptureFixture[str]
) -> None:
    manifest = project / "maskpool.toml"
    manifest.write_text(manifest.read_text()[: manifest.read_text().rindex("[[kernel]]")])
    shutil.rmtree(project / "certificates" / f"{KERNEL}_stable")
    assert checked(project, engine).verdict == "stale"
    assert accept(project) == 0
    assert f"certificates.{KERNEL}_stable.symbolic.permutation is dropped.\n" in capsys.readouterr().out
    assert checked(project, engine).verdict == "verified"


def test_what_is_not_proved_is_not_accepted(project: Path, accept) -> None:
    path = project / "certificates" / KERNEL / "properties.lean"
    path.write_text(path.read_text().replace("theorem all_masked", "theorem all_masked'", 1))
    committed = (project / PATH).read_bytes()
    with pytest.raises(StaleError, match=f"Nothing is accepted, since {KERNEL} does not pass"):
        accept(project)
    assert (project / PATH).read_bytes() == committed
