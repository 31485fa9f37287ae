"""The command line. Every command is a module of ``maskpool_verify.commands``; this one only wires them."""

from __future__ import annotations

import sys

import click

from maskpool_verify.commands.check import check
from maskpool_verify.commands.doctor import doctor
from maskpool_verify.commands.setup import setup
from maskpool_verify.commands.trace import trace
from maskpool_verify.errors import MaskpoolError

INTERRUPTED = 130


@click.group(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(package_name="maskpool-verify", message="%(prog)s %(version)s")
def cli() -> None:
    """Prove that JAX attention pooling kernels ignore padding, order and masked rows.

    \b
    maskpool-verify trace    write the certificates of the kernels in maskpool.toml
    maskpool-verify check    have Lean check them, and audit what the proofs rest on

    \b
    Exit codes: 0 everything is verified; 1 something is refuted, unproved, unsupported or stale, or
    the audit failed; 2 bad usage or manifest; 3 the environment (engine, download, disk); 130 Ctrl-C.
    """


for command in (trace, check, setup, doctor):
    cli.add_command(command)


def main() -> None:
    """Run the command line; errors become one sentence on stderr and an exit code."""
    try:
        status = cli.main(standalone_mode=False)
    except MaskpoolError as error:
        click.echo(f"maskpool-verify: {error}", err=True)
        sys.exit(error.exit_code)
    except click.ClickException as error:
        error.show()
        sys.exit(2)
    except (click.Abort, KeyboardInterrupt):
        click.echo("maskpool-verify: interrupted; nothing is left half-written.", err=True)
        sys.exit(INTERRUPTED)
    sys.exit(status if isinstance(status, int) else 0)


if __name__ == "__main__":
    main()
