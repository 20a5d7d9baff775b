"""Who holds an SQLite file's write lock, as far as Linux tells.

Best effort and only ever used to word an error: wherever ``/proc/locks`` does not exist, or names
nobody we can see, the answer is None.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

LOCKS = Path("/proc/locks")
WAL_WRITE_LOCK_BYTE = 120
"""Where in the ``-shm`` file SQLite's WAL mode puts the lock of the one writer."""


def find_writer(database: Path) -> str | None:
    """``process 4711 (name)`` for the process that is writing the database now."""
    try:
        inode = database.with_name(database.name + "-shm").stat().st_ino
        lines = LOCKS.read_text().splitlines()
    except OSError:
        return None
    return next((_name(pid) for pid in _writers(lines, inode)), None)


def _writers(lines: list[str], inode: int) -> Iterator[int]:
    for line in lines:
        words = line.split()
        if len(words) < 8 or "WRITE" not in words or not words[-3].endswith(f":{inode}"):
            continue
        start, end = words[-2], words[-1]
        last = WAL_WRITE_LOCK_BYTE if end == "EOF" else int(end)
        if int(start) <= WAL_WRITE_LOCK_BYTE <= last:
            yield int(words[-4])


def _name(pid: int) -> str:
    if pid == os.getpid():
        return f"process {pid} (this one, through another connection)"
    try:
        return f"process {pid} ({Path(f'/proc/{pid}/comm').read_text().strip()})"
    except OSError:
        return f"process {pid}"
