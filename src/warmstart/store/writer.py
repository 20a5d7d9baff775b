"""A live transcript and how far it is stored.

An agent flushes its whole list of messages at every exit it has; only what is new is written. The
cursor moves when the transaction is through, and each message bears a key of this writer and its
place, so that even a flush whose answer was lost cannot store anything twice.
"""

from __future__ import annotations

import uuid
from collections.abc import Mapping, Sequence
from typing import Any, Unpack

from warmstart.errors import UsageError
from warmstart.store.messages import AppendResult
from warmstart.store.sessiondb import SessionDB
from warmstart.store.sessions import UNKNOWN_SOURCE, SessionFields


class TranscriptWriter:
    """The one writer of one running agent; a session row appears with the first message."""

    def __init__(
        self,
        db: SessionDB,
        session_id: str,
        source: str = UNKNOWN_SOURCE,
        *,
        stored: int = 0,
        **fields: Unpack[SessionFields],
    ) -> None:
        self._db = db
        self._source = source
        self._fields = fields
        self.cursor = stored
        self.reset(session_id, stored=stored)

    def flush(self, messages: Sequence[Mapping[str, Any]]) -> AppendResult:
        """Store what is new since the last flush, all of it or nothing.

        Raises:
            UsageError: the list is shorter than what is stored already; ``reset`` says from where.
        """
        if len(messages) < self.cursor:
            raise UsageError(
                f"the transcript of {self.session_id!r} has {len(messages)} messages,"
                f" but {self.cursor} are stored already",
                hint="call reset() with the new session id after a compaction",
            )
        new = [self._with_key(messages[at], at) for at in range(self.cursor, len(messages))]
        if not new:
            return AppendResult(0, 0, ())
        result = self._db.append_to(self.session_id, new, self._source, **self._fields)
        self.cursor = len(messages)
        return result

    def reset(self, session_id: str, *, stored: int = 0) -> None:
        """Go on in another session, of whose list the first ``stored`` messages are there."""
        self.session_id = session_id
        self.cursor = stored
        # A new key too: the same place in a compacted list is another message.
        self._key = uuid.uuid4().hex[:12]

    def _with_key(self, message: Mapping[str, Any], at: int) -> dict[str, Any]:
        return {"sequence": f"{self._key}:{at}", **message}
