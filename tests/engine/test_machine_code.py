"""Machine code that is kept from one process for the next ones: when, and that no damage to it does harm."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from maskpool_verify.engine.protocol import ModuleResult
from maskpool_verify.engine.wasm import WasmEngine, package
from maskpool_verify.engine.wasm.machine_code import MachineCode
from maskpool_verify.files import secret

MakeEngine = Callable[..., WasmEngine]


def write(project: Path, modules: int, word: str = "") -> list[str]:
    """Modules that import nothing; the names."""
    names = [f"M{number}" for number in range(modules)]
    project.mkdir(exist_ok=True)
    for name in names:
        (project / f"{name}.lean").write_text(f"module\n-- fake: {word}\n")
    return names


def statuses(results: Mapping[str, ModuleResult]) -> set[str]:
    return {result.status for result in results.values()}


@pytest.fixture
def project(tmp_path: Path) -> Path:
    return tmp_path / "p"


@pytest.fixture
def kept(tmp_path: Path) -> Path:
    return tmp_path / "cache" / "machine-code"


def content(kept: Path) -> bytes | None:
    """The machine code, by its record."""
    if not (kept / "record.json").exists():
        return None
    name: str = json.loads((kept / "record.json").read_text())["sha256"]
    code = (kept / name).read_bytes()
    assert {file.name for file in kept.iterdir()} == {"record.json", "lock", hashlib.sha256(code).hexdigest()}
    return code


def machine_code(cache: Path, node: str = "node") -> MachineCode:
    return MachineCode(cache, secret(cache / "record-key"), node)


def save(code: bytes) -> Callable[[Path, int], bool]:
    def write_enough(file: Path, least: int) -> bool:
        file.write_bytes(code)
        return len(code) >= least

    return write_enough


def test_a_process_with_practice_leaves_its_code(project: Path, kept: Path, fake_engine: MakeEngine) -> None:
    fake_engine(jobs=1).build(project, write(project, 3))
    assert content(kept) is None
    fake_engine(jobs=1).build(project, write(project, 4), fresh=True)
    assert content(kept) == b"4444"


def test_more_code_replaces_less(project: Path, kept: Path, fake_engine: MakeEngine) -> None:
    for modules, expected in ((6, b"666666"), (4, b"666666"), (9, b"999999999")):
        fake_engine(jobs=1).build(project, write(project, modules), fresh=True)
        assert content(kept) == expected


def test_a_full_process_leaves_its_code(project: Path, kept: Path, fake_engine: MakeEngine) -> None:
    *_, last = write(project, 4)
    (project / "Full.lean").write_text(f"module\npublic import {last}\n")
    (project / "After.lean").write_text("module\npublic import Full\n")
    fake_engine(jobs=1).build(project, ["M0", "M1", "M2", "After"])
    assert content(kept) == b"55555"


def test_code_that_ends_lean_is_forgotten(project: Path, kept: Path, fake_engine: MakeEngine) -> None:
    fake_engine(jobs=1).build(project, write(project, 4))
    assert content(kept) is not None
    assert statuses(fake_engine(jobs=1).build(project, write(project, 3, "code"))) == {"built"}
    assert not (kept / "record.json").exists()


def test_lean_that_ends_without_code_fails(project: Path, fake_engine: MakeEngine) -> None:
    assert statuses(fake_engine(jobs=1).build(project, write(project, 1, "memory"))) == {"failed"}


def test_what_cannot_be_kept_harms_nothing(project: Path, kept: Path, fake_engine: MakeEngine) -> None:
    kept.write_text("not a directory")
    assert statuses(fake_engine(jobs=1).build(project, write(project, 4))) == {"built"}


def test_arguments_name_the_code(tmp_path: Path) -> None:
    code = machine_code(tmp_path)
    assert code.arguments() == []
    code.renew(save(b"code"))
    file, checksum = code.arguments()
    assert Path(file).read_bytes() == b"code"
    assert checksum == hashlib.sha256(b"code").hexdigest()
    code.forget()
    assert code.arguments() == []


@pytest.mark.parametrize("change", ["sha256", "seal", "node", "not JSON", "another key", "another node"])
def test_a_record_that_is_not_ours_does_not_count(tmp_path: Path, change: str) -> None:
    machine_code(tmp_path).renew(save(b"code"))
    record = tmp_path / "machine-code" / "record.json"
    node = "node"
    match change:
        case "not JSON":
            record.write_text(record.read_text()[:-1])
        case "another key":
            (tmp_path / "record-key").write_bytes(bytes(32))
        case "another node":
            node = "other"
        case field:
            values = json.loads(record.read_text())
            values[field] = values[field][::-1]
            record.write_text(json.dumps(values))
    assert machine_code(tmp_path, node).arguments() == []


def test_an_interrupted_renewal_keeps_what_was_there(tmp_path: Path) -> None:
    code = machine_code(tmp_path)
    code.renew(save(b"code"))

    def interrupted(file: Path, _: int) -> bool:
        file.write_bytes(b"half")
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        code.renew(interrupted)
    assert content(tmp_path / "machine-code") == b"code"


def test_leftovers_of_a_killed_process_are_removed(tmp_path: Path) -> None:
    leftover = tmp_path / "machine-code" / "new.x"
    leftover.mkdir(parents=True)
    (leftover / "code").touch()
    machine_code(tmp_path).renew(save(b"code"))
    assert content(tmp_path / "machine-code") == b"code"


# -- Lean itself


@pytest.fixture(scope="module")
def real(engine: WasmEngine, tmp_path_factory: pytest.TempPathFactory) -> MachineCode:
    """What the embedded Lean has left; its own directory holds nothing else but links to the installation."""
    cache = tmp_path_factory.mktemp("cache")
    for entry in package.default_cache().iterdir():
        if entry.name in ("downloads", package.installation(cache).name):
            (cache / entry.name).symlink_to(entry)
    project = tmp_path_factory.mktemp("project")
    assert statuses(WasmEngine(cache, jobs=1).build(project, write(project, 4))) == {"built"}
    return machine_code(cache, json.loads((cache / "machine-code" / "record.json").read_text())["node"])


def printed(real: MachineCode, tmp_path: Path) -> list[str]:
    """What Lean prints of a module with an error, with the code that is kept."""
    (tmp_path / "A.lean").write_text("module\ntheorem a (n : Nat) : n = n + 0 := rfl\n#check a\n#check b\n")
    (result,) = WasmEngine(real.cache, jobs=1).build(tmp_path, ["A"]).values()
    return [message.text for message in result.messages]


def test_lean_leaves_machine_code(real: MachineCode) -> None:
    file, checksum = real.arguments()
    assert Path(file).stat().st_size > 1_000_000
    assert hashlib.sha256(Path(file).read_bytes()).hexdigest() == checksum


@pytest.mark.parametrize("damage", ["none", "changed", "missing", "kept, but not machine code"])
def test_lean_says_the_same_with_any_code(real: MachineCode, tmp_path: Path, damage: str) -> None:
    file = Path(real.arguments()[0])
    original = file.read_bytes()
    try:
        match damage:
            case "changed":  # were it executed, Lean would crash
                file.write_bytes(original[: len(original) // 2] + b"\xcc" * (len(original) // 2))
            case "missing":
                file.unlink()
            case "kept, but not machine code":
                real.renew(save(b"x" * 2 * len(original)))
        assert printed(real, tmp_path) == ["a (n : Nat) : n = n + 0", "Unknown identifier `b`"]
        assert real.arguments()  # it was not given up because Lean has crashed
    finally:
        real.forget()
        real.renew(save(original))
