"""Codex CLI: one rollout file per session, in every layout it has had.

Today's lines are ``{timestamp, type, payload}``, compressed with zstd once they are cold; the
first versions wrote a bare header and bare items, before that one JSON document.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from warmstart.model import Session
from warmstart.sources.fields import as_dicts, as_text
from warmstart.sources.files import Line
from warmstart.sources.log import ReadLog
from warmstart.sources.naming import name_file
from warmstart.sources.reader import FileReader, Probe, Unit, file_unit
from warmstart.sources.readers._codex_items import ITEMS, is_bare_header, read_line
from warmstart.sources.readers._codex_rollout import Rollout
from warmstart.sources.records import open_records

STORES = ("sessions", "archived_sessions")
HOME_NAMES = frozenset({"config.toml", "auth.json", "history.jsonl", "archived_sessions"})
WRAPPERS = frozenset(
    {"session_meta", "response_item", "event_msg", "turn_context", "compacted", "world_state"}
)
PACKED_SUFFIXES = frozenset({".gz", ".zst"})
SUFFIXES = PACKED_SUFFIXES | {".json", ".jsonl"}


class Codex(FileReader):
    """Codex CLI rollouts, one session per file."""

    name = "codex"
    title = "Codex CLI"

    def recognises(self, probe: Probe) -> bool:
        """Whether it is a rollout by its lines, or Codex's home with rollouts in it."""
        if probe.is_folder:
            return _is_home(probe)
        if not probe.is_lines:
            return not probe.is_array and any(map(_is_document, probe.records))
        return any(map(_is_wrapped, probe.records)) or _is_bare_rollout(probe.records)

    def units(self, path: Path, log: ReadLog) -> Iterator[Unit]:
        """The rollout itself, or every rollout of a home, oldest first."""
        del log
        for rollout in [path] if path.is_file() else _list_rollouts(path):
            yield from file_unit(rollout)

    def read(self, unit: Unit, log: ReadLog) -> Iterator[Session]:
        """Replay one rollout."""
        rollout, empty = Rollout(), True
        for number, data in _read_records(unit.path, log):
            line = read_line(data)
            if line is None:
                log.skip("line of no known shape", unit.path, number)
                continue
            empty = False
            rollout.take(line)
        if not empty:
            yield rollout.build_session(unit.path, name_file(unit.path))


def _is_wrapped(record: dict[str, Any]) -> bool:
    kind = record.get("type")
    return isinstance(kind, str) and kind in WRAPPERS and isinstance(record.get("payload"), dict)


def _is_bare_rollout(records: tuple[dict[str, Any], ...]) -> bool:
    """A bare header, and behind it nothing but items and state."""
    known = all("record_type" in r or as_text(r.get("type")) in ITEMS for r in records[1:])
    return bool(records) and is_bare_header(records[0]) and "timestamp" in records[0] and known


def _is_document(record: dict[str, Any]) -> bool:
    session, items = record.get("session"), record.get("items")
    return isinstance(session, dict) and isinstance(items, list) and "id" in session


def _is_home(probe: Probe) -> bool:
    named = probe.path.name == ".codex" or not HOME_NAMES.isdisjoint(probe.names)
    stored = not probe.names.isdisjoint(STORES)
    return named and stored and next(_find_rollouts(probe.path), None) is not None


def _find_rollouts(home: Path) -> Iterator[Path]:
    for store in STORES:
        found = (home / store).rglob("rollout-*")
        yield from (path for path in found if path.suffix in SUFFIXES)


def _list_rollouts(home: Path) -> list[Path]:
    """In the order of their names, which begin with the time; a packed twin is left out."""
    found = set(_find_rollouts(home))
    single = [
        path
        for path in found
        if path.suffix not in PACKED_SUFFIXES or path.with_suffix("") not in found
    ]
    return sorted(single, key=lambda path: (path.name, str(path)))


def _read_records(path: Path, log: ReadLog) -> Iterator[Line]:
    layout, lines = open_records(path, log)
    for line in lines:
        if layout != "document" or not _is_document(line.data):
            yield line
            continue
        parts = (line.data["session"], *as_dicts(line.data["items"]))
        yield from (Line(number, record) for number, record in enumerate(parts, 1))
