"""Bad input, made on purpose: every reader must survive all of it, and say what it skipped.

``check_bytes`` damages a valid file as disks, crashes and editors do; ``check_records`` swaps
values of JSON records for values of other types. Both allow exactly one way to fail: SourceError.
"""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

from hypothesis import strategies as st

from warmstart.errors import SourceError
from warmstart.model import Session
from warmstart.sources import Reader, ReadLog

DEEP: Any = None
for _ in range(60):
    DEEP = [DEEP] if _ % 2 else {"content" if _ % 4 else "text": DEEP}

ODD_VALUES = (
    None, True, False, 0, -1, 2**70, 1.5, 1e308, "", "x", "\x00", "é" * 50, "{", '{"a": 1}', "[]",
    [], {}, [[]], [None], [{}], ["x"], [1], {"type": 5}, {"": {}}, {"id": []}, DEEP,
    "2026-01-01T00:00:00Z", "not a time", 99999999999999999,
)  # fmt: skip


def read_all(reader: Reader, path: Path) -> tuple[list[Session], ReadLog]:
    """Every session at a path, straight from the reader with no safety net around it."""
    log = ReadLog()
    return [s for unit in list(reader.units(path, log)) for s in reader.read(unit, log)], log


def survive(reader: Reader, path: Path) -> tuple[list[Session], ReadLog] | None:
    """Read; a SourceError is a fair answer, any other exception is the reader's bug."""
    try:
        sessions, log = read_all(reader, path)
    except SourceError:
        return None
    for session in sessions:
        check_session(session)
    return sessions, log


def check_session(session: Session) -> None:
    """What every consumer may rely on, whatever the input was."""
    assert session.native_id
    assert isinstance(session.id, str)
    for text in (session.title, session.model, session.project, session.end_reason, session.agent):
        assert text is None or isinstance(text, str)
    for moment in (session.started_at, session.ended_at):
        assert moment is None or isinstance(moment, float | int)
    for message in session.messages:
        assert isinstance(message.text, str)
        message.text.encode()
        assert all(isinstance(r.text, str) for r in message.results)
        assert all(isinstance(r.tool, str) and r.tool for r in message.requests)
    for position, call in enumerate(session.calls):
        assert call.position == position
        assert call.request in session.messages[call.message].requests


JUNKED = ("flip", "insert", "garbage")
DAMAGES = ("truncate", "flip", "insert", "garbage", "drop", "double", "noise")


def damage(valid: bytes, how: str, at: int, length: int, junk: bytes) -> bytes:
    """A valid file after one of the ``DAMAGES``; ``junk`` is what got written over or into it."""
    if how == "truncate":
        return valid[:at]
    if how == "flip":
        return valid[:at] + junk[:1] + valid[at + 1 :]
    if how == "insert":
        return valid[:at] + junk + valid[at:]
    if how == "garbage":
        return junk
    if how == "drop":
        return valid[:at] + valid[at + length :]
    if how == "double":
        return valid[: at + length] + valid[at:]
    return valid[:at] + b"\xff\xfe\x00{]\n" + valid[at:]


@st.composite
def damaged(draw: st.DrawFn, valid: bytes) -> bytes:
    """A valid file after an accident."""
    how = draw(st.sampled_from(DAMAGES))
    at = draw(st.integers(0, max(len(valid) - 1, 0)))
    length = draw(st.integers(1, 200))
    junk = draw(st.binary(min_size=1, max_size=300)) if how in JUNKED else b""
    return damage(valid, how, at, length, junk)


def list_places(value: Any, trail: tuple[Any, ...] = ()) -> Iterable[tuple[Any, ...]]:
    """The trail of keys to every value in a JSON document."""
    items: Iterable[tuple[Any, Any]] = ()
    if isinstance(value, dict):
        items = value.items()
    elif isinstance(value, list):
        items = enumerate(value)
    for key, inner in items:
        yield (*trail, key)
        yield from list_places(inner, (*trail, key))


@st.composite
def retyped(draw: st.DrawFn, document: Any) -> Any:
    """A JSON document with one to four values swapped for odd ones, or removed."""
    changed = copy.deepcopy(document)
    for _ in range(draw(st.integers(1, 4))):
        places = list(list_places(changed))
        if not places:
            break
        trail = draw(st.sampled_from(places))
        holder = changed
        for key in trail[:-1]:
            holder = holder[key]
        if isinstance(holder, dict) and draw(st.booleans()):
            del holder[trail[-1]]
        else:
            holder[trail[-1]] = copy.deepcopy(draw(st.sampled_from(ODD_VALUES)))
    return changed


def to_jsonl(records: Sequence[Any]) -> bytes:
    """Records as the agents write them: one compact JSON object per line."""
    return b"".join(json.dumps(r, separators=(",", ":")).encode() + b"\n" for r in records)


def write(folder: Path, name: str, data: bytes) -> Path:
    """A file with that content, replacing what the example before left there."""
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    return path


Writer = Callable[[bytes], Path]
