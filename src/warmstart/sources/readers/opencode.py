"""opencode: its database, its older folder of JSON files, and what ``opencode export`` prints.

All three hold the same objects: a session, its messages (ordered by creation time, then id, as
opencode orders them: its ids wrap around every two years) and their parts. A data folder can hold
the same session in the database and in the folder it was migrated from; the database wins::

    session   {"id", "parentID", "directory", "title", "version", "time", "revert"}
    message   {"id", "role", "modelID", "tokens", "cost", "time", "summary"}
    part      {"type": "text", "text", "synthetic"}, {"type": "reasoning", "text"},
              {"type": "tool", "tool", "callID", "state": {"status", "input", "output"}},
              {"type": "compaction", "auto", "tail_start_id"}

An assistant message holds its tool calls with their results; it becomes one message that asks and
one that answers. Text that opencode wrote in the user's name ("synthetic") is kept apart from what
the user wrote. A message seen before in the same scan is a copy: a fork repeats its parent's
messages under new ids, with their times and texts unchanged.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from hashlib import blake2b
from pathlib import Path
from typing import Any, NamedTuple

from msgspec.structs import replace

from warmstart.errors import SourceError
from warmstart.model import (
    Compaction,
    Fate,
    Kind,
    Link,
    Message,
    Parent,
    Result,
    Role,
    Session,
    Status,
    Tokens,
)
from warmstart.sources.assemble import build_session
from warmstart.sources.fields import as_bool, as_float, as_int, as_text, parse_time, parse_tokens
from warmstart.sources.files import read_json
from warmstart.sources.json_text import parse_text
from warmstart.sources.log import ReadLog
from warmstart.sources.naming import name_file
from warmstart.sources.reader import OpenSource, Probe, Unit, file_fingerprint, file_unit
from warmstart.sources.sqlite import DatabaseReader, is_database, open_database
from warmstart.sources.sqlite_guard import GuardedConnection
from warmstart.wire import as_dict, as_dicts, as_id, content_text, encode_text, make_request

ORIGIN = "opencode"
TOKENS = {
    "input": "input", "output": "output", "reasoning": "reasoning", "cache_read": "read",
    "cache_write": "write",
}  # fmt: skip
TRIGGERS = {True: "auto", False: "manual", None: None}
ANSWERED = frozenset({"completed", "error"})
TABLES = frozenset({"session", "message", "part"})
SESSION_COLUMNS = (
    "id", "parent_id", "directory", "title", "version", "revert", "time_created",
    "time_updated",
)  # fmt: skip
LISTED = ("id", "time_created", "time_updated")
STORAGE = "storage"


class Opencode(DatabaseReader):
    """opencode's database, storage folder, data folder, or one exported session."""

    name = ORIGIN
    title = "opencode"

    def recognises(self, probe: Probe) -> bool:
        """By the three tables, the folder layout, or the shape of an export."""
        if probe.is_folder:
            return bool(
                _databases_in(probe.path, ReadLog()) or _session_files(_storage_of(probe.path))
            )
        return probe.tables >= TABLES or _is_export(probe)

    def units(self, path: Path, log: ReadLog) -> Iterator[Unit]:
        """One unit per session, oldest first, so that a fork comes after what it repeats."""
        if not path.is_dir():
            yield from _list_database(path, log) if is_database(path) else file_unit(path)
            return
        listed = set()
        for database in _databases_in(path, log):
            for unit in _list_database(database, log):
                listed.add(unit.key)
                yield unit
        for file in _session_files(_storage_of(path)):
            if file.stem not in listed:
                yield Unit(path=file, key=file.stem, fingerprint=_storage_fingerprint(file))

    def read(self, unit: Unit, log: ReadLog) -> Iterator[Session]:
        """The one session of a unit."""
        if not unit.key:
            yield _read_export(unit.path, log)
        elif unit.path.suffix == ".json":
            yield _read_stored(unit, log)
        else:
            yield from super().read(unit, log)

    def open(self, path: Path) -> AbstractContextManager[OpenSource]:
        """Keep a database open; files are opened one by one."""
        return super().open(path) if is_database(path) else nullcontext(self)

    def read_rows(
        self, connection: GuardedConnection, unit: Unit, log: ReadLog
    ) -> Iterator[Session]:
        """The one session of a unit of a database."""
        columns = connection.known_columns("session", SESSION_COLUMNS)
        rows = connection.select(f"SELECT {columns} FROM session WHERE id = ?", unit.key)
        info = dict(zip(SESSION_COLUMNS, rows[0], strict=True)) if rows else {}
        yield _build(unit, _info_of_row(info), _read_entries(connection, unit, log), log)


