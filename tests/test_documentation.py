"""README.md and docs/: the outputs shown are those of the tool, and links lead somewhere."""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from documentation import REPOSITORY, Outputs, pages, refreshed
from documentation.commands import reference
from maskpool_verify.audit import AuditResult
from maskpool_verify.main import COMMANDS
from maskpool_verify.second_kernel.abi import UnavailableError, locate

PAGES = sorted(page.relative_to(REPOSITORY).as_posix() for page in pages())


@pytest.fixture(scope="module")
def outputs(
    built_project: Path, audited_idioms: AuditResult, tmp_path_factory: pytest.TempPathFactory
) -> Mapping[str, Callable[[], str]]:
    try:
        locate()
    except UnavailableError as error:
        pytest.skip(f"the pages show a run with the second kernel: {error}")
    project = shutil.copytree(built_project, tmp_path_factory.mktemp("docs") / "project")
    return Outputs(project, audited_idioms).get()


@pytest.mark.parametrize("page", PAGES)
def test_shown_outputs_are_fresh(page: str, outputs: Mapping[str, Callable[[], str]]) -> None:
    text = (REPOSITORY / page).read_text("utf-8")
    assert refreshed(text, outputs) == text, "run `make docs`"


def test_the_reference_of_the_commands_is_fresh() -> None:
    text = (REPOSITORY / "docs" / "cli.md").read_text("utf-8")
    assert refreshed(text, {"commands": reference}) == text, "run `make docs`"
    assert [line[4:] for line in text.splitlines() if line.startswith("### ")] == list(COMMANDS)


@pytest.mark.parametrize("page", PAGES)
def test_links_lead_to_files_and_headings(page: str) -> None:
    text = (REPOSITORY / page).read_text("utf-8")
    for target in re.findall(r"\]\(([^)#\s]*)(?:#[^)\s]*)?\)", text):
        if target and "://" not in target:
            assert ((REPOSITORY / page).parent / target).exists(), target


def test_a_changed_output_is_noticed() -> None:
    text = "a\n<!-- generated: x -->\nold\n<!-- end -->\nb\n"
    assert refreshed(text, {"x": lambda: "new\n"}) == "a\n<!-- generated: x -->\nnew\n<!-- end -->\nb\n"


def test_an_unknown_output_is_an_error() -> None:
    with pytest.raises(KeyError):
        refreshed("<!-- generated: y -->\n<!-- end -->", {})


def test_the_dependency_table_names_every_dependency() -> None:
    project = (REPOSITORY / "pyproject.toml").read_text("utf-8")
    lists = re.findall(r"^(?:dependencies|dev) = \[(.*?)\]$", project, re.DOTALL | re.MULTILINE)
    names = set(re.findall(r'"([A-Za-z0-9-]+)', "".join(lists)))
    table = (
        (REPOSITORY / "README.md").read_text("utf-8").partition("## Dependencies")[2].partition("\n## ")[0]
    )
    assert names <= set(re.findall(r"[A-Za-z0-9-]+", table))
