"""``check --changed``: the kernels that are left out have the verdict that a whole check gives them.

Histories of a git repository are random, with edits of everything that a verdict depends on. Lean is a fake,
whose answers depend on files of the project; kernels are traced by JAX.
"""

from __future__ import annotations

import hashlib
import json
import math
import random
import shutil
import subprocess
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

import pytest

from maskpool_verify import api, lock
from maskpool_verify import check as checking
from maskpool_verify.audit import AuditResult, TheoremAudit
from maskpool_verify.check import check
from maskpool_verify.engine.protocol import Artifacts, EngineInfo, ModuleResult, Progress
from maskpool_verify.errors import MaskpoolError, UsageError
from maskpool_verify.manifest import Manifest, load_manifest

ROOT = Path(__file__).parent.parent
KERNELS = ("first", "second")
HISTORIES, EDITS = 8, 5

KERNEL = """import jax.numpy as jnp

import helper


def {name}(features, logits, mask):
    weights = jnp.where(mask, jnp.exp(jnp.where(mask, logits, 0.0)), 0.0)
    total = jnp.sum(weights)
    pooled = jnp.sum(weights[:, None] * jnp.where(mask[:, None], features, 0.0), axis=0)
    return helper.{name}(jnp.where(total > 0, pooled / jnp.where(total > 0, total, 1.0), 0.0))
"""
HELPER = """from pathlib import Path

NOTES = (Path(__file__).parent.parent / "notes.md").read_text()


def first(result):
    return result


def second(result):
    return result + 1.0 if "shift" in NOTES else result
"""


def digest(*files: Path) -> str:
    return hashlib.sha256(b"".join(file.read_bytes() for file in files if file.exists())).hexdigest()


class FakeEngine:
    """Builds everything, unless a file of the project says that the library or the version is bad."""

    name: Literal["wasm"] = "wasm"

    def __init__(self, root: Path) -> None:
        self.root = root

    def info(self) -> EngineInfo:
        return EngineInfo(name="wasm", lean_version="4", githash="a", source="a test", files={})

    def build(
        self,
        project: Path,
        modules: Sequence[str],
        *,
        fresh: bool = False,
        seconds: Callable[[str], float] = lambda _: math.inf,
        progress: Callable[[Progress], None] = lambda _: None,
    ) -> dict[str, ModuleResult]:
        texts = [(self.root / name).read_text() for name in ("MaskPool.lean", "requirements.txt")]
        bad = any("bad" in text for text in texts)
        return {
            name: ModuleResult(
                module=name,
                status="failed" if bad and name == "MaskPool" else "built",
                seconds=0.0,
                messages=(),
            )
            for name in modules
        }

    def session(
        self, project: Path, modules: Sequence[str], *, fresh: bool = False
    ) -> AbstractContextManager[None]:
        return nullcontext()

    def artifacts(self, project: Path) -> Artifacts:
        return Artifacts(own=project, library=())


def fake_audit(
    own: Path, library: Sequence[Path], modules: Sequence[str], names: Sequence[str], spaces: Sequence[str]
) -> AuditResult:
    """Finds every theorem, with a meaning that depends on the certificates and on the library."""

    def found(name: str) -> TheoremAudit:
        home = name.rpartition(".")[0]
        properties = f"{home.rpartition('.')[0]}.properties"
        module = home if name.endswith(("translation", "instance_of_symbolic")) else properties
        if name.endswith("any_arithmetic"):
            module = f"{home.rpartition('.')[0]}.any_arithmetic"
        source = own / f"{module.replace('.', '/')}.lean"
        return TheoremAudit(
            name=name,
            module=module,
            kind="theorem",
            statement="True",
            digest=digest(source),
            axioms=(),
            constants=1,
            library_theorems=0,
            library_others=0,
            violations=(),
        )

    return AuditResult(
        allowed_axioms=(),
        lean_version="4",
        githash="a",
        own_modules=1,
        library_modules=1,
        theorems=tuple(map(found, names)),
        definitions={"MaskPool.pool": digest(own / "MaskPool.lean")},
        violations=(),
        files={},
    )


