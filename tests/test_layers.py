"""The library and the package are built in layers; what the files of the library have to look like."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from maskpool_verify.engine.modules import imported_modules
from maskpool_verify.importer import SUPPORTED_PRIMITIVES

ROOT = Path(__file__).parent.parent
PACKAGE = "maskpool_verify"

# -- Lean

LEAN_LAYERS = (
    ("Arith",),
    ("Finite",),
    ("Tensor", "Pool"),
    ("Extended",),
    ("Idioms", "Jaxpr"),
    ("Invariance",),
    ("Certificate",),
)
"""A file imports only files of its own folder and of folders in earlier layers."""

LEAN_FILES = {
    ".".join(file.relative_to(ROOT).with_suffix("").parts): file
    for file in sorted((ROOT / "MaskPool").rglob("*.lean"))
}
FORBIDDEN = ("sorry", "axiom", "native_decide", "unsafe", "implemented_by", "extern", "partial")
_DECLARATION = re.compile(
    r"(?:@\[[^]]*\] )*(?:(?:noncomputable|private|protected|local) )*"
    r"(?P<kind>def|abbrev|structure|class|inductive|theorem|instance) (?P<name>\S+)"
)


def folder(module: str) -> str:
    return module.split(".")[1]


def rank(module: str) -> int:
    (found,) = [number for number, layer in enumerate(LEAN_LAYERS) if folder(module) in layer]
    return found


def bare(source: str) -> str:
    """Lean source without comments and strings; their line breaks stay."""
    kept, depth, position = [], 0, 0
    for token in re.finditer(r'/-|-/|--[^\n]*|"(?:\\.|[^"\\])*"', source):
        text = token[0]
        if depth == 0:
            kept.append(source[position : token.start()])
        if text == "/-" or (depth and text == "-/"):
            depth += 1 if text == "/-" else -1
        kept.append("\n" * source[position : token.end()].count("\n") if depth else "")
        position = token.end()
    return "".join([*kept, source[position:]])


@pytest.mark.parametrize("module", LEAN_FILES)
def test_lean_files_import_only_downwards(module: str) -> None:
    for imported in imported_modules(LEAN_FILES[module].read_text(encoding="utf-8")):
        if imported.startswith("MaskPool"):
            assert imported in LEAN_FILES
            assert folder(imported) == folder(module) or rank(imported) < rank(module)
        else:
            assert imported.split(".")[0] in ("Init", "Lean", "Std")


def test_the_library_is_all_of_its_files() -> None:
    sources = {"MaskPool": ROOT / "MaskPool.lean", **LEAN_FILES}
    reached, waiting = set(), ["MaskPool"]
    while waiting:
        module = waiting.pop()
        if module not in reached and module in sources:
            reached.add(module)
            waiting += imported_modules(sources[module].read_text(encoding="utf-8"))
    assert reached == set(sources)


@pytest.mark.parametrize("module", LEAN_FILES)
def test_lean_files_begin_with_what_they_are_about(module: str) -> None:
    source = LEAN_FILES[module].read_text(encoding="utf-8")
    header = re.match(r"module\n(\s|public import [\w.]+\n)*/-!\n# \w", source)
    assert header is not None, f"{module} does not begin with module, imports, and a title"


@pytest.mark.parametrize("module", LEAN_FILES)
def test_lean_lines_have_at_most_110_columns(module: str) -> None:
    for number, line in enumerate(LEAN_FILES[module].read_text(encoding="utf-8").splitlines(), 1):
        assert len(line) <= 110, f"{module}, line {number}"
        assert line == line.rstrip(), f"{module}, line {number}"


@pytest.mark.parametrize("module", LEAN_FILES)
def test_lean_files_prove_everything_and_trust_the_kernel_only(module: str) -> None:
    source = bare(LEAN_FILES[module].read_text(encoding="utf-8"))
    words = set(re.findall(r"[\w.]+", source))
    assert not words & set(FORBIDDEN)
    assert not [word for word in words if word.startswith("debug.")]


@pytest.mark.parametrize("word", FORBIDDEN)
def test_a_forbidden_word_is_found_in_code_only(word: str) -> None:
    assert word in re.findall(r"[\w.]+", bare(f"theorem a : P := by {word}"))
    hidden = f'/-- {word} /- {word} -/ {word} -/ def s := "{word} \\" {word}" -- {word}\n'
    assert word not in re.findall(r"[\w.]+", bare(hidden))


def undocumented(source: str) -> Iterator[str]:
    """The definitions without a documentation comment, as ``Namespace.name``.

    Evaluators, which are called ``eval``, and JAX's primitives under their own names need none.
    """
    lines = source.splitlines()
    namespaces: list[str] = []
    for number, line in enumerate(lines):
        if line.startswith("namespace "):
            namespaces.append(line.split()[1])
        elif line.startswith("end ") and namespaces and line.split()[1] == namespaces[-1]:
            namespaces.pop()
        found = _DECLARATION.match(line)
        if found is None or found["kind"] in ("theorem", "instance") or "inherit_doc" in line:
            continue
        documented = lines[number - 1].rstrip().endswith("-/")
        short = found["name"].rpartition(".")[2]
        primitive = namespaces[-1:] == ["Op"] and short in SUPPORTED_PRIMITIVES
        if not documented and short != "eval" and not primitive:
            yield ".".join([*namespaces, found["name"]])


@pytest.mark.parametrize("module", LEAN_FILES)
def test_lean_definitions_are_documented(module: str) -> None:
    assert list(undocumented(LEAN_FILES[module].read_text(encoding="utf-8"))) == []


def test_a_definition_without_documentation_is_found() -> None:
    assert list(undocumented("namespace A\n/-- a -/\ndef a := 1\n\n@[simp] def b := 1\nend A\n")) == ["A.b"]


# -- Python

PYTHON_LAYERS = (
    ("errors",),
    ("dims", "files", "git", "names"),
    ("constraints",),
    ("manifest", "provenance", "sources"),
    ("loading", "program", "scaffold"),
    ("evaluate", "tracing"),
    ("conformance", "importer", "lowering", "scoring"),
    ("frontend",),
    ("lean",),
    ("engine", "olean"),
    ("listing", "meaning"),
    ("audit",),
    ("certificates", "failures", "second_kernel", "workspace"),
    ("reals",),
    ("refute",),
    ("stress",),
    ("report",),
    ("lock",),
    ("changes", "check"),
    ("api", "explain", "formats"),
    ("pytest_plugin",),
    ("commands",),
    ("documentation",),
    ("main",),
)
"""A stage imports only itself and stages in earlier layers."""

STAGES = {name: number for number, layer in enumerate(PYTHON_LAYERS) for name in layer}
PYTHON_FILES = sorted((ROOT / "pipeline" / PACKAGE).rglob("*.py"))


def stage(parts: tuple[str, ...]) -> str:
    return parts[0].removesuffix(".py")


def imports(file: Path) -> Iterator[tuple[str, ...]]:
    """The modules of the package that a file imports, as the parts of their names after the package."""
    package = (PACKAGE, *file.relative_to(ROOT / "pipeline" / PACKAGE).parts[:-1])
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names = [tuple(alias.name.split(".")) for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            above = package[: len(package) - node.level + 1] if node.level else ()
            base = (*above, *(node.module.split(".") if node.module else ()))
            names = [(*base, alias.name) for alias in node.names]
        else:
            continue
        yield from (name[1:] for name in names if name[0] == PACKAGE and len(name) > 1)


def test_every_file_of_the_package_has_a_place() -> None:
    found = {stage(file.relative_to(ROOT / "pipeline" / PACKAGE).parts) for file in PYTHON_FILES}
    assert found - {"__init__"} <= STAGES.keys()


@pytest.mark.parametrize(
    "file", PYTHON_FILES, ids=lambda file: str(file.relative_to(ROOT / "pipeline" / PACKAGE))
)
def test_stages_import_only_upstream(file: Path) -> None:
    own = stage(file.relative_to(ROOT / "pipeline" / PACKAGE).parts)
    for name in imports(file):
        other = stage(name)
        if other in STAGES:
            assert other == own or STAGES[other] < STAGES[own], f"{own} imports {other}"
        else:
            assert other.startswith("__"), f"{own} imports {other}, which has no place"
