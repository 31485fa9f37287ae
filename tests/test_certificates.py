"""Certificates: what is written is what is expected, and every change of it is noticed."""

from __future__ import annotations

import shutil
import threading
from collections.abc import Callable
from itertools import product
from pathlib import Path

import pytest

from maskpool_verify import certificates
from maskpool_verify.errors import EnvironmentFault, StaleError
from maskpool_verify.frontend import TracedKernel, trace_kernel
from maskpool_verify.manifest import Kernel, Manifest, load_manifest

ROOT = Path(__file__).parent.parent
FOLDER = "certificates/masked_attention_pool"
FILES = (
    "symbolic.json",
    "n4_d3.json",
    "symbolic.lean",
    "n4_d3.lean",
    "properties.lean",
    "any_arithmetic.lean",
    "index.json",
)


@pytest.fixture(scope="module")
def kernel() -> Kernel:
    return load_manifest(ROOT / "maskpool.toml").kernels[0]


@pytest.fixture(scope="module")
def traces(kernel: Kernel) -> tuple[TracedKernel, ...]:
    return tuple(trace_kernel(kernel, shape, ROOT) for shape in kernel.shapes)


@pytest.fixture
def root(kernel: Kernel, traces: tuple[TracedKernel, ...], tmp_path: Path) -> Path:
    """A project whose certificates have just been written."""
    written = certificates.write(tmp_path, kernel, traces)
    assert sorted(written) == sorted(f"{FOLDER}/{file}" for file in FILES)
    return tmp_path


def edited(file: Path, old: str, new: str) -> None:
    text = file.read_text()
    assert old in text
    file.write_text(text.replace(old, new))


def test_what_is_written_is_not_stale(root: Path, kernel: Kernel, traces):
    assert certificates.stale(root, kernel, traces) == []


def test_writing_again_touches_nothing(root: Path, kernel: Kernel, traces):
    times = {file: file.stat().st_mtime_ns for file in (root / FOLDER).iterdir()}
    assert certificates.write(root, kernel, traces) == []
    assert {file: file.stat().st_mtime_ns for file in (root / FOLDER).iterdir()} == times


def test_the_committed_certificates_are_what_is_written(root: Path, kernel: Kernel, traces):
    shutil.rmtree(root / FOLDER)
    shutil.copytree(ROOT / FOLDER, root / FOLDER)
    assert certificates.stale(root, kernel, traces) == []


def add_a_line(file: Path) -> None:
    file.write_text(file.read_text() + "\n")


def cut(file: Path) -> None:
    file.write_bytes(file.read_bytes()[:-1])


def carriage_returns(file: Path) -> None:
    file.write_bytes(file.read_bytes().replace(b"\n", b"\r\n"))


def invalid_text(file: Path) -> None:
    file.write_bytes(b"\xff" + file.read_bytes())


def link(file: Path) -> None:
    file.rename(file.parent.parent / "elsewhere")
    file.symlink_to(file.parent.parent / "elsewhere")


CORRUPTIONS = (add_a_line, cut, carriage_returns, invalid_text, link, Path.unlink)


@pytest.mark.parametrize(("name", "corrupt"), [*product(FILES, CORRUPTIONS)])
def test_every_corruption_is_stale_and_repaired(
    name: str, corrupt: Callable[[Path], None], root: Path, kernel: Kernel, traces
):
    corrupt(root / FOLDER / name)
    problems = certificates.stale(root, kernel, traces)
    assert problems
    assert all(f"{FOLDER}/{name}" in problem for problem in problems)
    assert certificates.write(root, kernel, traces) == [f"{FOLDER}/{name}"]
    assert certificates.stale(root, kernel, traces) == []


@pytest.mark.parametrize("name", ["extra.lean", "n6_d3.json"])
def test_a_file_of_no_shape_is_stale_and_removed(name: str, root: Path, kernel: Kernel, traces):
    (root / FOLDER / name).write_text("")
    (problem,) = certificates.stale(root, kernel, traces)
    assert problem.startswith(f"{FOLDER}/{name} belongs to no shape of the manifest")
    assert certificates.write(root, kernel, traces) == [f"{FOLDER}/{name}"]


def test_files_of_other_kinds_are_left_alone(root: Path, kernel: Kernel, traces):
    notes = root / FOLDER / "notes.md"
    notes.write_text("mine")
    assert certificates.stale(root, kernel, traces) == []
    assert certificates.write(root, kernel, traces) == []
    assert notes.read_text() == "mine"


