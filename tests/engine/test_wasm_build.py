"""The driver of the embedded Lean: what is rebuilt, what an interruption leaves, what Lean's end means.

Most tests run ``fake_lean.py``; those with the fixture ``engine`` run Lean itself.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path

import pytest

from maskpool_verify import olean
from maskpool_verify.engine.protocol import Message, ModuleResult, Position, Progress
from maskpool_verify.engine.wasm import WasmEngine, package
from maskpool_verify.errors import EnvironmentFault, MaskpoolError
from maskpool_verify.files import exclusive

MakeEngine = Callable[..., WasmEngine]
HERE = Path(__file__).parent
CHAIN = {
    "A": "module\n",
    "P.B": "module\npublic import A\n",
    "C": "module\nimport all P.B\n",
    "D": "module\n",
}


def write(project: Path, sources: Mapping[str, str]) -> Path:
    for module, text in sources.items():
        file = project / (module.replace(".", "/") + ".lean")
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
    return project


def statuses(results: Mapping[str, ModuleResult]) -> dict[str, str]:
    return {module: result.status for module, result in results.items()}


def files(project: Path) -> set[str]:
    top = project / ".maskpool/build/wasm"
    return {file.relative_to(top).as_posix() for file in top.rglob("*") if file.is_file()} - {"lock"}


def of(module: str) -> set[str]:
    path = module.replace(".", "/")
    return {f"records/{path}.json", f"lib/{path}.olean", f"lib/{path}.olean.private", f"lib/{path}.ilean"}


@pytest.fixture
def project(tmp_path: Path) -> Path:
    return write(tmp_path / "prö ject", CHAIN)


def test_unchanged_modules_are_cached_with_their_messages(project: Path, fake_engine: MakeEngine) -> None:
    write(project, {"A": "module\n-- fake: warning\n"})
    first = fake_engine().build(project, ["C", "D"])
    assert statuses(first) == dict.fromkeys(["A", "P.B", "C", "D"], "built")
    assert list(first).index("A") < list(first).index("P.B") < list(first).index("C")
    second = fake_engine().build(project, ["C", "D"])
    assert statuses(second) == dict.fromkeys(["A", "P.B", "C", "D"], "cached")
    assert (
        second["A"].messages
        == first["A"].messages
        == (
            Message(
                severity="warning",
                file="A.lean",
                position=Position(line=2, column=4),
                text="declaration uses `sorry`",
            ),
        )
    )
    assert files(project) == of("A") | of("P.B") | of("C") | of("D")
    assert fake_engine().artifacts(project).own == project / ".maskpool/build/wasm/lib"


@pytest.mark.parametrize(
    ("changed", "built"), [("A", {"A", "P.B", "C"}), ("P.B", {"P.B", "C"}), ("D", {"D"})]
)
def test_a_change_rebuilds_the_module_and_its_importers(
    project: Path, fake_engine: MakeEngine, changed: str, built: set[str]
) -> None:
    fake_engine().build(project, ["C", "D"])
    write(project, {changed: CHAIN[changed] + "-- changed\n"})
    results = fake_engine().build(project, ["C", "D"])
    assert {module for module, status in statuses(results).items() if status == "built"} == built


def test_fresh_rebuilds_everything(project: Path, fake_engine: MakeEngine) -> None:
    fake_engine().build(project, ["C"])
    assert set(statuses(fake_engine().build(project, ["C"], fresh=True)).values()) == {"built"}


def test_another_format_rebuilds_everything(
    project: Path, fake_engine: MakeEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    fake_engine().build(project, ["A"])
    monkeypatch.setattr("maskpool_verify.engine.wasm.build.FORMAT", package.FORMAT + 1)
    assert statuses(fake_engine().build(project, ["A"])) == {"A": "built"}


@pytest.mark.parametrize("name", ["lib/P/B.olean", "lib/P/B.olean.private", "records/P/B.json"])
@pytest.mark.parametrize("tamper", ["change", "truncate", "remove"])
def test_tampered_artifact_is_rebuilt(project: Path, fake_engine: MakeEngine, name: str, tamper: str) -> None:
    fake_engine().build(project, ["C"])
    file = project / ".maskpool/build/wasm" / name
    before = file.read_bytes()
    if tamper == "remove":
        file.unlink()
    else:
        file.write_bytes(b"" if tamper == "truncate" else before[:-1] + b"!")
    results = fake_engine().build(project, ["C"])
    assert statuses(results) == {"A": "cached", "P.B": "built", "C": "cached"}
    assert file.read_bytes() == before


def test_records_of_another_user_do_not_count(
    project: Path, fake_engine: MakeEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A build directory may come with the project: who made it knows the checksums, but not the key."""
    fake_engine().build(project, ["C"])
    monkeypatch.setattr(WasmEngine, "_key", lambda _: b"of another user")
    assert statuses(fake_engine().build(project, ["C"])) == {"A": "built", "P.B": "built", "C": "built"}
    assert statuses(fake_engine().build(project, ["C"])) == {"A": "cached", "P.B": "cached", "C": "cached"}


