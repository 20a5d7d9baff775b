"""Trials kept: each as a session of the live store, and as one line of ``trials.jsonl``.

The session row carries the trial's row with it and both are written in one transaction: the store
is where a trial becomes a fact, and everything that reads sessions reads trials. The file follows:
lines are appended under a lock and reach the disk before the next trial is counted. A line that a
kill cut short is dropped when the file is opened again, and its trial is run again or taken from
the store; a line that repeats another is passed over.
"""

from __future__ import annotations

import json
import os
import sqlite3
from collections.abc import Iterator, Mapping
from dataclasses import asdict, replace
from hashlib import sha256
from pathlib import Path
from types import TracebackType
from typing import Any, NamedTuple, Self

from warmstart.errors import InternalError, UsageError
from warmstart.experiment import Trial, TrialCall, TrialStatus
from warmstart.model import Kind, Message, Role
from warmstart.runners.endpoint import TrialTranscript
from warmstart.runners.scoring import ORIGIN
from warmstart.store import WARMUP_MARK, SessionDB, mark_ending

TRIALS_FILE = "trials.jsonl"
LOCK_FILE = "run.lock"
PRIVATE = 0o600
FLAGS = os.O_RDWR | os.O_CREAT | os.O_APPEND | getattr(os, "O_BINARY", 0)
SOURCE = "experiment"
TRIAL_SCHEMA = 1
EVERY = 1 << 40


class TrialRecord(NamedTuple):
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
        """Close the file."""
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


def read_trials(folder: Path) -> list[TrialRecord]:
    """The trials of an experiment in the order they were recorded, each once."""
    found: dict[tuple[str, str, int], TrialRecord] = {}
    for record in _read_lines(folder / TRIALS_FILE):
        found.setdefault(record.trial.key, record)
    return list(found.values())


def count_unreadable(folder: Path) -> int:
    """How many whole lines of the file are not trials."""
    path = folder / TRIALS_FILE
    if not path.exists():
        return 0
    lines = [line for line in path.read_bytes().split(b"\n")[:-1] if line.strip()]
    return len(lines) - sum(1 for _ in _read_lines(path))


def _read_lines(path: Path) -> Iterator[TrialRecord]:
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
            yield TrialRecord(trial, str(data.get("plan", "")))


def _sync_folder(folder: Path) -> None:
    """Sync a folder, where it can be opened, so that its files' names survive a power cut."""
    try:
        handle = os.open(folder, os.O_RDONLY)
    except PermissionError:  # Windows opens none
        return
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def session_key(experiment: str, plan: str, trial: Trial) -> str:
    """The id of a trial's session; it depends on the trial and its plan alone."""
    task, arm, number = trial.key
    digest = sha256(repr((experiment, plan, task, arm, number)).encode("utf-8", "surrogatepass"))
    return f"exp-{experiment}-{digest.hexdigest()[:20]}"


def store_trial(db: SessionDB, trial: Trial, transcript: TrialTranscript, plan: str) -> Trial:
    """Write session and trial in one transaction; the trial with its session's id.

    Raises:
        InternalError: the store has another session under this id.
    """
    native = session_key(trial.experiment, plan, trial)
    trial = replace(trial, session=f"{ORIGIN}:{native}")
    report = db.import_sessions([_build_row(native, trial, transcript, plan)])
    if report["errors"] or report["conflicts"]:
        problem = (report["errors"] or ["there is another session with its id"])[0]
        raise InternalError(f"the trial {trial.key!r} could not be stored: {problem}")
    return trial


def find_trials(db: SessionDB, experiment: str) -> Iterator[tuple[Trial, str]]:
    """Every trial the store has of an experiment, with the hash of the plan it was run under."""
    prefix = f"exp-{experiment}-"
    rows = db.list_sessions(SOURCE, EVERY, id_query=prefix, include_archived=True)
    for row in reversed(rows):
        record = _parse(row["model_config"])
        trial = parse_trial(record.get("_trial"))
        if trial is not None and trial.experiment == experiment:
            yield trial, str(record.get("_plan", ""))


def format_trial(trial: Trial, plan: str) -> dict[str, Any]:
    """A trial as one JSON object."""
    data = asdict(trial)
    data["calls"] = [list(call) for call in trial.calls]
    return {"schema": TRIAL_SCHEMA, "plan": plan, **data}


def parse_trial(data: Any) -> Trial | None:
    """The trial of a JSON object, None where it does not hold one."""
    if not isinstance(data, Mapping):
        return None
    known = {name: data[name] for name in Trial.__dataclass_fields__ if name in data}
    try:
        calls = tuple(TrialCall(str(c[0]), bool(c[1]), bool(c[2])) for c in known.get("calls", ()))
        trial = Trial(**{**known, "calls": calls, "status": TrialStatus(known["status"])})
    except (KeyError, IndexError, TypeError, ValueError):
        return None
    texts = (trial.experiment, trial.task, trial.arm)
    is_sound = all(isinstance(text, str) for text in texts) and isinstance(trial.number, int)
    return trial if is_sound else None


def _build_row(native: str, trial: Trial, transcript: TrialTranscript, plan: str) -> dict[str, Any]:
    moment = transcript.started_at
    config: dict[str, Any] = {
        "_task": trial.task,
        "_trial": format_trial(trial, plan),
        "_plan": plan,
    }
    if trial.success is not None:
        config["_reward"] = float(trial.success)
    tokens = transcript.tokens
    return {
        "id": native,
        "source": SOURCE,
        "model": trial.model or None,
        "model_config": json.dumps(config),
        "system_prompt": transcript.system or None,
        "title": f"{trial.experiment} {trial.task} {trial.arm} {trial.number}",
        "started_at": moment,
        "ended_at": moment + transcript.seconds,
        "end_reason": trial.status.value,
        "input_tokens": tokens.input,
        "output_tokens": tokens.output,
        "cache_read_tokens": tokens.cache_read,
        "cache_write_tokens": tokens.cache_write,
        "reasoning_tokens": tokens.reasoning,
        "estimated_cost_usd": trial.cost_usd,
        "messages": [
            {"timestamp": message.timestamp or moment, **row}
            for message in transcript.messages
            for row in _message_rows(message)
        ],
    }


def _message_rows(message: Message) -> Iterator[dict[str, Any]]:
    is_warmup = message.kind is Kind.WARMUP
    for result in message.results:
        ending = mark_ending(
            is_error=result.is_error, exit_code=result.exit_code, status=result.status
        )
        yield {
            "role": "tool",
            "content": result.text,
            "tool_call_id": result.call_id,
            "tool_name": result.tool,
            "effect_disposition": WARMUP_MARK if is_warmup else ending,
        }
    if message.role is Role.TOOL:
        return
    row: dict[str, Any] = {
        "role": message.role.value,
        "content": message.text,
        "reasoning": message.reasoning or None,
        "effect_disposition": WARMUP_MARK if is_warmup else None,
    }
    if message.requests:
        row["tool_calls"] = [
            {
                "id": request.id,
                "type": "function",
                "function": {
                    "name": request.tool,
                    "arguments": request.raw or json.dumps(dict(request.arguments)),
                },
            }
            for request in message.requests
        ]
    yield row


def _parse(text: Any) -> dict[str, Any]:
    try:
        data = json.loads(text) if isinstance(text, str) else text
    except ValueError:
        return {}
    return data if isinstance(data, dict) else {}
