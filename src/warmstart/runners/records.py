"""``trials.jsonl``: every finished trial on one line, exactly once.

Lines are appended under a lock and reach the disk before the next trial is counted. A line that a
kill cut short is dropped when the file is opened again, and its trial is run again or taken from
the store; a line that says what another said already is passed over.
"""

from __future__ import annotations

import json
import os
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import NamedTuple, Self

from warmstart.errors import UsageError
from warmstart.experiment.trial import Trial
from warmstart.runners.sessions import format_trial, parse_trial

TRIALS_FILE = "trials.jsonl"
LOCK_FILE = "run.lock"
PRIVATE = 0o600
FLAGS = os.O_RDWR | os.O_CREAT | os.O_APPEND | getattr(os, "O_BINARY", 0)


class Record(NamedTuple):
    """A trial, and the hash of the plan it was run under."""

    trial: Trial
    plan: str


class RunLock:
    """One run at a time per experiment; the lock is gone when its process is, however it ended.

    SQLite's own lock on an empty file: it works on every system and needs nothing cleaned up.
    """

    def __init__(self, folder: Path) -> None:
        self._path = folder / LOCK_FILE
        self._connection: sqlite3.Connection | None = None

    def __enter__(self) -> Self:
        os.close(os.open(self._path, os.O_RDWR | os.O_CREAT, PRIVATE))
        connection = sqlite3.connect(self._path, timeout=0, isolation_level=None)
        try:
            connection.execute("BEGIN EXCLUSIVE")
        except sqlite3.Error as error:
            connection.close()
            raise UsageError(
                "this experiment is being run by another process",
                hint="wait for it, or look at it: warmstart experiment status",
            ) from error
        self._connection = connection
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._connection is not None:
            self._connection.close()


class TrialFile:
    """The file of an experiment's trials, open for adding; hold the lock while it is."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / TRIALS_FILE
        existed = self.path.exists()
        self._handle = os.open(self.path, FLAGS, PRIVATE)
        self._mend()
        self._keys = {record.trial.key for record in read_trials(folder)}
        if not existed:
            _sync_folder(folder)

    def __contains__(self, key: object) -> bool:
        return key in self._keys

    def __len__(self) -> int:
        return len(self._keys)

    def add(self, trial: Trial, plan: str) -> bool:
        """Append a trial and wait until it is on the disk; False if it was there already."""
        if trial.key in self._keys:
            return False
        line = json.dumps(format_trial(trial, plan), ensure_ascii=True) + "\n"
        data = line.encode()
        while data:
            data = data[os.write(self._handle, data) :]
        os.fsync(self._handle)
        self._keys.add(trial.key)
        return True

    def close(self) -> None:
        """Let go of the file."""
        os.close(self._handle)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def _mend(self) -> None:
        """Cut off a last line that was not finished."""
        data = self.path.read_bytes()
        whole = data.rfind(b"\n") + 1
        if whole != len(data):
            os.ftruncate(self._handle, whole)
            os.fsync(self._handle)


def read_trials(folder: Path) -> list[Record]:
    """The trials of an experiment in the order they were recorded, each once."""
    found: dict[tuple[str, str, int], Record] = {}
    for record in _read_lines(folder / TRIALS_FILE):
        found.setdefault(record.trial.key, record)
    return list(found.values())


def count_unreadable(folder: Path) -> int:
    """Whole lines of the file that are no trials; a report says how many."""
    path = folder / TRIALS_FILE
    if not path.exists():
        return 0
    lines = [line for line in path.read_bytes().split(b"\n")[:-1] if line.strip()]
    return len(lines) - sum(1 for _ in _read_lines(path))


def _read_lines(path: Path) -> Iterator[Record]:
    if not path.exists():
        return
    # The part behind the last line break is a line being written, or one that never was.
    for line in path.read_bytes().split(b"\n")[:-1]:
        try:
            data = json.loads(line)
        except ValueError:
            continue
        trial = parse_trial(data)
        if trial is not None:
            yield Record(trial, str(data.get("plan", "")))


def _sync_folder(folder: Path) -> None:
    """So that the file's name, too, survives a power cut; where folders can be opened."""
    try:
        handle = os.open(folder, os.O_RDONLY)
    except PermissionError:  # Windows opens none
        return
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