def test_a_record_that_was_edited_does_not_count(project: Path, fake_engine: MakeEngine) -> None:
    fake_engine().build(project, ["C"])
    record = project / ".maskpool/build/wasm/records/P/B.json"
    forged = json.loads(record.read_text("utf-8"))
    artifact = project / ".maskpool/build/wasm/lib/P/B.olean"
    artifact.write_bytes(b"forged")
    forged["artifacts"]["B.olean"] = hashlib.sha256(b"forged").hexdigest()
    record.write_text(json.dumps(forged), "utf-8")
    assert statuses(fake_engine().build(project, ["C"]))["P.B"] == "built"


def test_an_artifact_that_lean_did_not_write_is_removed(project: Path, fake_engine: MakeEngine) -> None:
    fake_engine().build(project, ["C"])
    lib = project / ".maskpool/build/wasm/lib"
    (lib / "Init").mkdir()
    for name in ("A.olean.server", "Planted.olean", "Init.olean", "Init/Core.olean"):
        (lib / name).write_bytes(b"planted")
    write(project, {"Init": "module\n"})  # a source does not make Lean's names the project's
    assert statuses(fake_engine().build(project, ["C"])) == {"A": "built", "P.B": "cached", "C": "cached"}
    assert files(project) == of("A") | of("P.B") | of("C")
    assert not (lib / "Init").exists()


def test_artifacts_of_a_removed_source_are_removed(project: Path, fake_engine: MakeEngine) -> None:
    fake_engine().build(project, ["C"])
    (project / "C.lean").unlink()
    shutil.rmtree(project / "P")
    fake_engine().build(project, ["A"])
    assert files(project) == of("A")
    assert not (project / ".maskpool/build/wasm/lib/P").exists()


def test_an_error_fails_the_module_skips_importers_and_removes_older_artifacts(
    project: Path, fake_engine: MakeEngine
) -> None:
    fake_engine().build(project, ["C", "D"])
    write(project, {"P.B": CHAIN["P.B"] + "-- fake: error\n"})
    results = fake_engine().build(project, ["C", "D"], fresh=True)
    assert statuses(results) == {"A": "built", "P.B": "failed", "C": "skipped", "D": "built"}
    assert results["P.B"].messages == (
        Message(
            severity="error",
            file="P/B.lean",
            position=Position(line=2, column=4),
            text="unsolved goals\n⊢ False",
        ),
    )
    assert files(project) == of("A") | of("D") | {"records/P/B.json"}
    assert statuses(fake_engine().build(project, ["P.B"])) == {"A": "cached", "P.B": "failed"}


def test_an_error_is_told_again_without_lean(project: Path, tmp_path: Path, fake_engine: MakeEngine) -> None:
    """As long as the module and what it imports are the same."""
    write(project, {"P.B": CHAIN["P.B"] + "-- fake: error\n"})
    first = fake_engine().build(project, ["C"])
    again = fake_engine().build(project, ["C"])
    assert statuses(again) == statuses(first) | {"A": "cached"}
    assert again["P.B"].messages == first["P.B"].messages
    runs = [file for _, file in started(tmp_path / "lean.log")]
    assert runs.count("P/B.lean") == 1
    write(project, {"A": "module\n-- changed\n"})
    assert statuses(fake_engine().build(project, ["C"])) == statuses(first)
    fake_engine().build(project, ["C"], fresh=True)
    write(project, {"P.B": CHAIN["P.B"]})
    assert statuses(fake_engine().build(project, ["C"])) == {"A": "cached", "P.B": "built", "C": "built"}
    runs = [file for _, file in started(tmp_path / "lean.log")]
    assert runs.count("P/B.lean") == 4


