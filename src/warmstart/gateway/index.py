"""The index of session keys, as a mapping over the database's routing table.

Each access is one indexed row, so a touch costs the same with ten keys and with a hundred thousand.
Looking a key up twice gives the same object, with whatever its holder changed in it, until another
process writes the row: then the row wins. A touch of an entry that is held is one statement, which
changes nothing if the row is not what it was.
"""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import Iterator, MutableMapping, ValuesView
from itertools import islice

from warmstart.gateway.entry import SessionEntry
from warmstart.gateway.entry_row import EntryRow, read_row, write_row
from warmstart.gateway.errors import RecordError
from warmstart.store import SessionDB
from warmstart.store.route_texts import RouteText

MAX_HELD = 100_000
"""Entries kept in memory so that their holders and the index share one object: 1.3 kB each."""
MAX_RECENT = 1024
"""Lookups after which a holder is taken to be done with an entry and to have saved it."""
CLAIM_SUFFIX = "/flush"
"""Claims stand in the same table, in a scope of their own beside the entries."""
logger = logging.getLogger(__name__)


class RouteIndex(MutableMapping[str, SessionEntry]):
    """Session keys and their entries, in one scope of a database."""

    def __init__(self, db: SessionDB, scope: str, *, aware: bool) -> None:
        self._db = db
        self._scope = scope
        self._aware = aware
        self._held: dict[str, EntryRow] = {}
        self._recent: deque[str] = deque(maxlen=MAX_RECENT)
        self._last: tuple[str, str | None] = ("", None)
        """The key looked up last and its text, which may be one that no entry can be made of."""

    def __getitem__(self, session_key: str) -> SessionEntry:
        text = self._db.find_route_text(self._scope, session_key)
        self._last = (session_key, text)
        row = None if text is None else self._read(session_key, text)
        if row is None:
            self._held.pop(session_key, None)
            raise KeyError(session_key)
        self._hold(session_key, row)
        return row.entry

    def __setitem__(self, session_key: str, entry: SessionEntry) -> None:
        row = write_row(entry)
        self._db.put_route_text(self._scope, session_key, RouteText(row.session_id, row.text))
        self._hold(session_key, row)

    def recall(self, session_key: str) -> SessionEntry | None:
        """The entry of a key as it was known last: only for one who then swaps it."""
        held = self._held.get(session_key)
        if held is None:
            return self.get(session_key)
        self._last = (session_key, held.text)
        return held.entry

    def swap(self, session_key: str, entry: SessionEntry) -> bool:
        """Set the entry of the key looked up last, unless another process wrote the row since."""
        key, known = self._last
        if key != session_key:
            known = self._db.find_route_text(self._scope, session_key)
        held = self._held.get(session_key)
        row = held.renew() if held is not None and held.entry is entry else write_row(entry)
        if held is not None and held.text == known and held.session_id == row.session_id:
            is_done = self._db.touch_route_text(self._scope, session_key, known, row.text)
        else:
            leading = RouteText(row.session_id, row.text)
            is_done = self._db.swap_route_text(self._scope, session_key, known, leading)
        if is_done:
            self._hold(session_key, row)
        else:
            self._held.pop(session_key, None)
        self._last = ("", None)
        return is_done

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
        found = self._db.find_session_route(self._scope, session_id)
        row = None if found is None else self._read(*found)
        return None if row is None else row.entry

    def write_changes(self) -> int:
        """Store what holders changed in the entries they were given; says how many."""
        rows = [self._held[key] for key in dict.fromkeys(self._recent) if key in self._held]
        changed = [row.entry for row in rows if row.is_changed]
        for entry in changed:
            self[entry.session_key] = entry
        return len(changed)

    def list_items(self) -> Iterator[tuple[str, SessionEntry]]:
        """Every key and entry that can be read; the others are reported in the log."""
        for session_key, text in list(self._db.list_route_texts(self._scope)):
            row = self._read(session_key, text)
            if row is not None:
                yield session_key, row.entry

    def _read(self, session_key: str, text: str) -> EntryRow | None:
        held = self._held.get(session_key)
        if held is not None and held.text == text:
            return held
        try:
            return read_row(text, aware=self._aware)
        except RecordError as error:
            logger.warning("the entry of %r is ignored: %s", session_key, error)
            return None

    def _hold(self, session_key: str, row: EntryRow) -> None:
        self._held[session_key] = row
        self._recent.append(session_key)
        if len(self._held) > MAX_HELD:
            recent = set(self._recent)
            oldest = list(islice(self._held, MAX_HELD // 2))
            for key in filter(lambda key: key not in recent, oldest):
                del self._held[key]


class _Entries(ValuesView[SessionEntry]):
    """The entries without asking for each by its key."""

    def __init__(self, index: RouteIndex) -> None:
        super().__init__(index)
        self._index = index

    def __iter__(self) -> Iterator[SessionEntry]:
        for _, entry in self._index.list_items():
            yield entry
