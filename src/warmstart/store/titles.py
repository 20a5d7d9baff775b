"""Titles: short, clean, and each on one session only."""

from __future__ import annotations

import re
import unicodedata

from warmstart.store.backend import Row
from warmstart.store.errors import TitleError
from warmstart.store.part import Part, escape_like, find_one
from warmstart.store.sessions import decode_session

MAX_TITLE_LENGTH = 100
NUMBERED = re.compile(r"(.*?) #(\d+)")


class Titles(Part):
    """Naming sessions and finding them by name."""

    MAX_TITLE_LENGTH = MAX_TITLE_LENGTH

    @staticmethod
    def sanitize_title(title: str | None) -> str | None:
        """The title without control and invisible characters, spaces made single; None if empty."""
        if not title:
            return None
        spaced = re.sub(r"\s+", " ", title)
        shown = "".join(
            one for one in spaced if unicodedata.category(one) not in ("Cc", "Cf", "Cs")
        )
        clean = re.sub(r" +", " ", shown).strip()
        if len(clean) > MAX_TITLE_LENGTH:
            raise TitleError(f"title too long: {len(clean)} characters, at most {MAX_TITLE_LENGTH}")
        return clean or None

    def set_session_title(self, session_id: str, title: str | None) -> bool:
        """Set or clear the title; whether there is such a session.

        Raises:
            TitleError: another session has it.
        """
        clean = self.sanitize_title(title)
        return self._backend.write(lambda: self._set(session_id, clean))

    def set_title(self, session_id: str, title: str | None) -> bool:
        """Set or clear the title; the short name."""
        return self.set_session_title(session_id, title)

    def get_session_title(self, session_id: str) -> str | None:
        """The title, or None."""
        row = find_one(self._backend, "SELECT title FROM sessions WHERE id = ?", session_id)
        return row["title"] if row else None

    def get_session_by_title(self, title: str) -> Row | None:
        """The session with exactly this title."""
        row = find_one(self._backend, "SELECT * FROM sessions WHERE title = ?", title)
        return decode_session(row) if row else None

    def resolve_session_by_title(self, title: str) -> str | None:
        """The id of the newest session in the line of ``title``, ``title #2``, ..."""
        rows = self._lineage(title)
        return max(rows, key=_number)["id"] if rows else None

    def get_next_title_in_lineage(self, base_title: str) -> str:
        """The title a continuation gets: ``title #2`` after ``title``."""
        numbered = NUMBERED.fullmatch(base_title)
        base = numbered[1] if numbered else base_title
        rows = self._lineage(base)
        return f"{base} #{max(map(_number, rows)) + 1}" if rows else base

    def _set(self, session_id: str, title: str | None) -> bool:
        sql = "SELECT id FROM sessions WHERE title = ? AND id <> ?"
        other = find_one(self._backend, sql, title, session_id) if title else None
        if other:
            raise TitleError(f"title {title!r} is already in use by session {other['id']}")
        sql = "UPDATE sessions SET title = ? WHERE id = ?"
        return bool(self._backend.execute(sql, (title, session_id)))

    def _lineage(self, base: str) -> list[Row]:
        rows = self._backend.query(
            "SELECT id, title FROM sessions WHERE title = ? OR title LIKE ? ESCAPE '\\'",
            (base, escape_like(base) + " #%"),
        )
        return [row for row in rows if row["title"] == base or _base(row) == base]


def _base(row: Row) -> str | None:
    numbered = NUMBERED.fullmatch(row["title"])
    return numbered[1] if numbered else None


def _number(row: Row) -> int:
    numbered = NUMBERED.fullmatch(row["title"])
    return int(numbered[2]) if numbered else 1
