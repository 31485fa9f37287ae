"""``python -m documentation``: fill the generated places of README.md and docs/."""

from __future__ import annotations

import tempfile
from pathlib import Path

from documentation import REPOSITORY, Outputs, copy_project, pages, refreshed
from maskpool_verify.files import write_whole


def main() -> None:
    """Rewrite the pages whose outputs have changed."""
    with tempfile.TemporaryDirectory() as folder:
        outputs = Outputs(copy_project(Path(folder) / "project")).get()
        for page in pages():
            text = page.read_text("utf-8")
            new = refreshed(text, outputs)
            if new != text:
                write_whole(page, new.encode())
                print(page.relative_to(REPOSITORY))


if __name__ == "__main__":
    main()
