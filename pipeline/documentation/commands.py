"""The reference of ``docs/cli.md``, made of the commands themselves."""

from __future__ import annotations

import inspect
from collections.abc import Iterator

import click

from maskpool_verify.main import COMMANDS, PROGRAM, cli


def reference() -> str:
    """A section for each command: usage, description, options, examples."""
    top = cli.make_context(PROGRAM, [], resilient_parsing=True)
    lines: list[str] = []
    for name in COMMANDS:
        command = cli.get_command(top, name)
        if command is None:
            raise KeyError(name)
        lines += _section(command, click.Context(command, info_name=name, parent=top))
    return "\n".join(lines) + "\n"


def _section(command: click.Command, context: click.Context) -> Iterator[str]:
    usage = " ".join(command.collect_usage_pieces(context))
    text, _, examples = inspect.cleandoc(command.help or "").rpartition("\b\n")
    yield from (f"### {command.name}", "", "```", f"{context.command_path} {usage}", "```", "")
    yield from (text.strip(), "", "| option | |", "|---|---|")
    for parameter in command.get_params(context):
        record = parameter.get_help_record(context)
        if record is not None and isinstance(parameter, click.Option):
            option, meaning = (part.replace("|", "\\|") for part in record)
            yield f"| `{option}` | {meaning} |"
    shown = [line.removeprefix("  ") for line in examples.splitlines()[1:]]
    yield from ("", "```sh", *shown, "```", "")
