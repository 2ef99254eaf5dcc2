"""One writer a folder: who writes to it keeps the others out, and is named to them."""

import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

try:
    import fcntl
except ImportError:  # not on Windows, where nobody is kept out
    fcntl = None  # type: ignore[assignment]

LOCK = "lock"
"""The file that is locked, with who holds it. The system lets go of it when a process ends, in
whatever way, so one that was killed keeps nobody out."""


@contextmanager
def hold(folder: Path) -> Iterator[None]:
    """Keeps other processes from writing to a folder, up to the end of the ``with`` block.

    Where the file system has no locks, nobody is kept out.

    Args:
        folder: It must be there.

    Raises:
        ValueError: Another process writes to it; the message names it.
        OSError: The folder cannot be written to.
    """
    path = folder / LOCK
    handle = _locked(path)
    try:
        os.truncate(handle, 0)
        os.write(handle, f"process {os.getpid()} on {socket.gethostname()}\n".encode())
        yield
    finally:
        path.unlink(missing_ok=True)
        os.close(handle)


def _locked(path: Path) -> int:
    """The file, opened and locked."""
    while True:
        handle = os.open(path, os.O_RDWR | os.O_CREAT, 0o644)
        try:
            if fcntl is not None:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if os.path.exists(path) and os.path.samestat(os.fstat(handle), os.stat(path)):
                return handle
        except BlockingIOError:
            holder = os.read(handle, 200).decode(errors="replace").strip() or "another process"
            os.close(handle)
            raise ValueError(
                f"{path.parent} is being written to by {holder}; wait for its end, or choose "
                "another folder"
            ) from None
        except OSError:  # no locks here
            return handle
        os.close(handle)  # whoever had it took the file away meanwhile
