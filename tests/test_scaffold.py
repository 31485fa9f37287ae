"""The files of a new project: what is guessed is said, what is there is kept."""

from __future__ import annotations

from pathlib import Path

import pytest

from maskpool_verify import scaffold
from maskpool_verify.errors import ManifestError, UsageError
from maskpool_verify.manifest import load_manifest

ROOT = Path(__file__).parent.parent


@pytest.fixture
def kernel_file(tmp_path: Path) -> Path:
    file = tmp_path / "pool.py"
    file.write_text(
        "raise SystemExit('it is not run')\n"
        "def pool(x, scores, mask, weight, /, temperature=1.0, *, precision=None): ...\n"
        "def größe(x): ...\n"
        "class A:\n    def inner(self): ...\n"
    )
    return file


def test_the_sample_is_a_valid_project(tmp_path: Path) -> None:
    scaffold.create(tmp_path / scaffold.MANIFEST, scaffold.manifest(scaffold.SAMPLE_KERNEL))
    (kernel,) = load_manifest(tmp_path / scaffold.MANIFEST).kernels
    assert scaffold.SAMPLE_KERNEL.guesses == ()
    assert (kernel.name, kernel.spec, kernel.is_open) == ("attention_pool", "attention", True)
    assert [(a.role, a.dtype, a.shape) for a in kernel.arguments] == [
        ("features", "float32", ("n", "d")),
        ("logits", "float32", ("n",)),
        ("mask", "bool", ("n",)),
    ]


def test_guesses_are_said_and_gaps_refused(kernel_file: Path) -> None:
    draft = scaffold.draft("pool.py:pool", kernel_file.parent)
    assert draft.guesses == (
        'x: role "features", float32 [n, d] is a guess from its name',
        'scores: role "logits", float32 [n] is a guess from its name',
        'mask: role "mask", bool [n] is a guess from its name',
        "weight: role, dtype and shape are not known",
    )
    text = scaffold.manifest(draft)
    assert text.count("# a guess from the name: confirm these three lines") == 3
    path = kernel_file.with_name("maskpool.toml")
    path.write_text(text)
    with pytest.raises(ManifestError, match=r'kernel "pool", arguments\.3\.role: the key is missing; add it'):
        load_manifest(path)
    path.write_text(
        text.replace(
            'name = "weight"\n', 'name = "weight"\nrole = "parameter"\ndtype = "float32"\nshape = ["d"]\n'
        )
    )
    assert [a.name for a in load_manifest(path).kernels[0].arguments] == ["x", "scores", "mask", "weight"]


def test_a_role_is_guessed_once(kernel_file: Path) -> None:
    kernel_file.write_text("def pool(x, h, mask): ...\n")
    draft = scaffold.draft("pool.py:pool", kernel_file.parent)
    assert [a.role for a in draft.arguments] == ["features", None, "mask"]


@pytest.mark.parametrize(
    ("function", "problem"),
    [
        ("pool", '"pool" is not FILE.py:FUNCTION'),
        ("pool.py", '"pool.py" is not FILE.py:FUNCTION'),
        ("pool.py:", '"pool.py:" is not FILE.py:FUNCTION'),
        ("missing.py:pool", "missing.py cannot be read: No such file or directory"),
        ("pool.py:pol", 'pool.py has no function "pol" at its top; did you mean "pool"'),
        ("pool.py:inner", 'pool.py has no function "inner" at its top'),
        ("../pool.py:pool", r"\.\./pool.py is not below "),
    ],
)
def test_what_is_no_function_is_refused(kernel_file: Path, function: str, problem: str) -> None:
    with pytest.raises(UsageError, match=problem):
        scaffold.draft(function, kernel_file.parent)


def test_a_file_with_an_error_is_refused(kernel_file: Path) -> None:
    kernel_file.write_text("def pool(:\n")
    with pytest.raises(UsageError, match=r"pool\.py is not valid Python"):
        scaffold.draft("pool.py:pool", kernel_file.parent)


def test_names_are_quoted_for_toml(tmp_path: Path) -> None:
    folder = tmp_path / 'a "quoted" \\ Straße'
    folder.mkdir()
    (folder / "k.py").write_text("def pool(features, logits, mask): ...\n")
    draft = scaffold.draft('a "quoted" \\ Straße/k.py:pool', tmp_path)
    path = tmp_path / "maskpool.toml"
    path.write_text(scaffold.manifest(draft), "utf-8")
    assert load_manifest(path).kernels[0].function == 'a "quoted" \\ Straße/k.py:pool'


def test_nothing_is_overwritten(tmp_path: Path) -> None:
    (tmp_path / "kept").write_text("mine")
    with pytest.raises(UsageError, match="is there already, and init does not change it"):
        scaffold.create(tmp_path / "kept", "other")
    assert (tmp_path / "kept").read_text() == "mine"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (None, ".maskpool/\n"),
        ("*.pyc", "*.pyc\n.maskpool/\n"),
        ("/.maskpool\n", "/.maskpool\n"),
        (".maskpool/\n", ".maskpool/\n"),
    ],
)
def test_what_is_built_is_ignored_once(tmp_path: Path, before: str | None, after: str) -> None:
    if before is not None:
        (tmp_path / ".gitignore").write_text(before)
    assert scaffold.ignore(tmp_path) == (before != after)
    assert (tmp_path / ".gitignore").read_text() == after
