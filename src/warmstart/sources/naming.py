"""Ids of sessions that have no other name than their file's.

Many programs call every file the same and put each into a folder of its own (``tasks/17/
api_conversation_history.json``). So a file's name is an id only if it looks like one; any other
gets the folders above it, up to one that says something. What must stay true: an id depends on the
path alone, so that it is the same whatever else is read with it.
"""

from __future__ import annotations

import hashlib
import os
import re
from itertools import islice
from pathlib import Path
from typing import Any

from warmstart.sources.records import file_stem
from warmstart.wire import encode_text

MAX_FOLDERS = 3
TRAJECTORY_SUFFIXES = (".gz", ".zst", ".json", ".jsonl", ".traj")
_ID = re.compile(
    r"[0-9a-f]{8}-[0-9a-f]{4}-|[0-9a-f]{16,}|\d{10,}"  # uuids, hashes, moments
    r"|\d{4}-?\d\d-?\d\d[T_ -]?\d\d[:.h_-]?\d\d"  # dates with a time
    r"|(?<![A-Za-z0-9])(?=[A-Za-z]*\d)(?=\d*[A-Za-z])[A-Za-z0-9]{20,}",  # ids without dashes
    re.IGNORECASE,
)
_COMMON = frozenset(
    {
        "", "attempt", "chat", "conversation", "data", "epoch", "eval", "history", "instance",
        "log", "message", "output", "result", "rollout", "run", "sample", "session", "step",
        "task", "test", "trace", "traj", "trajectorie", "trajectory", "transcript", "trial",
    }
)  # fmt: skip
"""Words, without a plural's s, that name thousands of folders."""
_NUMBERS = re.compile(r"[\d\W_]+")


def name_file(path: Path) -> str:
    """An id for the session in a file, or the first part of the ids of those in it."""
    parts = [file_stem(path.name)]
    for folder in islice(Path(os.path.abspath(path)).parents, MAX_FOLDERS):  # noqa: PTH100
        if looks_like_id(parts[-1]) or (len(parts) > 1 and not _is_common(parts[-1])):
            break
        if folder.name:
            parts.append(folder.name)
    return "/".join(reversed(parts))


def name_record(path: Path, own: str | None, number: int) -> str:
    """An id for one record of a file: its own, unless that is a mere number, or its place."""
    if own is None:
        return f"{name_file(path)}:{number}"
    return f"{name_file(path)}:{own}" if own.isdecimal() else own


def name_run(name: str, first: Any) -> str:
    """The name of a task and a mark of its first step: a task is run many times under one name."""
    mark = hashlib.sha256(encode_text(first).encode("utf-8", "replace")).hexdigest()[:8]
    return f"{name}-{mark}"


def strip_suffixes(path: Path) -> str:
    """A trajectory file's name without its suffixes."""
    name = path.name
    while name.endswith(TRAJECTORY_SUFFIXES) and "." in name[1:]:
        name = name.rpartition(".")[0]
    return name


def looks_like_id(name: str) -> bool:
    """Whether no second file would have this name."""
    return _ID.search(name) is not None


def _is_common(name: str) -> bool:
    return _NUMBERS.sub("", name).lower().removesuffix("s") in _COMMON
