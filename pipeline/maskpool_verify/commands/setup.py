"""``maskpool-verify setup``"""

from __future__ import annotations

import click

from maskpool_verify.commands.common import quiet_option, write_out
from maskpool_verify.commands.install import install_engine


@click.command()
@quiet_option
def setup(quiet: bool) -> int:
    """Install the embedded Lean into the cache, or repair it.

    Every file is compared with its recorded checksum, and an interrupted download is taken up again. The
    cache is $MASKPOOL_CACHE, else $XDG_CACHE_HOME/maskpool-verify, else ~/.cache/maskpool-verify.

    \b
    Example:
      MASKPOOL_CACHE=/scratch/maskpool maskpool-verify setup
    """
    directory = install_engine(quiet, repair=True)
    if not quiet:
        write_out(f"The embedded Lean is in {directory}.\n")
    return 0