@pytest.mark.parametrize("word", ["import", "nothing", "stack", "memory", "hang"])
def test_what_may_end_otherwise_is_tried_again(
    project: Path, tmp_path: Path, fake_engine: MakeEngine, word: str
) -> None:
    write(project, {"A": f"-- fake: {word}\n"})
    for _ in range(2):
        assert statuses(fake_engine(timeout=0.5).build(project, ["A"])) == {"A": "failed"}
    processes = {process for process, _ in started(tmp_path / "lean.log")}
    assert len(processes) >= 2


def test_an_error_that_came_with_the_project_does_not_count(project: Path, fake_engine: MakeEngine) -> None:
    write(project, {"A": "module\n-- fake: error\n"})
    fake_engine().build(project, ["A"])
    record = project / ".maskpool/build/wasm/records/A.json"
    write(project, {"A": "module\n"})
    fake_engine().build(project, ["A"])
    good = json.loads(record.read_text())
    record.write_text(json.dumps(good | {"failed": True, "artifacts": {}}))
    for file in (project / ".maskpool/build/wasm/lib").glob("A.*"):
        file.unlink()
    assert statuses(fake_engine().build(project, ["A"])) == {"A": "built"}


@pytest.mark.parametrize(
    ("word", "what"),
    [
        ("nothing", "has written nothing"),
        ("stack", "ran out of stack"),
        ("memory", "short of memory"),
        ("hang", "stopped after 0.5 s"),
    ],
)
def test_an_end_without_messages_becomes_one(
    project: Path, fake_engine: MakeEngine, word: str, what: str
) -> None:
    write(project, {"A": f"-- fake: {word}\n"})
    result = fake_engine(timeout=0.5).build(project, ["A"])["A"]
    assert (result.status, result.messages[0].severity, result.messages[0].position) == (
        "failed",
        "error",
        None,
    )
    assert what in result.messages[0].text
    assert files(project) == set()


def started(log: Path) -> list[tuple[str, str]]:
    """The processes and the modules that were given to them, in order."""
    lines = [line.split() for line in log.read_text().splitlines()]
    return [(process, file) for process, file in lines]


def test_a_process_builds_several_modules(project: Path, tmp_path: Path, fake_engine: MakeEngine) -> None:
    fake_engine(jobs=1).build(project, ["C", "D"])
    assert len(started(tmp_path / "lean.log")) == 4
    assert len({process for process, _ in started(tmp_path / "lean.log")}) == 1


@pytest.mark.parametrize(("module", "word"), [("C", "alone"), ("Full", "full")])
def test_a_module_that_ends_a_used_process_or_fills_it_gets_a_new_one(
    project: Path, tmp_path: Path, fake_engine: MakeEngine, module: str, word: str
) -> None:
    write(project, {module: f"module\npublic import A\n-- fake: {word}\n"})
    assert statuses(fake_engine(jobs=1).build(project, [module]))[module] == "built"
    runs = [process for process, file in started(tmp_path / "lean.log") if file == f"{module}.lean"]
    assert len(set(runs)) == 2


def processes(tmp_path: Path) -> list[int]:
    """All that were started, whether they were given a module or not."""
    log = tmp_path / "lean.log.started"
    return [int(line) for line in log.read_text().splitlines()] if log.exists() else []


def processes_are(tmp_path: Path, number: int) -> bool:
    return len(processes(tmp_path)) == number


def test_a_module_has_the_seconds_that_it_is_given(
    project: Path, tmp_path: Path, fake_engine: MakeEngine
) -> None:
    write(project, {"P.B": "module\npublic import A\n-- fake: hang\n"})
    asked: list[str] = []

    def seconds(module: str) -> float:
        asked.append(module)
        return {"P.B": 0.7, "D": -1.0}.get(module, math.inf)

    results = fake_engine(jobs=1).build(project, ["C", "D"], seconds=seconds)
    assert statuses(results) == {"A": "built", "P.B": "failed", "C": "skipped", "D": "failed"}
    assert "Lean was stopped after 0.7 s" in results["P.B"].messages[0].text
    assert "Lean was stopped after 0 s" in results["D"].messages[0].text
    assert "D.lean" not in {file for _, file in started(tmp_path / "lean.log")}
    assert sorted(asked) == ["A", "D", "P.B"]


