"""Files that several processes share: whole or absent, one writer at a time."""

from __future__ import annotations

import errno
import fcntl
import os
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from maskpool_verify.errors import EnvironmentFault


def write_whole(path: Path, content: bytes) -> None:
    """Write a file under a temporary name and rename it, so that no reader ever sees a part of it."""
    descriptor, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    temporary = Path(name)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(content)
        temporary.replace(path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def secret(path: Path) -> bytes:
    """The random bytes in a file that only its owner can read, made if absent; the same for all processes."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with exclusive(path.with_name(f"{path.name}.lock")):
        if not path.exists():
            write_whole(path, os.urandom(32))  # mkstemp gives it the mode 0600
        return path.read_bytes()


@contextmanager
def exclusive(lock: Path, on_wait: Callable[[], None] = lambda: None) -> Iterator[None]:
    """Hold a lock file. The kernel releases it when the process ends, however it ends.

    Args:
        lock: the file, made if absent and never removed.
        on_wait: called once, before waiting for another process that holds the lock.
    """
    lock.parent.mkdir(parents=True, exist_ok=True)
    with lock.open("a") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            on_wait()
            fcntl.flock(file, fcntl.LOCK_EX)
        yield


@contextmanager
def disk_faults(action: str, directory: Path) -> Iterator[None]:
    """Turn an :class:`OSError` into an :class:`EnvironmentFault` that says what to do.

    Args:
        action: what is being done, as in ``"install Lean in"``; ``directory`` completes the phrase.
    """
    try:
        yield
    except OSError as error:
        raise EnvironmentFault(f"Cannot {action} {directory}: {_remedy(error)}.") from error


def _remedy(error: OSError) -> str:
    match error.errno:
        case errno.ENOSPC | errno.EDQUOT:
            return "the disk is full; free some space and try again"
        case errno.EACCES | errno.EPERM | errno.EROFS:
            where = error.filename or "it"
            return f"no permission for {where}; change its permissions or choose another directory"
        case _:
            where = f" ({error.filename})" if error.filename else ""
            return f"{error.strerror or error}{where}"
