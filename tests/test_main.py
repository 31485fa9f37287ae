"""The command line as a whole: help, exit codes, and what becomes of errors."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import click
import pytest

from maskpool_verify import errors, main

ROOT = Path(__file__).parent.parent


def status(monkeypatch: pytest.MonkeyPatch, *arguments: str) -> int:
    monkeypatch.setattr(sys, "argv", ["maskpool-verify", *arguments])
    with pytest.raises(SystemExit) as ended:
        main.main()
    assert isinstance(ended.value.code, int)
    return ended.value.code


@pytest.fixture
def command(monkeypatch: pytest.MonkeyPatch):
    """Make every command do the same."""

    def prepare(action) -> None:
        fake = click.Command("check", callback=action)
        monkeypatch.setattr(main.cli, "get_command", lambda *_: fake)

    return prepare


def test_help_lists_every_command_with_what_it_does(monkeypatch, capsys):
    assert status(monkeypatch, "--help") == 0
    out = capsys.readouterr().out
    for name, summary in main.COMMANDS.items():
        assert f"  {name}" in out
        assert summary in out
    assert all(len(line) <= 100 for line in out.splitlines())


@pytest.mark.parametrize("name", main.COMMANDS)
def test_help_of_a_command_has_an_example(name: str, monkeypatch, capsys):
    assert status(monkeypatch, name, "--help") == 0
    out = capsys.readouterr().out
    _, example = out.split("Example")
    assert f"maskpool-verify {name}" in example
    assert all(len(line) <= 100 for line in out.splitlines())


def test_help_does_not_wait_for_jax():
    code = (
        "import sys; from maskpool_verify.main import cli; cli.main(['--help'], standalone_mode=False); "
        "sys.exit(any(name in sys.modules for name in ('jax', 'numpy', 'pydantic')))"
    )
    ended = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT / "pipeline", capture_output=True, timeout=60, check=False
    )
    assert ended.returncode == 0, ended.stderr


def test_version(monkeypatch, capsys):
    assert status(monkeypatch, "--version") == 0
    assert capsys.readouterr().out.startswith("maskpool-verify ")


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["chekc"], "No such command 'chekc'"),
        (["check", "--kernal", "x"], "--kernel"),
        (["check", "--engine", "coq"], "'coq' is not one of"),
        (["trace", "surplus"], "unexpected extra argument"),
    ],
)
def test_bad_usage(arguments: list[str], says: str, monkeypatch, capsys):
    assert status(monkeypatch, *arguments) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert says in captured.err


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (errors.UsageError, 2),
        (errors.ManifestError, 2),
        (errors.TraceError, 1),
        (errors.UnsupportedError, 1),
        (errors.StaleError, 1),
        (errors.AuditError, 1),
        (errors.EnvironmentFault, 3),
    ],
)
def test_an_error_is_one_sentence(error: type[errors.MaskpoolError], code: int, command, monkeypatch, capsys):
    def fail() -> None:
        raise error("This and that is wrong; do something.")

    command(fail)
    assert status(monkeypatch, "check") == code
    assert capsys.readouterr().err == "maskpool-verify: This and that is wrong; do something.\n"


def test_interrupted(command, monkeypatch, capsys):
    def interrupt() -> None:
        raise KeyboardInterrupt

    command(interrupt)
    assert status(monkeypatch, "check") == 130
    assert capsys.readouterr().err.strip() == "maskpool-verify: interrupted; no file is left half-written."


def test_a_defect_of_this_program_is_not_hidden(command, monkeypatch):
    command(lambda: 1 // 0)
    monkeypatch.setattr(sys, "argv", ["maskpool-verify", "check"])
    with pytest.raises(ZeroDivisionError):
        main.main()


def test_streams_that_are_closed():
    ended = subprocess.run(
        ["sh", "-c", f"{sys.executable} -m maskpool_verify.main --version >&- 2>&-"],
        cwd=ROOT / "pipeline",
        timeout=60,
        check=False,
    )
    assert ended.returncode == 0