def test_builds_of_a_session_share_a_process(project: Path, tmp_path: Path, fake_engine: MakeEngine) -> None:
    engine = fake_engine(jobs=1)
    with engine.session(project, ["C"]):
        assert statuses(engine.build(project, ["C"]))["C"] == "built"
        assert statuses(engine.build(project, ["D"]))["D"] == "built"
        (process,) = processes(tmp_path)
        assert {int(p) for p, _ in started(tmp_path / "lean.log")} == {process}
    assert not _is_alive(process)


def test_a_session_with_work_starts_a_process_at_once(
    project: Path, tmp_path: Path, fake_engine: MakeEngine
) -> None:
    engine = fake_engine()
    engine.build(project, ["C", "D"])
    expected = len(processes(tmp_path))
    with engine.session(project, ["C", "D"]):
        pass
    assert len(processes(tmp_path)) == expected
    write(project, {"P.B": CHAIN["P.B"] + "-- changed\n"})
    for modules, fresh in ((["C"], False), (["D"], True), (["D", "Absent"], False)):
        expected += 1
        with engine.session(project, modules, fresh=fresh):
            _wait(partial(processes_are, tmp_path, expected))
    assert not any(map(_is_alive, processes(tmp_path)))


def test_an_idle_process_that_has_ended_is_replaced(
    project: Path, tmp_path: Path, fake_engine: MakeEngine
) -> None:
    engine = fake_engine(jobs=1)
    with engine.session(project, ["C"]):
        _wait(partial(processes_are, tmp_path, 1))
        (process,) = processes(tmp_path)
        os.kill(process, signal.SIGKILL)
        _wait(lambda: not _is_alive(process))
        assert statuses(engine.build(project, ["A"])) == {"A": "built"}
    assert len(processes(tmp_path)) == 2


def test_lean_starts_for_a_project_that_was_never_built(engine: WasmEngine, tmp_path: Path) -> None:
    project = write(tmp_path / "p", {"A": "module\n"})
    own = WasmEngine()
    with own.session(project, ["A"]):
        (process,) = own._shared[project / ".maskpool/build/wasm"].sessions._idle
        time.sleep(1)  # Node has looked for the directory
        assert process.is_alive()
        assert statuses(own.build(project, ["A"])) == {"A": "built"}
        assert process.modules == 1


def test_a_failed_session_leaves_no_process(project: Path, tmp_path: Path, fake_engine: MakeEngine) -> None:
    engine = fake_engine()

    def interrupted() -> None:
        with engine.session(project, ["C"]):
            _wait(partial(processes_are, tmp_path, 1))
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert not any(map(_is_alive, processes(tmp_path)))
    assert statuses(engine.build(project, ["C"]))["C"] == "built"


def test_a_full_process_is_not_used_again(project: Path, tmp_path: Path, fake_engine: MakeEngine) -> None:
    write(project, {"Full": "module\n", "Next": "module\npublic import Full\n"})
    fake_engine(jobs=1).build(project, ["Next"])
    assert len({process for process, _ in started(tmp_path / "lean.log")}) == 2


def test_an_answer_cannot_be_imitated(project: Path, fake_engine: MakeEngine) -> None:
    write(project, {"A": "module\n-- fake: imitate\n-- fake: error\n"})
    assert statuses(fake_engine().build(project, ["A"])) == {"A": "failed"}


def test_no_process_is_left(project: Path, tmp_path: Path, fake_engine: MakeEngine) -> None:
    fake_engine().build(project, ["C", "D"])
    _wait(lambda: not any(_is_alive(int(process)) for process, _ in started(tmp_path / "lean.log")), 2)


def test_progress_counts_every_module_once(project: Path, fake_engine: MakeEngine) -> None:
    steps: list[Progress] = []
    fake_engine(jobs=1).build(project, ["C", "D"], progress=steps.append)
    assert [step.done for step in steps if step.result] == [1, 2, 3, 4]
    assert {step.total for step in steps} == {4}
    assert [step.module for step in steps if step.result] == [
        step.module for step in steps if not step.result
    ]


