"""The index of session keys, as a mapping over the database's routing table.

Each access is one indexed row, so a touch costs the same with ten keys and with a hundred thousand.
Looking a key up twice gives the same object, with whatever its holder changed in it, until another
process writes the row: then the row wins. Times are stored in UTC; without a zone in the clock they
come back as the machine's wall clock, which is how entries are made then.
"""

from __future__ import annotations

import logging
from collections import OrderedDict
from collections.abc import Iterator, MutableMapping, ValuesView
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from warmstart.gateway.entry import SessionEntry
from warmstart.gateway.errors import RecordError
from warmstart.gateway.policy import to_utc
from warmstart.store import SessionDB

MAX_HELD = 1024
"""Entries kept in memory so that their holders and the index share one object."""
CLAIM_SUFFIX = "/flush"
"""Claims stand in the same table, in a scope of their own beside the entries."""
_UNSET = (None, False, 0)
logger = logging.getLogger(__name__)


@dataclass(slots=True)
class _Held:
    stored: dict[str, Any]
    entry: SessionEntry


class RouteIndex(MutableMapping[str, SessionEntry]):
    """Session keys and their entries, in one scope of a database."""

    def __init__(self, db: SessionDB, scope: str, *, aware: bool) -> None:
        self._db = db
        self._scope = scope
        self._aware = aware
        self._held: OrderedDict[str, _Held] = OrderedDict()
        self._last: tuple[str, dict[str, Any] | None] = ("", None)
        """The key read last and its row, which may be one that no entry can be made of."""

    def __getitem__(self, session_key: str) -> SessionEntry:
        stored = self._db.get_route(self._scope, session_key)
        self._last = (session_key, stored)
        entry = None if stored is None else self._read(session_key, stored)
        if stored is None or entry is None:
            self._held.pop(session_key, None)
            raise KeyError(session_key)
        self._hold(session_key, stored, entry)
        return entry

    def __setitem__(self, session_key: str, entry: SessionEntry) -> None:
        stored = encode_entry(entry)
        self._db.put_route(self._scope, session_key, stored)
        self._hold(session_key, stored, entry)

    def swap(self, session_key: str, entry: SessionEntry) -> bool:
        """Set the entry of the key read last, unless another process wrote the row since."""
        key, known = self._last
        if key != session_key:
            known = self._db.get_route(self._scope, session_key)
        stored = encode_entry(entry)
        if not self._db.swap_route(self._scope, session_key, known, stored):
            return False
        self._hold(session_key, stored, entry)
        return True

    def claim(self, entry: SessionEntry, until: float, now: float) -> bool:
        """Take the flushing of a session for oneself until a moment; whether nobody else has it."""
        scope = f"{self._scope}{CLAIM_SUFFIX}"
        current = self._db.get_route(scope, entry.session_key)
        is_same = current is not None and current.get("session_id") == entry.session_id
        if current is not None and is_same and current.get("until", 0) > now:
            return False
        wanted = {"session_id": entry.session_id, "until": until}
        return self._db.swap_route(scope, entry.session_key, current, wanted)

    def release(self, entry: SessionEntry) -> None:
        """Let others flush a session again."""
        self._db.delete_route(f"{self._scope}{CLAIM_SUFFIX}", entry.session_key)

    def __delitem__(self, session_key: str) -> None:
        self._held.pop(session_key, None)
        if not self._db.delete_route(self._scope, session_key):
            raise KeyError(session_key)

    def __iter__(self) -> Iterator[str]:
        for session_key, _ in self.list_items():
            yield session_key

    def __len__(self) -> int:
        return self._db.count_routes(self._scope)

    @property
    def read_only(self) -> bool:
        """Whether nothing can be set."""
        return self._db.read_only

    def values(self) -> ValuesView[SessionEntry]:
        """Every entry that can be read, a page of rows at a time."""
        return _Entries(self)

    def find_session(self, session_id: str) -> SessionEntry | None:
        """The entry that leads to a session now."""
        found = self._db.find_route(self._scope, session_id)
        return None if found is None else self._read(*found)

    def write_changes(self) -> int:
        """Store what holders changed in the entries they were given; says how many."""
        changed = [
            held.entry
            for held in list(self._held.values())
            if encode_entry(held.entry) != held.stored
        ]
        for entry in changed:
            self[entry.session_key] = entry
        return len(changed)

    def list_items(self) -> Iterator[tuple[str, SessionEntry]]:
        """Every key and entry that can be read; the others are reported in the log."""
        for session_key, stored in list(self._db.list_routes(self._scope)):
            entry = self._read(session_key, stored)
            if entry is not None:
                yield session_key, entry

    def _read(self, session_key: str, stored: dict[str, Any]) -> SessionEntry | None:
        held = self._held.get(session_key)
        if held is not None and held.stored == stored:
            return held.entry
        try:
            entry = SessionEntry.from_dict(stored)
        except RecordError as error:
            logger.warning("the entry of %r is ignored: %s", session_key, error)
            return None
        if not self._aware:
            entry.created_at = _to_wall(entry.created_at)
            entry.updated_at = _to_wall(entry.updated_at)
        return entry

    def _hold(self, session_key: str, stored: dict[str, Any], entry: SessionEntry) -> None:
        self._held[session_key] = _Held(stored, entry)
        self._held.move_to_end(session_key)
        if len(self._held) > MAX_HELD:
            self._held.popitem(last=False)


class _Entries(ValuesView[SessionEntry]):
    """The entries without asking for each by its key."""

    def __init__(self, index: RouteIndex) -> None:
        super().__init__(index)
        self._index = index

    def __iter__(self) -> Iterator[SessionEntry]:
        for _, entry in self._index.list_items():
            yield entry


def encode_entry(entry: SessionEntry) -> dict[str, Any]:
    """An entry as the database keeps it: times in UTC, so that several machines agree.

    What is not set is left out: half the bytes of a row, an eighth of the time of a touch.
    """
    stored = _drop_unset(entry.to_dict(lambda moment: to_utc(moment).isoformat()))
    if "origin" in stored:
        stored["origin"] = _drop_unset(stored["origin"])
    return stored


def _to_wall(moment: datetime) -> datetime:
    """A moment as the machine's wall clock shows it; four times as fast as ``astimezone``."""
    return datetime.fromtimestamp(moment.timestamp())  # noqa: DTZ006 - that is what is wanted


def _drop_unset(data: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in data.items() if value not in _UNSET}