def test_a_removed_shape_names_its_files(root: Path, kernel: Kernel, traces):
    fewer = kernel.model_copy(update={"shapes": kernel.shapes[:1]})
    problems = certificates.stale(root, fewer, traces[:1])
    assert [p.split()[0] for p in problems[:2]] == [f"{FOLDER}/n4_d3.json", f"{FOLDER}/n4_d3.lean"]
    certificates.write(root, fewer, traces[:1])
    assert certificates.stale(root, fewer, traces[:1]) == []
    assert not (root / FOLDER / "n4_d3.lean").exists()


def test_another_version_of_jax_is_not_stale(root: Path, kernel: Kernel, traces):
    version = traces[0].program.jax_version
    for file in (root / FOLDER).iterdir():
        edited(file, version, "0.9.0")
    assert certificates.stale(root, kernel, traces) == []


def test_different_versions_of_jax_are_stale(root: Path, kernel: Kernel, traces):
    version = traces[0].program.jax_version
    edited(root / FOLDER / "symbolic.json", version, "0.9.0")
    (problem,) = certificates.stale(root, kernel, traces)
    assert f"({', '.join(sorted(('0.9.0', version)))})" in problem


@pytest.mark.parametrize(("number_of_trace", "rows"), [(0, "n"), (1, "4")])
def test_the_first_equation_that_changed_is_named(number_of_trace: int, rows: str, traces):
    traced = traces[number_of_trace]
    old = traced.program
    arguments = len(old.arguments)
    number = next(k for k, e in enumerate(old.equations) if e.primitive == "exp")
    other = old.equations[number].model_copy(update={"primitive": "neg"})
    changed = (*old.equations[:number], other, *old.equations[number + 1 :])
    assert certificates.changed_equation(old, traced) is None
    sentence = certificates.changed_equation(old.model_copy(update={"equations": changed}), traced)
    assert sentence is not None
    assert f"equation v#{arguments + number} was `f32 [{rows}] = neg" in sentence
    assert f"and is now `f32 [{rows}] = exp v#5` ({traced.sources[number]})" in sentence
    short = old.model_copy(update={"equations": old.equations[:-1]})
    assert "is new: " in str(certificates.changed_equation(short, traced))
    long = old.model_copy(update={"equations": (*old.equations, old.equations[-1])})
    assert "is gone" in str(certificates.changed_equation(long, traced))


def test_a_failing_write_leaves_the_old_file(root: Path, kernel: Kernel, traces, monkeypatch):
    add_a_line(root / FOLDER / "properties.lean")
    before = (root / FOLDER / "properties.lean").read_bytes()

    def fail(self: Path, target: Path) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "replace", fail)
    with pytest.raises(EnvironmentFault, match="the disk is full"):
        certificates.write(root, kernel, traces)
    assert (root / FOLDER / "properties.lean").read_bytes() == before
    assert sorted(file.name for file in (root / FOLDER).iterdir()) == sorted(FILES)


@pytest.mark.parametrize("name", ["", "masked_attention_pool"])
def test_a_link_out_of_the_project_is_refused(name: str, root: Path, kernel: Kernel, traces):
    folder = root / "certificates" / name
    folder.rename(root / "elsewhere")
    folder.symlink_to(root / "elsewhere")
    for act in (certificates.write, certificates.stale):
        with pytest.raises(EnvironmentFault, match="is a symbolic link"):
            act(root, kernel, traces)


@pytest.mark.parametrize(
    "path", ["stray.lean", "unknown/n4_d3.lean", "masked_attention_pool/deeper/n4_d3.lean"]
)
def test_lean_files_of_no_kernel_are_refused(path: str, root: Path, kernel: Kernel):
    manifest = Manifest(root / "maskpool.toml", (kernel,))
    certificates.require_no_orphans(manifest)
    stray = root / "certificates" / path
    stray.parent.mkdir(parents=True, exist_ok=True)
    stray.write_text("")
    with pytest.raises(StaleError, match=f"certificates/{path} belongs to no kernel of maskpool.toml"):
        certificates.require_no_orphans(manifest)


def test_the_lock_is_held_by_one_at_a_time(tmp_path: Path):
    events: list[str] = []
    waits = threading.Event()

    def second() -> None:
        with certificates.locked(tmp_path, waits.set):
            events.append("second")

    with certificates.locked(tmp_path, lambda: events.append("nobody holds it")):
        thread = threading.Thread(target=second)
        thread.start()
        assert waits.wait(10)
        events.append("first")
    thread.join(10)
    assert events == ["first", "second"]