def test_environment_faults(project: Path, tmp_path: Path, fake_engine: MakeEngine) -> None:
    with pytest.raises(EnvironmentFault, match=r"not installed.*maskpool-verify setup"):
        WasmEngine(tmp_path / "elsewhere").build(project, ["A"])
    engine = fake_engine()
    with pytest.raises(EnvironmentFault, match="Cannot run Node"):
        WasmEngine(tmp_path / "cache", node=["/no/such/node"]).build(project, ["A"])
    write(project, {"A": "-- fake: unloadable\n"})
    with pytest.raises(EnvironmentFault, match="cannot be loaded"):
        engine.build(project, ["A"])
    with pytest.raises(MaskpoolError, match="no source"):
        engine.build(project, ["Absent"])
    shutil.rmtree(project / ".maskpool")
    (project / ".maskpool").write_text("in the way")
    with pytest.raises(EnvironmentFault, match="Cannot build in"):
        engine.build(project, ["A"])


def test_a_second_build_waits_for_the_first(project: Path, fake_engine: MakeEngine) -> None:
    class Waited(Exception):
        pass

    def on_wait() -> None:
        raise Waited

    with exclusive(project / ".maskpool/build/wasm/lock"), pytest.raises(Waited):
        fake_engine(on_wait=on_wait).build(project, ["A"])
    assert statuses(fake_engine(on_wait=on_wait).build(project, ["A"])) == {"A": "built"}


BUILD = """
import sys
from pathlib import Path
from maskpool_verify.engine.wasm import WasmEngine, package
cache, project, module, package.INTEGRITY, *node = sys.argv[1:]
WasmEngine(Path(cache), node=node or None).build(Path(project), [module])
"""


def _is_alive(process: int) -> bool:
    try:
        state = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return False
    return state != "Z"


def _wait(condition: Callable[[], object], seconds: float = 10) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "nothing happened"
        time.sleep(0.02)


@pytest.mark.parametrize("signal_number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_interruption_leaves_no_process_and_no_partial_artifact(
    project: Path, tmp_path: Path, fake_engine: MakeEngine, signal_number: signal.Signals
) -> None:
    write(project, {"P.B": CHAIN["P.B"] + "-- fake: hang\n"})
    fake_engine()
    log = tmp_path / "lean.log"
    arguments = [tmp_path / "cache", project, "C", package.INTEGRITY, sys.executable, HERE / "fake_lean.py"]
    with subprocess.Popen(
        [sys.executable, "-c", BUILD, *map(str, arguments)], stderr=subprocess.DEVNULL
    ) as process:
        _wait(lambda: len(log.read_text().splitlines()) == 3)  # A; P.B and the process that it starts
        process.send_signal(signal_number)
        assert process.wait(10) != 0
    started = [int(line.split()[0]) for line in log.read_text().splitlines()]
    _wait(lambda: not any(map(_is_alive, started)), 2)
    assert files(project) == of("A")
    assert not list((project / ".maskpool/build/wasm").glob("new.*"))
    write(project, {"P.B": CHAIN["P.B"]})
    assert statuses(fake_engine().build(project, ["C"])) == {"A": "cached", "P.B": "built", "C": "built"}


def test_lean_ends_when_the_driver_is_killed(engine: WasmEngine, tmp_path: Path) -> None:
    slow = (
        "module\ntheorem t : List.replicate 3000000 1 = List.replicate 3000000 1 ++ [] := by decide +kernel\n"
    )
    project = write(tmp_path / "p", {"A": slow})
    arguments = [package.default_cache(), project, "A", package.INTEGRITY]
    with subprocess.Popen([sys.executable, "-c", BUILD, *map(str, arguments)]) as process:
        children = Path(f"/proc/{process.pid}/task/{process.pid}/children")
        threads = Path(f"/proc/{process.pid}/task")
        started: list[int] = []

        def find() -> bool:
            for task in threads.iterdir():
                started.extend(map(int, (task / children.name).read_text().split()))
            return bool(started)

        _wait(find)
        time.sleep(1.5)  # Lean has begun to elaborate
        assert all(map(_is_alive, started))
        os.kill(process.pid, signal.SIGKILL)
    _wait(lambda: not any(map(_is_alive, started)), 5)


