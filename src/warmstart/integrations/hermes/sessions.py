"""What this process knows of the sessions it serves: what each one got, and how it goes.

A gateway serves many sessions from many threads, so everything is behind one lock and the oldest
sessions are forgotten; what was decided for them is in the store and in the home, and is found
again.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from warmstart.model import WarmUp

MAX_SESSIONS = 512
MAX_CALL_IDS = 20_000
"""Ids kept of one session to count a call once."""


class Turn(NamedTuple):
    """The beginning of a turn, as Hermes announced it."""

    message: str
    is_first: bool


class Conversation:
    """One session: decided once, then only counted."""

    __slots__ = ("_seen", "calls", "errors", "is_whole", "start", "success", "warmup")

    def __init__(
        self, warmup: WarmUp | None = None, start: int | None = None, *, is_whole: bool = True
    ) -> None:
        self.warmup = warmup
        """What its requests get; None for a cold one."""
        self.start = start
        """Its row in the store, while this process may still settle it."""
        self.is_whole = is_whole
        """Whether this process saw the session begin, so that the counts are all there are."""
        self.calls = 0
        self.errors = 0
        self.success: bool | None = None
        """Whether the last test run passed; None if there was none."""
        self._seen: set[str] = set()

    def is_new_call(self, call_id: str) -> bool:
        """Whether a call was not reported before; calls without an id always count."""
        if not call_id:
            return True
        if call_id in self._seen:
            return False
        if len(self._seen) < MAX_CALL_IDS:
            self._seen.add(call_id)
        return True


class Sessions:
    """Conversations by Hermes' own session id."""

    def __init__(self, limit: int = MAX_SESSIONS) -> None:
        self.lock = threading.RLock()
        """Held for a moment, while counts and decisions are read or written."""
        self.deciding = threading.Lock()
        """Held while a session is decided, so that it is decided once; that may take a while."""
        self._limit = limit
        self._known: OrderedDict[str, Conversation] = OrderedDict()
        self._turns: OrderedDict[str, Turn] = OrderedDict()

    def find(self, session_id: str) -> Conversation | None:
        """What was decided for a session, if it was."""
        return self._known.get(session_id)

    def add(self, session_id: str, conversation: Conversation) -> Conversation:
        """Remember a decision."""
        with self.lock:
            self._known[session_id] = conversation
            self._turns.pop(session_id, None)
            while len(self._known) > self._limit:
                self._known.popitem(last=False)
        return conversation

    def announce(self, session_id: str, turn: Turn) -> None:
        """Remember how an undecided session begins."""
        with self.lock:
            if session_id not in self._known:
                self._turns[session_id] = turn
                while len(self._turns) > self._limit:
                    self._turns.popitem(last=False)

    def find_turn(self, session_id: str) -> Turn | None:
        """The beginning of an undecided session, if Hermes announced it."""
        return self._turns.get(session_id)


__all__ = ["Conversation", "Sessions", "Turn"]
