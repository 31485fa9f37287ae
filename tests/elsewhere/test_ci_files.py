"""The GitHub action, the workflow of ``init``, and the hooks of pre-commit: by their schemas, and run."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from environments import ROOT
from ruamel.yaml import YAML

from maskpool_verify import scaffold
from maskpool_verify.main import COMMANDS


def complaints(schema: str, file: Path) -> str:
    """What the schema that GitHub's editors use, as shipped with check-jsonschema, says about a file."""
    command = [sys.executable, "-m", "check_jsonschema", "--builtin-schema", f"vendor.{schema}", str(file)]
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    return "" if ended.returncode == 0 else ended.stdout + ended.stderr


def load(file: Path) -> Any:
    return YAML(typ="safe").load(file)


@pytest.fixture
def workflow(tmp_path: Path) -> Path:
    file = tmp_path / "workflow.yml"
    file.write_text(scaffold.workflow("1.2.3"), "utf-8")
    return file


def test_the_files_have_their_schemas(workflow: Path, tmp_path: Path) -> None:
    assert complaints("github-actions", ROOT / "action.yml") == ""
    assert complaints("github-workflows", workflow) == ""
    broken = tmp_path / "action.yml"
    broken.write_text((ROOT / "action.yml").read_text("utf-8").replace("using: composite", "using: composed"))
    assert "composed" in complaints("github-actions", broken)


def test_pre_commit_takes_the_hooks() -> None:
    hooks = ROOT / ".pre-commit-hooks.yaml"
    command = [sys.executable, "-m", "pre_commit", "validate-manifest", str(hooks)]
    assert subprocess.run(command, capture_output=True, check=False).returncode == 0
    for hook in load(hooks):
        program, name, *_ = hook["entry"].split()
        assert program == "maskpool-verify"
        assert name in COMMANDS


def test_the_workflow_installs_the_version_that_wrote_it(workflow: Path) -> None:
    steps = load(workflow)["jobs"]["check"]["steps"]
    installs = [step["run"] for step in steps if "pip install" in step.get("run", "")]
    assert installs == ['python -m pip install "maskpool-verify[second-kernel]==1.2.3"']
    (cached,) = [step["with"] for step in steps if "cache" in step.get("uses", "")]
    assert cached["key"] == "maskpool-1.2.3-${{ runner.os }}-${{ hashFiles('certificates/**') }}"
    assert cached["key"].startswith(cached["restore-keys"])


def test_inputs_reach_scripts_by_the_environment_only() -> None:
    """Text in ``${{ }}`` would be code of the script."""
    for step in load(ROOT / "action.yml")["runs"]["steps"]:
        assert "${{" not in step.get("run", "")


# -- the script of the action


@pytest.fixture
def act(tmp_path: Path) -> Callable[..., tuple[int, str, dict[str, str], str]]:
    """Run the step that checks; gives exit code, what it printed, its outputs, and the summary of the job."""
    steps = load(ROOT / "action.yml")["runs"]["steps"]
    (script,) = [step["run"] for step in steps if step.get("id") == "check"]
    programs = tmp_path / "bin"
    programs.mkdir()
    (programs / "python").symlink_to(sys.executable)
    program = programs / "maskpool-verify"
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m maskpool_verify.main "$@"\n')
    program.chmod(0o755)

    def run(project: Path, arguments: str = "") -> tuple[int, str, dict[str, str], str]:
        files = {name: tmp_path / name for name in ("GITHUB_OUTPUT", "GITHUB_STEP_SUMMARY")}
        for file in files.values():
            file.touch()
        environment = os.environ | {name: str(file) for name, file in files.items()}
        environment |= {
            "ARGUMENTS": arguments,
            "REPORTS": str(tmp_path / "the reports"),
            "PATH": f"{programs}{os.pathsep}{os.environ['PATH']}",
            "PYTHONPATH": str(ROOT / "pipeline"),
        }
        ended = subprocess.run(
            ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", script],
            cwd=project,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )
        outputs = dict(line.split("=", 1) for line in files["GITHUB_OUTPUT"].read_text().splitlines())
        return ended.returncode, ended.stdout, outputs, files["GITHUB_STEP_SUMMARY"].read_text("utf-8")

    return run


def test_a_changed_kernel_is_annotated_and_summarized(
    act: Callable[..., tuple[int, str, dict[str, str], str]], project: Path, tmp_path: Path
) -> None:
    kernel = project / "kernels" / "masked_attention_pool.py"
    text = kernel.read_text("utf-8")
    kernel.write_text(text.replace("nonempty = normalizer > 0", "nonempty = normalizer > 1"), "utf-8")
    line = text[: text.index("nonempty =")].count("\n") + 1
    status, printed, outputs, summary = act(project, "--second-kernel off --kernel masked_attention_pool")
    assert status == 1
    assert f"::error file=kernels/masked_attention_pool.py,line={line}," in printed
    assert outputs == {"reports": str(tmp_path / "the reports"), "verdict": "stale"}
    assert "masked_attention_pool" in summary
    kept = {file.name for file in (tmp_path / "the reports").iterdir()}
    assert kept == {"log.txt", "report.html", "report.json", "report.md"}
    assert json.loads((tmp_path / "the reports" / "report.json").read_text("utf-8"))["verdict"] == "stale"


def test_a_check_that_cannot_be_done_is_annotated(
    act: Callable[..., tuple[int, str, dict[str, str], str]], project: Path
) -> None:
    shutil.move(project / "maskpool.toml", project / "100%.toml")
    status, printed, outputs, summary = act(project)
    assert status == 2
    assert printed.splitlines()[-1] == (
        "::error title=maskpool-verify::maskpool-verify: There is no manifest maskpool.toml; "
        "create it or name another one."
    )
    assert "verdict" not in outputs
    assert summary == ""
