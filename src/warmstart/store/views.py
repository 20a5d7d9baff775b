"""Looking into a session at one message: what stood around it, and how it began and ended.

A view is anchored on a row id, as a search gives it. Around an active message stand the active
ones; around one that was compacted away or taken back stands all there was.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from warmstart.store.backend import Row
from warmstart.store.encoding import decode_message
from warmstart.store.messages import SHOWN
from warmstart.store.part import Part, find_one

SPOKEN_ROLES = ("user", "assistant")
View = dict[str, list[Row] | int]


class _Place(NamedTuple):
    session_id: str
    active: str
    """A condition: which messages are looked at."""


class Views(Part):
    """Parts of a session, for one who found a message in it."""

    def get_messages_around(self, session_id: str, around_message_id: int, window: int = 5) -> View:
        """The message with up to ``window`` before and after it, and how many those are.

        Fewer than ``window`` on one side mean that the session begins or ends there; no message
        of that id in the session is an empty window.
        """
        place = self._find_place(session_id, around_message_id)
        if place is None:
            return {"window": [], "messages_before": 0, "messages_after": 0}
        before = self._list_back(place, around_message_id, max(window, 0) + 1)
        after = self._list_on(place, around_message_id, max(window, 0))
        return {
            "window": before + after,
            "messages_before": len(before) - 1,
            "messages_after": len(after),
        }

    def get_anchored_view(
        self,
        session_id: str,
        around_message_id: int,
        window: int = 5,
        bookend: int = 3,
        keep_roles: Sequence[str] | None = SPOKEN_ROLES,
    ) -> View:
        """The same, with the first and the last things said outside of the window.

        Only messages of ``keep_roles`` (None: all) are kept, and the anchor.
        """
        view = self.get_messages_around(session_id, around_message_id, window)
        rows, place = view["window"], self._find_place(session_id, around_message_id)
        if not isinstance(rows, list) or place is None:
            return view | {"bookend_start": [], "bookend_end": []}
        first, last = rows[0]["id"], rows[-1]["id"]
        kept = [r for r in rows if _is_kept(r, keep_roles) or r["id"] == around_message_id]
        said = [
            r for r in self._list_on(place, 0, None) if r["content"] and _is_kept(r, keep_roles)
        ]
        ends = [row for row in said if row["id"] > last]
        return view | {
            "window": kept,
            "bookend_start": [row for row in said if row["id"] < first][:bookend],
            "bookend_end": ends[max(len(ends) - bookend, 0) :],
        }

    def _find_place(self, session_id: str, message_id: int) -> _Place | None:
        sql = "SELECT active FROM messages WHERE session_id = ? AND id = ?"
        row = find_one(self._backend, sql, session_id, message_id)
        if row is None:
            return None
        return _Place(session_id, "active = 1" if row["active"] else "1 = 1")

    def _list_back(self, place: _Place, message_id: int, limit: int) -> list[Row]:
        """The message and those before it, in their order."""
        sql = (
            f"SELECT {SHOWN} FROM messages WHERE session_id = ? AND id <= ? AND {place.active}"
            " ORDER BY id DESC LIMIT ?"
        )
        rows = self._backend.query(sql, (place.session_id, message_id, limit))
        return [decode_message(row) for row in reversed(rows)]

    def _list_on(self, place: _Place, message_id: int, limit: int | None) -> list[Row]:
        """The messages after one."""
        sql = (
            f"SELECT {SHOWN} FROM messages WHERE session_id = ? AND id > ? AND {place.active}"
            " ORDER BY id LIMIT ?"
        )
        most = 1 << 62 if limit is None else limit
        rows = self._backend.query(sql, (place.session_id, message_id, most))
        return [decode_message(row) for row in rows]


def _is_kept(row: Row, roles: Sequence[str] | None) -> bool:
    return roles is None or row["role"] in roles
