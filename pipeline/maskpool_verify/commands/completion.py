"""``maskpool-verify completion``"""

from __future__ import annotations

import click
from click.shell_completion import get_completion_class

from maskpool_verify.commands.common import write_out

SHELLS = ("bash", "zsh", "fish")
VARIABLE = "_MASKPOOL_VERIFY_COMPLETE"


@click.command()
@click.argument("shell", type=click.Choice(SHELLS))
def completion(shell: str) -> int:
    """Print a script that completes commands, options and names of kernels and theorems in a shell.

    \b
    Examples:
      eval "$(maskpool-verify completion bash)"     # in ~/.bashrc; with zsh, in ~/.zshrc
      maskpool-verify completion fish > ~/.config/fish/completions/maskpool-verify.fish
    """
    root = click.get_current_context().find_root()
    kind = get_completion_class(shell)
    assert kind is not None  # click has all of SHELLS
    script = kind(root.command, {}, root.info_name or "", VARIABLE)
    write_out(kind.source_template % script.source_vars() + "\n")
    return 0