def _holds_messages(path: Path, log: ReadLog) -> bool:
    try:
        with open_database(path) as connection:
            return bool(connection.columns("message"))
    except SourceError as error:
        log.skip(error.message.rpartition(": ")[2], path)
        return False


def _databases_in(folder: Path, log: ReadLog) -> list[Path]:
    return [path for path in sorted(folder.glob("opencode*.db")) if _holds_messages(path, log)]


def _storage_of(folder: Path) -> Path:
    return folder / STORAGE if (folder / STORAGE).is_dir() else folder


def _session_files(storage: Path) -> list[Path]:
    """``session/<project>/<id>.json``; the oldest versions have ``session/info/<id>.json``."""
    return sorted(storage.glob("session/*/ses_*.json"))


def _is_export(probe: Probe) -> bool:
    if probe.is_array or len(probe.records) != 1:
        return False
    document = probe.records[0]
    info, messages = as_dict(document.get("info")), document.get("messages")
    if not isinstance(messages, list) or not as_text(info.get("id")):
        return False
    return all("info" in item and "parts" in item for item in as_dicts(messages)) and bool(
        info.keys() & {"directory", "projectID", "version", "time"}
    )


def _list_database(path: Path, log: ReadLog) -> list[Unit]:
    with open_database(path) as connection:
        columns = connection.known_columns("session", LISTED)
        rows = connection.select(f"SELECT {columns} FROM session ORDER BY id")
        counts = [_count_rows(connection, table) for table in ("message", "part")]
    rows.sort(key=lambda row: parse_time(row[1]) or 0.0)
    units = []
    for key, _, updated in rows:
        session_id = as_id(key)
        if session_id is None:
            log.skip("session without an id", path)
            continue
        state = [updated, *(count.get(key) for count in counts)]
        units.append(Unit(path=path, key=session_id, fingerprint="-".join(map(str, state))))
    return units


def _count_rows(connection: GuardedConnection, table: str) -> dict[Any, str]:
    """How many rows per session and, of messages, when one last changed.

    A part changes in place, but its message is written again when the step is finished; the parts
    alone are counted, from their index, because reading them is reading the whole database.
    """
    changed = "0"
    if table == "message" and "time_updated" in connection.columns(table):
        changed = "max(time_updated)"
    rows = connection.select(
        f"SELECT session_id, count(*), {changed} FROM {table} GROUP BY session_id"
    )
    return {row[0]: f"{row[1]}:{row[2]}" for row in rows}


def _storage_fingerprint(session_file: Path) -> str:
    """Of the session's own file and of its messages, which are written again after their parts."""
    files = [session_file, *_files_in(_message_folders(session_file))]
    newest = max(file.stat().st_mtime_ns for file in files)
    return f"{file_fingerprint(session_file)}-{len(files)}-{newest}"


def _info_of_row(row: dict[str, Any]) -> dict[str, Any]:
    """A database row under the names the JSON form has."""
    return row | {
        "parentID": row.get("parent_id"),
        "time": {"created": row.get("time_created"), "updated": row.get("time_updated")},
        "revert": _parse(row.get("revert")),
    }


def _parse(value: Any) -> Any:
    text = as_text(value)
    return parse_text(text) if text else None


def _read_entries(connection: GuardedConnection, unit: Unit, log: ReadLog) -> list[_StoredMessage]:
    parts: dict[Any, list[dict[str, Any]]] = {}
    for key, message, data in connection.select(
        "SELECT id, message_id, data FROM part WHERE session_id = ? ORDER BY id", unit.key
    ):
        part = _parse(data)
        if isinstance(part, dict):
            part["id"] = key
            parts.setdefault(message, []).append(part)
        else:
            log.skip("part is not a JSON object", unit.path)
    entries = []
    for key, data in connection.select(
        "SELECT id, data FROM message WHERE session_id = ? ORDER BY id", unit.key
    ):
        info = _parse(data)
        if isinstance(info, dict):
            info["id"] = key
            entries.append(_StoredMessage(info, parts.get(key, ())))
        else:
            log.skip("message is not a JSON object", unit.path)
    return _in_order(entries)


def _in_order(entries: Iterable[_StoredMessage]) -> list[_StoredMessage]:
    def order(entry: _StoredMessage) -> tuple[float, str]:
        created = parse_time(as_dict(entry.info.get("time")).get("created"))
        return created or 0.0, as_id(entry.info.get("id")) or ""

    return sorted(entries, key=order)


