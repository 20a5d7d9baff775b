"""warmstart: its own export, read back as it was written; origin, agent and ids are as stored.

The format is described in ``warmstart.export.warmstart``. Outcomes are taken from the file when
this very version judged them, else the calls are joined and judged again. Files are append-only and
hold one session per line.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from enum import StrEnum
from pathlib import Path
from typing import Any, TypeVar

from warmstart._version import __version__
from warmstart.model import (
    Call,
    Certainty,
    Compaction,
    ErrorClass,
    Fate,
    Kind,
    Link,
    Message,
    Outcome,
    Parent,
    Request,
    Result,
    Role,
    Session,
    Status,
    Tokens,
)
from warmstart.sources.assemble import join_calls
from warmstart.sources.fields import as_bool, as_float, as_int, as_list, as_text
from warmstart.sources.files import Line, read_json_lines
from warmstart.sources.log import ReadLog
from warmstart.sources.reader import FileReader, Probe, Unit, file_unit
from warmstart.wire import as_dict, as_dicts

SCHEMA_NAME = "warmstart.session"
SCHEMA_MAJOR = 1
_Name = TypeVar("_Name", bound=StrEnum)
_Default = TypeVar("_Default")
_Item = TypeVar("_Item")


class Warmstart(FileReader):
    """warmstart export."""

    name = "warmstart"
    title = "warmstart export"

    def recognises(self, probe: Probe) -> bool:
        """Whether any of the first lines names our schema."""
        return probe.is_lines and any(_schema_major(r) is not None for r in probe.records)

    def units(self, path: Path, log: ReadLog) -> Iterator[Unit]:
        """The file itself."""
        del log
        return file_unit(path)

    def read(self, unit: Unit, log: ReadLog) -> Iterator[Session]:
        """Every session of the file."""
        for line in read_json_lines(unit.path, log):
            problem = _find_problem(line.data)
            if problem:
                log.skip(problem, unit.path, line.number)
            else:
                yield _read_session(line, unit.path)


def _schema_major(record: dict[str, Any]) -> int | None:
    name, _, major = str(record.get("schema")).partition("/")
    return as_int(major) if name == SCHEMA_NAME else None


def _find_problem(record: dict[str, Any]) -> str | None:
    major = _schema_major(record)
    if major is None:
        return "line is not an exported session"
    if major > SCHEMA_MAJOR:
        return "session written by a newer warmstart (upgrade with: pip install -U warmstart)"
    if not as_text(record.get("origin")) or not as_text(record.get("native_id")):
        return "exported session without an id"
    return None


def _read_session(line: Line, path: Path) -> Session:
    data = line.data
    origin = data["origin"]
    messages = tuple(_read_message(item) for item in as_dicts(data.get("messages")))
    calls = _stored_calls(data, messages) if data.get("judged_by") == __version__ else None
    return Session(
        origin=origin,
        native_id=data["native_id"],
        messages=messages,
        calls=join_calls(messages, origin) if calls is None else calls,
        agent=_text(data.get("agent")) or origin,
        parent=_read_parent(data.get("parent")),
        compactions=tuple(_read_compaction(item) for item in as_dicts(data.get("compactions"))),
        tokens=_read_tokens(data.get("tokens")) or Tokens(),
        path=str(path),
        agent_version=_text(data.get("agent_version")),
        platform=_text(data.get("platform")),
        model=_text(data.get("model")),
        title=_text(data.get("title")),
        project=_text(data.get("project")),
        git_branch=_text(data.get("git_branch")),
        started_at=as_float(data.get("started_at")),
        ended_at=as_float(data.get("ended_at")),
        end_reason=_text(data.get("end_reason")),
        cost_usd=as_float(data.get("cost_usd")),
        task=_text(data.get("task")),
        reward=as_float(data.get("reward")),
    )


def _read_message(data: dict[str, Any]) -> Message:
    return Message(
        role=_name(Role, data.get("role"), Role.USER),
        text=_text(data.get("text")) or "",
        requests=tuple(_read_request(item) for item in as_dicts(data.get("requests"))),
        results=tuple(_read_result(item) for item in as_dicts(data.get("results"))),
        reasoning=_text(data.get("reasoning")) or "",
        native_id=_text(data.get("native_id")),
        timestamp=as_float(data.get("timestamp")),
        model=_text(data.get("model")),
        tokens=_read_tokens(data.get("tokens")),
        kind=_name(Kind, data.get("kind"), Kind.TURN),
        fate=_name(Fate, data.get("fate"), Fate.LIVE),
    )


def _read_request(data: dict[str, Any]) -> Request:
    return Request(
        tool=as_text(data.get("tool")) or "unknown",
        id=_text(data.get("id")),
        arguments=as_dict(data.get("arguments")),
        raw=_text(data.get("raw")),
    )


def _read_result(data: dict[str, Any]) -> Result:
    return Result(
        text=_text(data.get("text")) or "",
        call_id=_text(data.get("call_id")),
        tool=_text(data.get("tool")),
        is_error=as_bool(data.get("is_error")),
        exit_code=as_int(data.get("exit_code")),
        status=_name(Status, data.get("status"), None),
    )


def _read_tokens(value: Any) -> Tokens | None:
    if not isinstance(value, dict):
        return None
    names = ("input", "output", "cache_read", "cache_write", "reasoning")
    return Tokens(**{name: as_int(value.get(name)) or 0 for name in names})


def _read_parent(value: Any) -> Parent | None:
    data = as_dict(value)
    parent = as_text(data.get("id"))
    return Parent(id=parent, link=_name(Link, data.get("link"), Link.UNKNOWN)) if parent else None


def _read_compaction(data: dict[str, Any]) -> Compaction:
    return Compaction(
        at=as_int(data.get("at")) or 0,
        trigger=_text(data.get("trigger")),
        tokens_before=as_int(data.get("tokens_before")),
        tokens_after=as_int(data.get("tokens_after")),
    )


def _stored_calls(record: dict[str, Any], messages: tuple[Message, ...]) -> tuple[Call, ...] | None:
    """The calls as they were judged, or None where any of them points nowhere."""
    calls: list[Call] = []
    for data in as_list(record.get("calls")):
        try:
            calls.append(_read_call(as_dict(data), messages, len(calls)))
        except (LookupError, ValueError):
            return None
    return tuple(calls)


def _read_call(data: dict[str, Any], messages: tuple[Message, ...], position: int) -> Call:
    """One call; anything out of place raises, for the whole session to be joined again."""
    where = data["message"]
    result = data.get("result")
    if isinstance(result, list):
        message, index = result
        result = _pick(_pick(messages, message).results, index)
    elif result is not None:
        result = _read_result(as_dict(result))
    return Call(
        request=_pick(_pick(messages, where).requests, data["request"]),
        result=result,
        outcome=_read_outcome(as_dict(data["outcome"])),
        position=position,
        message=where,
    )


def _read_outcome(data: dict[str, Any]) -> Outcome:
    return Outcome(
        status=Status(data["status"]),
        certainty=Certainty(data["certainty"]),
        evidence=_text(data["evidence"]) or "",
        harness_error=as_bool(data.get("harness_error")),
        exit_code=as_int(data.get("exit_code")),
        error_class=_name(ErrorClass, data.get("error_class"), None),
        reason=_text(data.get("reason")),
        masked=as_bool(data.get("masked")) or False,
    )


def _text(value: Any) -> str | None:
    """Unlike ``as_text``, an empty text stays what it is."""
    return value if isinstance(value, str) else None


def _name(names: type[_Name], value: Any, default: _Default) -> _Name | _Default:
    """The member of that value; a name this version does not know reads as the default."""
    try:
        return names(value)
    except ValueError:
        return default


def _pick(items: Sequence[_Item], index: Any) -> _Item:
    """The item at an index that came out of the file.

    Raises:
        LookupError: it is not an index into these items.
    """
    if not isinstance(index, int) or index < 0:
        raise LookupError
    return items[index]
