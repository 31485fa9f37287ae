"""The files of a new project: manifest, sample kernel, and the workflow for CI.

Nothing is guessed silently: a guessed entry of the manifest is marked there and listed in
:attr:`KernelDraft.guesses`; one that cannot be guessed is left out, which ``check`` refuses.
"""

from __future__ import annotations

import ast
import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import jinja2

from maskpool_verify.errors import UsageError
from maskpool_verify.files import disk_faults
from maskpool_verify.manifest import DType, Role, suggestion

MANIFEST = "maskpool.toml"
SAMPLE = "kernels/attention_pool.py"
WORKFLOW = ".github/workflows/maskpool-verify.yml"
IGNORED = ".maskpool/"
"""What is built in a project; a line for ``.gitignore``."""


@dataclass(frozen=True)
class ArgumentDraft:
    """An argument of a kernel, as far as it is known; ``guessed`` from its name."""

    name: str
    role: Role | None = None
    dtype: DType | None = None
    shape: tuple[str, ...] | None = None
    guessed: bool = False


@dataclass(frozen=True)
class KernelDraft:
    """A ``[[kernel]]`` table to be."""

    name: str
    function: str
    arguments: tuple[ArgumentDraft, ...]

    @property
    def guesses(self) -> tuple[str, ...]:
        """What a person has to confirm or to fill in, a sentence each."""
        return tuple(
            f'{argument.name}: role "{argument.role}", {argument.dtype} [{", ".join(argument.shape or ())}] '
            "is a guess from its name"
            if argument.guessed
            else f"{argument.name}: role, dtype and shape are not known"
            for argument in self.arguments
            if argument.guessed or argument.role is None
        )


_FEATURES = ArgumentDraft("features", "features", "float32", ("n", "d"))
_LOGITS = ArgumentDraft("logits", "logits", "float32", ("n",))
_MASK = ArgumentDraft("mask", "mask", "bool", ("n",))
_LENGTH = ArgumentDraft("length", "length", "int32", ())

_BY_NAME: dict[str, ArgumentDraft] = {
    **dict.fromkeys(("features", "embeddings", "instances", "tokens", "values", "x", "h"), _FEATURES),
    **dict.fromkeys(("logits", "scores", "attention_logits", "attention_scores"), _LOGITS),
    **dict.fromkeys(("mask", "valid", "attention_mask", "padding_mask"), _MASK),
    **dict.fromkeys(("length", "num_valid", "n_valid"), _LENGTH),
}

SAMPLE_KERNEL = KernelDraft("attention_pool", f"{SAMPLE}:attention_pool", (_FEATURES, _LOGITS, _MASK))


def draft(function: str, root: Path) -> KernelDraft:
    """The table of a function that is given as ``path.py:function``, from its signature; nothing is run.

    ``root`` is the directory of the manifest.

    Raises:
        UsageError: there is no such function below ``root``.
    """
    path, _, name = function.rpartition(":")
    if not path.endswith(".py") or not name:
        raise UsageError(f'"{function}" is not FILE.py:FUNCTION, as in kernels/pool.py:masked_pool.')
    file = (root / path).resolve()
    if not file.is_relative_to(root.resolve()):
        raise UsageError(f"{path} is not below {root.resolve()}; run init in the directory of the project.")
    try:
        tree = ast.parse(file.read_bytes(), path)
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror}; name a Python file.") from None
    except (SyntaxError, ValueError) as error:
        raise UsageError(f"{path} is not valid Python: {error}.") from None
    functions = {node.name: node for node in tree.body if isinstance(node, ast.FunctionDef)}
    if name not in functions:
        raise UsageError(f'{path} has no function "{name}" at its top{suggestion(name, functions)}.')
    parameters = functions[name].args
    required = len(parameters.posonlyargs) + len(parameters.args) - len(parameters.defaults)
    names = [each.arg for each in (*parameters.posonlyargs, *parameters.args)][:required]
    relative = file.relative_to(root.resolve()).as_posix()
    return KernelDraft(name, f"{relative}:{name}", tuple(_guess(names)))


def _guess(names: Sequence[str]) -> list[ArgumentDraft]:
    """A role is guessed for the first argument that has a name of that role."""
    taken: set[Role | None] = set()
    found = []
    for name in names:
        like = _BY_NAME.get(name)
        if like is None or like.role in taken:
            found.append(ArgumentDraft(name))
        else:
            taken.add(like.role)
            found.append(ArgumentDraft(name, like.role, like.dtype, like.shape, guessed=True))
    return found


@cache
def _templates() -> jinja2.Environment:
    return jinja2.Environment(
        loader=jinja2.PackageLoader("maskpool_verify.scaffold"),
        undefined=jinja2.StrictUndefined,
        autoescape=False,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )


def manifest(kernel: KernelDraft) -> str:
    """The text of a manifest with one kernel."""

    def quoted(value: object) -> str:  # a basic string, or an array of them, is the same in TOML
        return json.dumps(value, ensure_ascii=False)

    return _templates().get_template("maskpool.toml.j2").render(kernel=kernel, quoted=quoted)


def sample() -> str:
    """The text of the sample kernel."""
    return _templates().get_template("attention_pool.py.j2").render()


def workflow(version: str) -> str:
    """The text of a workflow for GitHub that installs this version of maskpool-verify and runs the check."""
    return _templates().get_template("github.yml.j2").render(version=version)


def create(path: Path, text: str) -> None:
    """Write a file that is not there yet.

    Raises:
        UsageError: it is there.
        EnvironmentFault: it cannot be written.
    """
    with disk_faults("write", path):
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            file = path.open("xb")
        except FileExistsError:
            raise UsageError(f"{path} is there already, and init does not change it.") from None
        try:
            with file:
                file.write(text.encode())
        except BaseException:
            path.unlink(missing_ok=True)
            raise


def ignore(root: Path) -> bool:
    """Add :data:`IGNORED` to ``.gitignore``; whether it was missing.

    Raises:
        EnvironmentFault: it cannot be read or written.
    """
    path = root / ".gitignore"
    with disk_faults("write", path):
        text = path.read_bytes() if path.exists() else b""
        if IGNORED.rstrip("/") in (
            line.decode(errors="replace").strip().strip("/") for line in text.splitlines()
        ):
            return False
        with path.open("ab") as file:
            file.write((b"" if text.endswith(b"\n") or not text else b"\n") + f"{IGNORED}\n".encode())
        return True
