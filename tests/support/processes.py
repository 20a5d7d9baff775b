"""Looking for processes that were left behind."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

PROC = Path("/proc")
LOOKS = 1000
PAUSE_SECONDS = 0.02
needs_proc = pytest.mark.skipif(
    not (PROC / "self/environ").exists(), reason="processes are looked for in /proc"
)


def list_marked(marker: str) -> dict[int, str]:
    """Processes that were started with the marker in their variables, with their words."""
    found: dict[int, str] = {}
    for folder in PROC.glob("[0-9]*"):
        try:
            environ = (folder / "environ").read_bytes()
            words = (folder / "cmdline").read_bytes().replace(b"\0", b" ").decode()
        except OSError:  # it has ended, or is somebody else's
            continue
        if marker.encode() in environ and words:  # a dead one has no words
            found[int(folder.name)] = words
    return found


def wait_for(marker: str, word: str, count: int = 1) -> bool:
    """Whether so many marked processes with that word come to run."""
    for _ in range(LOOKS):
        if sum(word in words for words in list_marked(marker).values()) >= count:
            return True
        time.sleep(PAUSE_SECONDS)
    return False


def list_left(marker: str) -> dict[int, str]:
    """Marked processes that do not end by themselves."""
    for _ in range(LOOKS):
        if not list_marked(marker):
            break
        time.sleep(PAUSE_SECONDS)
    return list_marked(marker)