@dataclass
class World:
    """A project in a git repository; ``passed`` are the commits at which a whole check passed."""

    root: Path
    passed: list[str] = field(default_factory=list)

    @property
    def manifest(self) -> Manifest:
        return load_manifest(self.root / "maskpool.toml")

    def git(self, *arguments: str) -> str:
        identity = ("-c", "user.name=a", "-c", "user.email=a@example.org", "-c", "commit.gpgsign=false")
        ended = subprocess.run(
            ["git", *identity, *arguments], cwd=self.root, capture_output=True, text=True, check=True
        )
        return ended.stdout.strip()

    def commit(self) -> str:
        self.git("add", "-A")
        self.git("commit", "-q", "--allow-empty", "-m", "x")
        return self.git("rev-parse", "HEAD")

    def edit(self, file: str, change: Callable[[str], str]) -> None:
        path = self.root / file
        if path.exists():
            path.write_text(change(path.read_text()))

    def verdicts(self, names: Sequence[str] | None = None) -> dict[str, str] | str:
        """The verdicts of the kernels called so, or of all; or the error that a check ends with."""
        try:
            manifest = self.manifest
            kernels = manifest.kernels if names is None else [manifest.kernel(name) for name in names]
            report = check(manifest, kernels, FakeEngine(self.root), second="off", search_seconds=0)
        except MaskpoolError as error:
            return str(error)
        return {kernel.name: kernel.verdict for kernel in report.kernels}

    def accept(self) -> None:
        """Trace, and accept what the theorems say."""
        manifest = self.manifest
        api.trace(manifest)
        report = check(
            manifest,
            manifest.kernels,
            FakeEngine(self.root),
            second="off",
            search_seconds=0,
            require_accepted=False,
        )
        theorems = [theorem for kernel in report.kernels for theorem in kernel.theorems]
        lock.write(self.root, lock.of_reports(theorems, report.definitions))

    def is_verified(self) -> bool:
        found = self.verdicts()
        return isinstance(found, dict) and set(found.values()) == {"verified"}

    def changed(self, revision: str) -> dict[str, str]:
        return {change.kernel.name: change.reason for change in api.changed(self.manifest, revision)}