def _read_export(path: Path, log: ReadLog) -> Session:
    document = read_json(path)
    if not isinstance(document, dict):
        raise SourceError(f"cannot read {str(path)!r}: no opencode export", path=path)
    info = as_dict(document.get("info"))
    messages = document.get("messages")
    entries = [
        _StoredMessage(as_dict(item.get("info")), as_dicts(item.get("parts")))
        for item in as_dicts(messages)
    ]
    lost = len(messages) - len(entries) if isinstance(messages, list) else 0
    if lost:
        log.skip("message is not a JSON object", path, count=lost)
    session_id = as_id(info.get("id")) or name_file(path)
    return _build(Unit(path=path, key=session_id), info, entries, log)


def _read_stored(unit: Unit, log: ReadLog) -> Session:
    storage = unit.path.parents[2]
    entries = []
    for file in _files_in(_message_folders(unit.path)):
        for info in _read_object(file, log):
            folders = (
                storage / "part" / file.stem,
                storage / "part" / unit.key / file.stem,
                storage / "session" / "part" / unit.key / file.stem,
            )
            parts = [part for path in _files_in(folders) for part in _read_object(path, log)]
            entries.append(_StoredMessage({"id": file.stem} | info, parts))
    info = next(_read_object(unit.path, log), {})
    return _build(unit, info, _in_order(entries), log)


def _message_folders(session_file: Path) -> tuple[Path, ...]:
    storage, session_id = session_file.parents[2], session_file.stem
    return storage / "message" / session_id, storage / "session" / "message" / session_id


def _files_in(folders: Iterable[Path]) -> list[Path]:
    return [file for folder in folders for file in sorted(folder.glob("*.json"))]


def _read_object(path: Path, log: ReadLog) -> Iterator[dict[str, Any]]:
    try:
        value = read_json(path)
    except SourceError:
        log.skip("file is not valid JSON", path)
        return
    if isinstance(value, dict):
        yield value
    else:
        log.skip("file is JSON but not an object", path)


def _build(
    unit: Unit, info: dict[str, Any], entries: Iterable[_StoredMessage], log: ReadLog
) -> Session:
    transcript = _SessionReplay(unit.path, log)
    for entry in entries:
        transcript.add(entry)
    transcript.rewind(info.get("revert"))
    parent = as_id(info.get("parentID"))
    time = as_dict(info.get("time"))
    return build_session(
        ORIGIN,
        unit.key,
        transcript.messages,
        agent_version=as_text(info.get("version")),
        title=as_text(info.get("title")),
        project=as_text(info.get("directory")),
        started_at=parse_time(time.get("created")),
        ended_at=parse_time(time.get("updated")),
        parent=Parent(id=f"{ORIGIN}:{parent}", link=Link.SUBAGENT) if parent else None,
        compactions=tuple(transcript.compactions),
        # The session's own total counts what a fork copied; ours does not.
        cost_usd=transcript.cost_usd or None,
        path=str(unit.path),
    )


class _StoredMessage(NamedTuple):
    """One stored message and its parts, both as plain JSON objects."""

    info: dict[str, Any]
    parts: Sequence[dict[str, Any]]


@dataclass(slots=True)
class _SessionReplay:
    """Collects a session's messages, and what only shows while reading them in order."""

    path: Path
    log: ReadLog
    messages: list[Message] = field(default_factory=list)
    compactions: list[Compaction] = field(default_factory=list)
    cost_usd: float = 0.0
    _first_of: dict[str, int] = field(default_factory=dict)
    """Index of the first message of each stored message."""
    _pending_compaction: dict[str, Any] | None = None

    def add(self, entry: _StoredMessage) -> None:
        """Take in the next stored message."""
        native_id = as_id(entry.info.get("id"))
        if native_id is not None:
            self._first_of.setdefault(native_id, len(self.messages))
        for part in entry.parts:
            if part.get("type") == "compaction":
                self._compact(part)
        if _is_summary(entry):
            self._archive()
        new = list(_read_entry(entry))
        if self._is_copy(entry, new):
            new = [replace(message, fate=Fate.COPIED) for message in new]
        else:
            self.cost_usd += max(as_float(entry.info.get("cost")) or 0.0, 0.0)
        self.messages += new
        if entry.info.get("role") not in ("assistant", "user"):
            self.log.skip("message of an unknown role", self.path)

    def _is_copy(self, entry: _StoredMessage, messages: Sequence[Message]) -> bool:
        """Whether it was met before; without a time it cannot be recognised."""
        created = as_float(as_dict(entry.info.get("time")).get("created"))
        if created is None or not messages:
            return False
        content = [(m.role, m.text, [r.id for r in m.requests]) for m in messages]
        digest = blake2b(repr(content).encode("utf-8", "replace"), digest_size=12).hexdigest()
        return not self.log.first_sight(ORIGIN, f"{created}-{digest}")

    def rewind(self, revert: Any) -> None:
        """Mark what the user took back: everything from a message on, or after it for a part."""
        target = as_dict(revert)
        start = self._first_of.get(as_id(target.get("messageID")) or "")
        if start is None:
            return
        if target.get("partID"):
            later = (first for first in self._first_of.values() if first > start)
            start = min(later, default=len(self.messages))
        self._set_fate(range(start, len(self.messages)), Fate.REWOUND)

    def _compact(self, part: dict[str, Any]) -> None:
        trigger = TRIGGERS.get(as_bool(part.get("auto")))
        self.compactions.append(Compaction(at=len(self.messages), trigger=trigger))
        self._pending_compaction = part

    def _archive(self) -> None:
        """The summary is there: what stands before it is out of sight, but for the kept tail."""
        end = len(self.messages)
        if self._pending_compaction is None:
            self.compactions.append(Compaction(at=end))
        else:
            tail = as_id(self._pending_compaction.get("tail_start_id")) or ""
            end = self._first_of.get(tail, self.compactions[-1].at)
        self._pending_compaction = None
        self._set_fate(range(end), Fate.ARCHIVED)

    def _set_fate(self, indexes: range, fate: Fate) -> None:
        for index in indexes:
            if self.messages[index].fate is Fate.LIVE:
                self.messages[index] = replace(self.messages[index], fate=fate)


