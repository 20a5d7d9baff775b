"""Transcripts as JSONL, one message a line, and messages as rows of the database.

A line is written by one call and ends in a line break. A line that was cut off (a crash, a full
disk) is skipped when read, and never swallows the line after it: an append first closes it. A
message with an id of its platform, delivered twice, is read once, as it is from the database.
"""

from __future__ import annotations

import json
import logging
import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import orjson

from warmstart.atomic import write_whole
from warmstart.gateway.entry import SessionEntry
from warmstart.gateway.errors import RecordError
from warmstart.gateway.keys import check_session_id
from warmstart.store import SessionFields, StoreError

FLAGS = os.O_RDWR | os.O_APPEND | os.O_CREAT | getattr(os, "O_BINARY", 0)
_COLUMNS = frozenset({
    "content", "tool_name", "tool_calls", "tool_call_id", "token_count", "finish_reason",
    "reasoning", "reasoning_content", "reasoning_details", "codex_reasoning_items",
    "codex_message_items", "platform_message_id", "observed", "timestamp",
})  # fmt: skip
"""The parts of a message that the database has a column for."""
logger = logging.getLogger(__name__)


class TranscriptFolder:
    """The JSONL files of a folder, one per session."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._start = os.path.join(folder, "")  # noqa: PTH118 - a Path costs more than the write

    def path(self, session_id: str) -> Path:
        """Where a session's transcript is.

        Raises:
            UnsafeNameError: the id would name a file elsewhere.
        """
        return self.folder / f"{check_session_id(session_id)}.jsonl"

    def append(self, session_id: str, message: Mapping[str, Any]) -> None:
        """Add one message; either the whole line is there afterwards or nothing of it.

        Raises:
            StoreError: the disk is full or the folder may not be written.
        """
        line = encode_message(message)
        path = f"{self._start}{check_session_id(session_id)}.jsonl"
        try:
            handle = self._open(path)
            try:
                _write_line(handle, line)
            finally:
                os.close(handle)
        except OSError as error:
            raise _refuse_write(Path(path), error) from error

    def _open(self, path: str) -> int:
        try:
            return os.open(path, FLAGS, 0o600)
        except FileNotFoundError:
            self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            return os.open(path, FLAGS, 0o600)

    def rewrite(self, session_id: str, messages: Iterable[Mapping[str, Any]]) -> None:
        """Replace a transcript as a whole."""
        write_file(self.path(session_id), b"".join(encode_message(m) for m in messages))

    def read(self, session_id: str) -> list[dict[str, Any]]:
        """Every message that can be read, in order; skipped lines are reported in the log."""
        messages: dict[object, dict[str, Any]] = {}
        try:
            with self.path(session_id).open("rb") as file:
                for number, line in enumerate(file, 1):
                    message = _decode_message(line)
                    if message is not None:
                        messages.setdefault(_identify(message, number), message)
                    elif line.strip():
                        logger.warning("line %d of session %s is broken", number, session_id)
        except FileNotFoundError:
            return []
        return list(messages.values())


def encode_message(message: Mapping[str, Any]) -> bytes:
    """One message as a line of JSON.

    Raises:
        RecordError: it holds something that JSON cannot.
    """
    try:
        return orjson.dumps(message) + b"\n"
    except TypeError:
        pass  # integers beyond 64 bits and lone surrogates, which the slower encoder can write
    try:
        return json.dumps(message).encode() + b"\n"
    except (TypeError, ValueError, RecursionError) as error:
        raise RecordError(f"a message cannot be written as JSON: {error}", value=message) from error


def _decode_message(line: bytes) -> dict[str, Any] | None:
    try:
        value = orjson.loads(line)
    except ValueError:
        try:
            value = json.loads(line)
        except (ValueError, RecursionError):
            return None
    return value if isinstance(value, dict) else None


def _identify(message: Mapping[str, Any], number: int) -> object:
    """What identifies a message: its role and its platform's id, else its line."""
    native = message.get("platform_message_id")
    return (str(message.get("role")), str(native)) if native is not None else number


def _write_line(handle: int, line: bytes) -> None:
    size = os.lseek(handle, 0, os.SEEK_END)
    if size:
        os.lseek(handle, size - 1, os.SEEK_SET)
        if os.read(handle, 1) != b"\n":
            line = b"\n" + line
    written = 0
    try:
        written = os.write(handle, line)
        while written < len(line):
            written += os.write(handle, line[written:])
    except OSError:
        if written and os.fstat(handle).st_size == size + written:  # no one wrote after us
            os.ftruncate(handle, size)
        raise


def write_file(path: Path, data: bytes) -> None:
    """Replace a file as a whole, private to its user: a reader sees the old or the new one.

    Raises:
        StoreError: the disk is full or the folder may not be written.
    """
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        write_whole(path, [data])
    except OSError as error:
        raise _refuse_write(path, error) from error


def _refuse_write(path: Path, error: OSError) -> StoreError:
    """The error of a full disk or a folder that cannot be written."""
    why = error.strerror or str(error)
    return StoreError(f"{str(path)!r} could not be written: {why}", path=str(path))


def describe_chat(entry: SessionEntry | None) -> tuple[str, SessionFields]:
    """The source and the fields of a session's row that say which chat it belongs to."""
    source = entry.platform.value if entry and entry.platform else "unknown"
    if entry is None or entry.origin is None:
        return source, {}
    return source, {
        "user_id": entry.origin.user_id,
        "session_key": entry.session_key,
        "chat_id": entry.origin.chat_id,
        "chat_type": entry.origin.chat_type,
        "thread_id": entry.origin.thread_id,
    }


def make_row(message: Mapping[str, Any]) -> dict[str, Any]:
    """The message as a row: its role, and every part that the database has a column for."""
    row = {name: value for name, value in message.items() if value is not None and name in _COLUMNS}
    role = message.get("role")
    row["role"] = role if isinstance(role, str) and role else "unknown"
    if role == "tool" and isinstance(message.get("name"), str):
        row.setdefault("tool_name", message["name"])
    return row