def test_lean_builds_modules_in_any_directory(engine: WasmEngine, tmp_path: Path) -> None:
    sources = {
        "A": "module\n@[expose] public def two : Nat := 2\n",
        "Mé.B": "module\npublic import A\n/- /- -- -/ -/\npublic theorem four : two + two = 4 := rfl\n",
    }
    home = Path.home() / f".maskpool test-{os.getpid()}"
    try:
        for place in (tmp_path / "plain", home / "日本 : ü"):
            assert statuses(engine.build(write(place, sources), ["Mé.B"])) == {"A": "built", "Mé.B": "built"}
            lib = engine.artifacts(place).own
            contents = {f.relative_to(lib).as_posix(): f.read_bytes() for f in lib.rglob("*") if f.is_file()}
            assert contents.keys() >= {"A.olean", "Mé/B.olean", "Mé/B.olean.private"}
            assert not any(place.name.encode() in content for content in contents.values())
    finally:
        shutil.rmtree(home, ignore_errors=True)


def test_lean_messages(engine: WasmEngine, tmp_path: Path) -> None:
    project = write(
        tmp_path / "p",
        {
            "P.Wrong": "module\ntheorem a (n : Nat) : n = 2 := by\n  omega\n#check 1\n",
            "Sorry": "module\ntheorem b : 1 = 2 := sorry\n",
        },
    )
    results = engine.build(project, ["P.Wrong", "Sorry"])
    assert statuses(results) == {"P.Wrong": "failed", "Sorry": "built"}
    error, information = results["P.Wrong"].messages
    assert (error.severity, error.file, error.position) == (
        "error",
        "P/Wrong.lean",
        Position(line=3, column=2),
    )
    assert error.text.startswith("omega could not prove the goal")
    assert information == Message(
        severity="information", file="P/Wrong.lean", position=Position(line=4, column=0), text="1 : Nat"
    )
    (warning,) = results["Sorry"].messages
    assert (warning.severity, warning.position) == ("warning", Position(line=2, column=8))


def declarations(engine: WasmEngine, project: Path, module: str) -> list[str]:
    """All that a module declares, with every term. (The bytes differ even between two builds alone.)"""
    parts = olean.load(engine.artifacts(project).own / f"{module}.olean")
    assert len(parts) == 3
    return [repr(constant) for part in parts for constant in part]


def test_what_lean_writes_does_not_depend_on_what_it_built_before(engine: WasmEngine, tmp_path: Path) -> None:
    """Attributes, options, notation and a failure of one module do not reach the next."""
    sources = {
        "First": "module\n@[expose] public section\ndef f (n : Nat) : Nat := n + 1\n"
        '@[simp] theorem f_zero : f 0 = 1 := rfl\nset_option maxRecDepth 2000\nnotation "ff" => f\n',
        "Wrong": "module\ntheorem w (n : Nat) : n + 1 = n := by grind\n",
        "Last": "module\n@[expose] public section\ndef f (n : Nat) : Nat := 2 * n\n"
        "theorem f_two : f 2 = 4 := by simp [f]\n"
        "theorem f_mono (a b : Nat) (h : a ≤ b) : f a ≤ f b := by unfold f; omega\n#check @f_mono\n"
        "theorem g (a b : Nat) (h : a = b) : b = a := by grind\n",
    }
    alone = write(tmp_path / "alone", {"Last": sources["Last"]})
    after = write(tmp_path / "after", sources)
    one = WasmEngine(jobs=1)
    expected = one.build(alone, ["Last"])["Last"].messages
    results = one.build(after, ["First", "Wrong", "Last"])
    assert statuses(results) == {"First": "built", "Wrong": "failed", "Last": "built"}
    assert results["Last"].messages == expected
    assert declarations(one, after, "Last") == declarations(one, alone, "Last")


def test_info_is_what_lean_says_of_itself(engine: WasmEngine, tmp_path: Path) -> None:
    info = engine.info()
    project = write(tmp_path / "p", {"Said": "module\n#eval Lean.versionString\n#eval Lean.githash\n"})
    said = [message.text for message in engine.build(project, ["Said"])["Said"].messages]
    release = info.lean_version.removesuffix("-pre")
    assert said == [f'"{release}, commit {info.githash}"', f'"{info.githash}"']