def _is_summary(entry: _StoredMessage) -> bool:
    """Users' messages have a ``summary`` too: an object, about what they changed."""
    return entry.info.get("role") == "assistant" and entry.info.get("summary") is True


def _read_entry(entry: _StoredMessage) -> Iterator[Message]:
    common = {
        "native_id": as_id(entry.info.get("id")),
        "timestamp": parse_time(as_dict(entry.info.get("time")).get("created")),
    }
    role = entry.info.get("role")
    if role == "assistant":
        yield from _read_assistant(entry, common)
    elif role == "user":
        yield from _read_user(entry, common)


def _read_user(entry: _StoredMessage, common: dict[str, Any]) -> Iterator[Message]:
    own = [part for part in entry.parts if not part.get("synthetic")]
    synthetic = [part for part in entry.parts if part.get("synthetic")]
    for parts, kind in ((own, Kind.TURN), (synthetic, Kind.INJECTED)):
        text = _texts(parts)
        if text:
            yield Message(role=Role.USER, text=text, kind=kind, **common)


def _read_assistant(entry: _StoredMessage, common: dict[str, Any]) -> Iterator[Message]:
    tools = [part for part in entry.parts if part.get("type") == "tool"]
    yield Message(
        role=Role.ASSISTANT,
        text=_texts(entry.parts),
        requests=tuple(
            make_request(part.get("tool"), _call_id(part), as_dict(part.get("state")).get("input"))
            for part in tools
        ),
        reasoning=_texts(entry.parts, "reasoning"),
        model=as_text(entry.info.get("modelID")),
        tokens=_read_tokens(entry.info.get("tokens")),
        kind=Kind.SUMMARY if _is_summary(entry) else Kind.TURN,
        **common,
    )
    results = tuple(result for part in tools for result in _read_result(part))
    if results:
        yield Message(role=Role.TOOL, results=results, **common)


def _texts(parts: Sequence[dict[str, Any]], kind: str = "text") -> str:
    """The text of parts of a kind; for plain text also the names of the files attached."""
    texts = []
    for part in parts:
        if part.get("type") == kind and part.get("ignored") is not True:
            texts.append(content_text(part.get("text")))
        elif part.get("type") == "file" and kind == "text":
            texts.append(f"[file {as_text(part.get('filename')) or ''}".rstrip() + "]")
    return "\n".join(text for text in texts if text)


def _call_id(part: dict[str, Any]) -> str | None:
    return as_id(part.get("callID")) or as_id(part.get("id"))


def _read_result(part: dict[str, Any]) -> Iterator[Result]:
    """A call still pending or running when the transcript ends has no result."""
    state = as_dict(part.get("state"))
    status = as_text(state.get("status"))
    if status not in ANSWERED:
        return
    failed = status == "error"
    value = state.get("error") if failed else state.get("output")
    metadata = as_dict(state.get("metadata"))
    yield Result(
        text=content_text(value) or ("" if value in (None, "") else encode_text(value)),
        call_id=_call_id(part),
        tool=as_text(part.get("tool")),
        is_error=failed,
        exit_code=as_int(metadata.get("exit")),
        status=Status.CANCELLED if failed and metadata.get("interrupted") is True else None,
    )


def _read_tokens(value: Any) -> Tokens | None:
    cache = as_dict(as_dict(value).get("cache"))
    return parse_tokens({**as_dict(value), **cache}, TOKENS)