@pytest.fixture(scope="module")
def original(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    """Two kernels with a common helper, in a project below the top of the repository's files."""
    root = tmp_path_factory.mktemp("changes") / "project"
    (root / "kernels").mkdir(parents=True)
    for name in KERNELS:
        (root / f"kernels/{name}.py").write_text(KERNEL.format(name=name))
    (root / "kernels/helper.py").write_text(HELPER)
    text = (ROOT / "maskpool.toml").read_text().replace(", { n = 4, d = 3 }", "")
    table = text[text.index("[[kernel]]") : text.rindex("[[kernel]]")]
    tables = [table.replace("masked_attention_pool", name) for name in KERNELS]
    (root / "maskpool.toml").write_text('library = "project"\n' + "".join(tables))
    (root / "MaskPool.lean").write_text("module\n")
    (root / "requirements.txt").write_text("jax\n")
    (root / "notes.md").write_text("notes\n")
    (root / ".gitignore").write_text(".maskpool/\n")
    world = World(root)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(checking, "audit", fake_audit)
        world.accept()
        assert world.is_verified()
        world.git("init", "-q", "-b", "main")
        world.passed.append(world.commit())
        yield world


@pytest.fixture
def world(original: World, tmp_path: Path) -> World:
    root = shutil.copytree(original.root, tmp_path / "project", symlinks=True)
    return World(root, list(original.passed))


# -- random histories


def swap(text: str) -> str:
    """Exchange what masked and unmasked rows weigh, or change it back."""
    right, wrong = "0.0)), 0.0)", "0.0)), 2.0)"
    return text.replace(right, wrong) if right in text else text.replace(wrong, right)


def toggle(word: str) -> Callable[[str], str]:
    return lambda text: text.replace(f"{word}\n", "") if f"{word}\n" in text else f"{text}{word}\n"


def relock(change: Callable[[dict[str, dict[str, str]]], None]) -> Callable[[str], str]:
    def edit(text: str) -> str:
        found = json.loads(text)
        change(found)
        return json.dumps(found)

    return edit


def remove_statement(found: dict[str, dict[str, str]]) -> None:
    found["statements"].popitem()


def add_definition(found: dict[str, dict[str, str]]) -> None:
    found["definitions"]["MaskPool.other"] = "1"


def add_shape(text: str) -> str:
    return text.replace('["all"]', '["all", { n = 2, d = 2 }]', 1)


LOCK = lock.PATH
EDIT: dict[str, Callable[[World], object]] = {
    "comment": lambda w: w.edit("kernels/first.py", toggle("# a comment")),
    "first": lambda w: w.edit("kernels/first.py", swap),
    "second": lambda w: w.edit("kernels/second.py", swap),
    "helper": lambda w: w.edit(
        "kernels/helper.py",
        lambda t: t.replace("first(result):\n    return result\n", "first(result):\n    return -result\n"),
    ),
    "data": lambda w: w.edit("notes.md", toggle("shift")),
    "broken": lambda w: w.edit("kernels/second.py", toggle("import nowhere")),
    "shadow": lambda w: (w.root / "kernels/numbers.py").write_text("1 / 0\n"),
    "trace": lambda w: api.trace(w.manifest),
    "accept": lambda w: w.accept(),
    "certificate": lambda w: w.edit("certificates/second/properties.lean", toggle("-- edited")),
    "stray": lambda w: (w.root / "certificates/first/stray.lean").write_text("module\n"),
    "orphan": lambda w: (w.root / "certificates/stray.lean").write_text("module\n"),
    "lost": lambda w: (w.root / "certificates/first/index.json").unlink(missing_ok=True),
    "statement": lambda w: w.edit(LOCK, relock(remove_statement)),
    "definition": lambda w: w.edit(LOCK, relock(add_definition)),
    "no lock": lambda w: w.edit(LOCK, lambda _: "{"),
    "shape": lambda w: w.edit("maskpool.toml", add_shape),
    "manifest": lambda w: w.edit("maskpool.toml", toggle("# a comment")),
    "fewer": lambda w: w.edit(
        "maskpool.toml", lambda t: t[: t.rindex("[[kernel]]")] if t.count("[[kernel]]") > 1 else t
    ),
    "library": lambda w: w.edit("MaskPool.lean", toggle("-- bad")),
    "versions": lambda w: w.edit("requirements.txt", toggle("bad==1")),
    "readme": lambda w: (w.root / "README.md").write_text("read\n"),
    "rename": lambda w: (
        (w.root / "kernels/helper.py").rename(w.root / "kernels/helped.py")
        if (w.root / "kernels/helper.py").exists()
        else None
    ),
    "restore": lambda w: w.git("checkout", "-q", w.passed[0], "--", "."),
}
KEEP: dict[str, Callable[[World], object]] = {
    "modified": lambda w: None,
    "staged": lambda w: w.git("add", "-A"),
    "hidden": lambda w: (
        w.git("update-index", "--assume-unchanged", *w.git("ls-files", "-m").splitlines()[:1])
        if w.git("ls-files", "-m")
        else None
    ),
    "committed": lambda w: w.commit(),
}


def require_same_verdicts(world: World, revision: str) -> None:
    """A check of the changed kernels, and "verified" for the others, is a whole check."""
    whole = world.verdicts()
    changes = world.changed(revision)
    some = world.verdicts(list(changes)) if changes else {}
    if isinstance(whole, str):
        assert some == whole
        return
    assert isinstance(some, dict)
    skipped = {kernel.name: "verified" for kernel in world.manifest.kernels if kernel.name not in changes}
    assert some | skipped == whole


@pytest.mark.parametrize("seed", range(HISTORIES))
def test_what_is_left_out_is_verified(seed: int, world: World):
    chance = random.Random(seed)
    for _ in range(EDITS):
        for name in chance.sample(sorted(EDIT), k=chance.choice((1, 1, 2))):
            try:
                EDIT[name](world)
            except MaskpoolError:
                continue  # nothing that can be traced
        KEEP[chance.choice(sorted(KEEP))](world)
        require_same_verdicts(world, chance.choice(world.passed))
        if not world.git("status", "--porcelain") and world.is_verified():
            world.passed.append(world.git("rev-parse", "HEAD"))


# -- what counts as a change


@pytest.mark.parametrize(
    ("edit", "which"),
    [
        ("comment", []),
        ("first", ["first"]),
        ("second", ["second"]),
        ("helper", ["first"]),
        ("data", ["second"]),
        ("certificate", ["second"]),
        ("lost", ["first"]),
        ("shape", ["first"]),
        ("manifest", []),
        ("fewer", ["first"]),
        ("readme", []),
        ("statement", ["second"]),
        ("definition", ["first", "second"]),
        ("library", ["first", "second"]),
        ("versions", ["first", "second"]),
        ("orphan", ["first", "second"]),
        ("broken", ["second"]),
        ("shadow", []),
        ("no lock", ["first", "second"]),
        ("rename", ["first", "second"]),
    ],
)
def test_only_what_an_edit_can_change(edit: str, which: list[str], world: World):
    EDIT[edit](world)
    assert list(world.changed("main")) == which
    require_same_verdicts(world, "main")
    world.commit()
    assert list(world.changed("HEAD~1")) == which


def test_certificates_that_fit_again_have_changed(world: World):
    """What the theorems say now is not accepted."""
    EDIT["first"](world)
    EDIT["trace"](world)
    world.commit()
    assert world.changed("HEAD~1") == {"first": "its certificates have changed"}
    require_same_verdicts(world, "HEAD~1")


def test_the_merge_base_counts(world: World):
    """What the other branch has changed since is no change of this one."""
    world.git("checkout", "-q", "-b", "other")
    EDIT["versions"](world)
    world.commit()
    world.git("checkout", "-q", "main")
    EDIT["second"](world)
    world.commit()
    assert world.changed("other") == {"second": "its trace has changed"}


@pytest.mark.parametrize("flag", ["--assume-unchanged", "--skip-worktree"])
def test_a_file_that_git_takes_for_unchanged_counts(flag: str, world: World):
    world.git("update-index", flag, "requirements.txt")
    EDIT["versions"](world)
    assert world.changed("main") == dict.fromkeys(KERNELS, "requirements.txt has changed")


def test_an_ignored_certificate_counts(world: World):
    (world.root / ".git/info/exclude").write_text("certificates/\n")
    (world.root / "certificates/first/more.lean").write_text("module\n")
    assert world.changed("main") == {"first": "its certificates have changed"}


def test_a_link_in_place_of_a_certificate_counts(world: World):
    file = world.root / "certificates/first/index.json"
    file.rename(world.root / "elsewhere.md")
    file.symlink_to(world.root / "elsewhere.md")
    assert world.changed("main") == {"first": "its certificates have changed"}


def test_names_that_git_would_quote(world: World):
    (world.root / 'ü "a"\n.cfg').write_text("")
    assert world.changed("main") == dict.fromkeys(KERNELS, 'ü "a"\n.cfg has changed')


def test_a_project_below_the_top(original: World, tmp_path: Path):
    top = World(tmp_path)
    world = World(shutil.copytree(original.root, tmp_path / "a b/project", ignore=lambda *_: [".git"]))
    top.git("init", "-q", "-b", "main")
    top.commit()
    assert world.changed("main") == {}
    EDIT["first"](world)
    assert list(world.changed("main")) == ["first"]
    (tmp_path / "pyproject.toml").write_text("")
    assert list(world.changed("main")) == list(KERNELS)


def test_no_repository(original: World, tmp_path: Path):
    world = World(shutil.copytree(original.root, tmp_path / "project", ignore=lambda *_: [".git"]))
    with pytest.raises(UsageError, match="is in no repository that git trusts"):
        world.changed("main")


@pytest.mark.parametrize("revision", ["nowhere", "--all", ""])
def test_no_such_revision(revision: str, world: World):
    with pytest.raises(UsageError, match=f'There is no revision "{revision}"'):
        world.changed(revision)


def test_no_common_history(world: World):
    world.git("checkout", "-q", "--orphan", "apart")
    world.commit()
    with pytest.raises(UsageError, match="no commit in common"):
        world.changed("main")
