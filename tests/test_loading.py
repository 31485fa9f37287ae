"""Importing the user's function: what is found, what is refused, and what is left behind."""

import sys
from pathlib import Path

import pytest

from maskpool_verify.errors import ManifestError, TraceError
from maskpool_verify.loading import UserFiles, load_function
from maskpool_verify.manifest import ArgumentSpec, Kernel

GOOD = "def pool(features, logits, mask):\n    return logits\n"


def kernel(function: str) -> Kernel:
    arguments = (
        ArgumentSpec(name="features", role="features", dtype="float32", shape=("n",)),
        ArgumentSpec(name="logits", role="logits", dtype="float32", shape=("n",)),
        ArgumentSpec(name="mask", role="mask", dtype="bool", shape=("n",)),
    )
    return Kernel(
        name="pool", function=function, spec="attention", rows="n", shapes=({"n": 4},), arguments=arguments
    )


def test_a_file_relative_to_the_manifest(tmp_path: Path) -> None:
    directory = tmp_path / "kernels"
    directory.mkdir()
    (directory / "helper.py").write_text("answer = 42\n")
    (directory / "pool.py").write_text(
        "import helper\n" + GOOD.replace("return logits", "return helper.answer")
    )
    before = list(sys.path), sys.dont_write_bytecode
    function = load_function(kernel("kernels/pool.py:pool"), tmp_path)
    assert function(1, 2, 3) == 42
    assert (list(sys.path), sys.dont_write_bytecode) == before
    assert "helper" not in sys.modules
    assert sorted(path.name for path in tmp_path.rglob("*")) == ["helper.py", "kernels", "pool.py"]


def test_helpers_of_the_same_name_and_edits_are_not_confused(tmp_path: Path) -> None:
    values = []
    for answer in (1, 2):
        (tmp_path / f"{answer}").mkdir()
        (tmp_path / f"{answer}" / "helper.py").write_text(f"answer = {answer}\n")
        text = "from helper import answer\n" + GOOD.replace("return logits", "return answer")
        (tmp_path / f"{answer}" / "pool.py").write_text(text)
        values.append(load_function(kernel(f"{answer}/pool.py:pool"), tmp_path)(0, 0, 0))
    (tmp_path / "2" / "helper.py").write_text("answer = 3\n")
    values.append(load_function(kernel("2/pool.py:pool"), tmp_path)(0, 0, 0))
    assert values == [1, 2, 3]


def test_a_module(tmp_path: Path) -> None:
    (tmp_path / "package_under_test").mkdir()
    (tmp_path / "package_under_test" / "pool.py").write_text(GOOD)
    function = load_function(kernel("package_under_test.pool:pool"), tmp_path)
    assert function(1, 2, 3) == 2


@pytest.mark.parametrize(
    ("text", "error", "message"),
    [
        ("def pol(features, logits, mask): ...\n", ManifestError, 'no function "pool"; did you mean "pol"'),
        ("pool = 3\n", ManifestError, "not a function but has type int"),
        ("x = 1\nraise ValueError('bad\\nworse')\n", TraceError, r"raises ValueError at pool.py:2: bad\.$"),
        ("import absent_module\n", TraceError, "ModuleNotFoundError at pool.py:1"),
        ("import sys\nsys.exit(3)\n", TraceError, "SystemExit at pool.py:2"),
        ("def pool(:\n", TraceError, "pool.py:1 is not valid Python"),
        ("def pool(features, logits): ...\n", ManifestError, "lists 3 arguments.*the function has 2"),
        ("def pool(features, logits, mask, d): ...\n", ManifestError, "lists 3 arguments.*has 4"),
        ("def pool(logits, features, mask): ...\n", ManifestError, 'argument 1 is "features".*"logits"'),
        ("def pool(features, logits, mask, *, d): ...\n", ManifestError, 'keyword-only parameter "d"'),
    ],
)
def test_errors_name_kernel_and_cause(
    tmp_path: Path, text: str, error: type[Exception], message: str
) -> None:
    (tmp_path / "pool.py").write_text(text)
    with pytest.raises(error, match=message) as caught:
        load_function(kernel("pool.py:pool"), tmp_path)
    assert str(caught.value).startswith('Kernel "pool"')
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("text", ["def pool(*args): ...\n", "def pool(features, logits, mask, d=1): ...\n"])
def test_signatures_that_fit(tmp_path: Path, text: str) -> None:
    (tmp_path / "pool.py").write_text(text)
    assert callable(load_function(kernel("pool.py:pool"), tmp_path))


def test_absent_files_and_modules(tmp_path: Path) -> None:
    with pytest.raises(ManifestError, match=r"no file absent\.py"):
        load_function(kernel("absent.py:pool"), tmp_path)
    with pytest.raises(ManifestError, match=r"no module absent\.module"):
        load_function(kernel("absent.module:pool"), tmp_path)


def test_which_files_are_the_users(tmp_path: Path) -> None:
    files = UserFiles(tmp_path, Path("/elsewhere/kernel.py"))
    assert files.owns(str(tmp_path / "a" / "b.py"))
    assert files.owns("/elsewhere/kernel.py")
    assert not files.owns("/elsewhere/other.py")
    assert not files.owns(str(tmp_path / ".venv" / "lib" / "site-packages" / "jax" / "x.py"))
    assert files.name(str(tmp_path / "a" / "b.py")) == "a/b.py"
