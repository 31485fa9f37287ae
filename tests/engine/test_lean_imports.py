"""The import header, by Lean's grammar (Lean.Parser.Module), and the order of building."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from maskpool_verify.engine.modules import imported_modules, read_sources
from maskpool_verify.errors import MaskpoolError

names = st.lists(st.sampled_from(["A", "Pool", "Mé", "x'", "α₁", "imports", "all"]), min_size=1, max_size=3)
comments = st.recursive(
    st.sampled_from([" import Hidden ", "-", " -- ", "\n", "/ ", "--"]),
    lambda inner: st.builds("/- {} -/".format, inner),
    max_leaves=3,
)
blanks = st.one_of(
    st.sampled_from([" ", "\n", "\r\n", " -- import Hidden\n", " -- /-\n", "\n-- -/\n"]),
    st.builds(" /- {} -/ ".format, comments),
)


@st.composite
def headers(draw: st.DrawFn) -> tuple[str, list[str]]:
    """A header and the modules it names. `all` is a keyword after `import`: escape it there."""
    words: list[str] = []
    expected: dict[str, None] = {}
    words += ["module"] * draw(st.booleans()) + ["prelude"] * draw(st.booleans())
    for _ in range(draw(st.integers(0, 4))):
        words += ["public"] * draw(st.booleans()) + ["meta"] * draw(st.booleans())
        words += ["import"] + ["all"] * draw(st.booleans())
        name = draw(names)
        expected[".".join(name)] = None
        words.append(".".join("«all»" if part == "all" else part for part in name))
    text = "".join(draw(blanks) + word + draw(blanks) for word in words)
    return text, list(expected)


@given(
    headers(),
    st.sampled_from(
        ["", "theorem t : True := trivial", "public section\nimport Late", "/-! x -/ import Late"]
    ),
)
def test_header_names_its_imports_and_nothing_else(header: tuple[str, list[str]], body: str) -> None:
    text, expected = header
    assert list(imported_modules(text + "\n" + body)) == expected


@given(st.text())
def test_any_text_is_read_to_an_end(text: str) -> None:
    imported_modules("import A\n" + text)


@pytest.mark.parametrize(
    "source", ["importA", "module.import A", "/- import A", "moduleimport A", "import 1"]
)
def test_no_import(source: str) -> None:
    assert imported_modules(source) == ()


def _project(directory: Path, imports: dict[str, str]) -> Path:
    for module, text in imports.items():
        file = directory / (module.replace(".", "/") + ".lean")
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("module\n" + "".join(f"import {name}\n" for name in text.split()))
    return directory


@given(st.lists(st.sets(st.integers(0, 9)), min_size=1, max_size=8), st.randoms())
def test_imports_come_before_importers(
    tmp_path_factory: pytest.TempPathFactory, graph: list[set[int]], random
) -> None:
    labels = random.sample("ABCDEFGH", len(graph))
    imports = {labels[i]: " ".join(labels[j] for j in edges if j < i) for i, edges in enumerate(graph)}
    order = list(read_sources(_project(tmp_path_factory.mktemp("p"), imports), labels, ()))
    assert sorted(order) == sorted(labels)
    assert all(
        order.index(name) < order.index(module) for module, text in imports.items() for name in text.split()
    )


@pytest.mark.parametrize("imports", [{"A": "A"}, {"A": "B", "B": "C", "C": "B"}])
def test_cycle(tmp_path: Path, imports: dict[str, str]) -> None:
    with pytest.raises(
        MaskpoolError, match=r"^Import cycle: (A imports A|B imports C imports B|C imports B imports C);"
    ):
        read_sources(_project(tmp_path, imports), ["A"], ())


@pytest.mark.parametrize(
    ("module", "what"),
    [
        ("Absent", "no source"),
        ("../A", "not a module name"),
        ("Init.A", "Lean's own"),
        ("Latin", "UTF-8 at byte 3"),
    ],
)
def test_refused_modules(tmp_path: Path, module: str, what: str) -> None:
    _project(tmp_path, {"A": "", "Init.A": ""})
    (tmp_path / "Latin.lean").write_bytes(b"-- \xe9")
    with pytest.raises(MaskpoolError, match=what):
        read_sources(tmp_path, [module], {"Init"})


def test_only_project_modules_are_followed(tmp_path: Path) -> None:
    _project(tmp_path, {"A": "Init.A B Std.Data Nowhere", "B": "", "Init.A": ""})
    assert list(read_sources(tmp_path, ["A"], {"Init"})) == ["B", "A"]
