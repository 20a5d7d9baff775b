"""Writing a file whole or not at all: into a private file beside it, which then takes its place.

Whoever reads the path sees the old content or the new, never a part; killed half-way, a hidden file
with the prefix is all that is left behind.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

PREFIX = ".warmstart-"
PRIVATE_MODE = 0o600


def write_whole(
    path: Path, chunks: Iterable[bytes], *, mode: int = PRIVATE_MODE, prefix: str = PREFIX
) -> None:
    """Replace what is at ``path``; its folder must be there.

    Raises:
        OSError: the disk is full or the folder may not be written; ``path`` is as it was.
    """
    import tempfile  # noqa: PLC0415 - whoever only reads needs none

    handle, name = tempfile.mkstemp(dir=path.parent, prefix=prefix)
    temporary = Path(name)
    try:
        with os.fdopen(handle, "wb") as file:
            for chunk in chunks:
                file.write(chunk)
            file.flush()
            os.fsync(file.fileno())
        if mode != PRIVATE_MODE:
            temporary.chmod(mode)
        temporary.replace(path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
