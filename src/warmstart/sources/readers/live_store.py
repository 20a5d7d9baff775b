"""warmstart live store: the database that agents and gateways write to while they run.

It keeps Hermes' columns on purpose, so the same code reads both; what differs is whose sessions
they are. PostgreSQL stores are not files and are not read here.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from msgspec.structs import replace

from warmstart.model import Parent, Session
from warmstart.sources.log import ReadLog
from warmstart.sources.reader import Probe, Unit
from warmstart.sources.readers.hermes import Hermes
from warmstart.sources.sqlite import DatabaseReader
from warmstart.sources.sqlite_guard import GuardedConnection

OWN_TABLES = frozenset({"sessions", "messages", "schema_version"})
CHAT_TABLES = frozenset({"chats", "routes"})
"""Its table of chats, by the name it has and the one it had until schema 4."""
_HERMES = Hermes()


class LiveStore(DatabaseReader):
    """warmstart's own store, as a file."""

    name = "live_store"
    title = "warmstart live store"

    def recognises(self, probe: Probe) -> bool:
        """A database with the store's own tables."""
        return probe.tables >= OWN_TABLES and not CHAT_TABLES.isdisjoint(probe.tables)

    def units(self, path: Path, log: ReadLog) -> Iterator[Unit]:
        """One unit per session."""
        return _HERMES.units(path, log)

    def measure(self, path: Path, keys: Iterable[str] | None = None) -> dict[str, str]:
        """How much each session of a database holds, or each of some."""
        return _HERMES.measure(path, keys)

    def read_rows(
        self, connection: GuardedConnection, unit: Unit, log: ReadLog
    ) -> Iterator[Session]:
        """The one session of a unit."""
        for session in _HERMES.read_rows(connection, unit, log):
            yield replace(
                session, origin=self.name, agent=self.name, parent=self._rename(session.parent)
            )

    def _rename(self, parent: Parent | None) -> Parent | None:
        if parent is None:
            return None
        return replace(parent, id=f"{self.name}:{parent.id.partition(':')[2]}")
