"""The command line. Every command is a module of ``maskpool_verify.commands``, imported when it is called."""

from __future__ import annotations

import importlib
import io
import os
import sys
from collections.abc import Mapping
from importlib import metadata

import click
from click.shell_completion import CompletionItem

from maskpool_verify.errors import MaskpoolError

PROGRAM = "maskpool-verify"
INTERRUPTED = 130

COMMANDS: Mapping[str, str] = {
    "init": "Begin a project: a manifest, a sample kernel, its certificates.",
    "trace": "Write the certificates of the kernels in the manifest.",
    "check": "Have Lean check the certificates, and audit the proofs.",
    "stress": "Run the compiled kernels on adversarial inputs.",
    "refute": "Search counterexamples to the properties, without Lean.",
    "explain": "Say what a theorem states, and what its proof rests on.",
    "accept": "Accept what the theorems say now.",
    "setup": "Install the embedded Lean, or repair it.",
    "doctor": "Say what is installed, and what would keep check from running.",
    "completion": "Print a script that completes commands and names in a shell.",
}


class _Commands(click.Group):
    """Imports a command when it is called: JAX takes half a second, which `--help` should not cost."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        command: click.Command = getattr(
            importlib.import_module(f"maskpool_verify.commands.{cmd_name}"), cmd_name
        )
        return command

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """The commands, which need not be imported for that, and the options."""
        commands = [
            CompletionItem(name, help=summary)
            for name, summary in COMMANDS.items()
            if name.startswith(incomplete)
        ]
        return [*commands, *click.Command.shell_complete(self, ctx, incomplete)]

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))


def _version() -> str:
    try:
        return metadata.version(PROGRAM)
    except metadata.PackageNotFoundError:
        return "(not installed)"


@click.group(
    cls=_Commands, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100}
)
@click.version_option(_version(), message="%(prog)s %(version)s", prog_name=PROGRAM)
def cli() -> None:
    """Prove that JAX attention pooling kernels ignore padding, order and masked rows.

    \b
    After a change of a kernel:
      maskpool-verify trace
      maskpool-verify check

    \b
    Exit codes: 0 everything is verified; 1 something is refuted, unproved, unsupported or stale, or
    the audit failed; 2 bad usage or manifest; 3 the environment (engine, download, disk); 130 Ctrl-C.
    """


def main() -> None:
    """Run the command line; errors become one sentence on stderr and an exit code."""
    sys.stdout = sys.stdout or open(os.devnull, "w")  # noqa: SIM115  # closed by the caller, as in `>&-`
    sys.stderr = sys.stderr or sys.stdout
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # a terminal without Unicode shows ? for ∀
    try:
        status = cli.main(prog_name=PROGRAM, standalone_mode=False)
    except MaskpoolError as error:
        click.echo(f"{PROGRAM}: {error}", err=True)
        sys.exit(error.exit_code)
    except click.ClickException as error:
        error.show()
        sys.exit(2)
    except (click.Abort, KeyboardInterrupt):
        click.echo(f"{PROGRAM}: interrupted; no file is left half-written.", err=True)
        sys.exit(INTERRUPTED)
    sys.exit(status if isinstance(status, int) else 0)


if __name__ == "__main__":
    main()
