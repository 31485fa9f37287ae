"""``maskpool-verify setup``"""

from __future__ import annotations

import click

from maskpool_verify.commands.common import install_engine, quiet_option


@click.command()
@quiet_option
def setup(quiet: bool) -> int:
    """Install the embedded Lean into the cache, or repair it.

    Every file is compared with its recorded checksum. The cache is $MASKPOOL_CACHE, else
    $XDG_CACHE_HOME/maskpool-verify, else ~/.cache/maskpool-verify.
    """
    directory = install_engine(quiet, repair=True)
    if not quiet:
        click.echo(f"The embedded Lean is in {directory}.")
    return 0
