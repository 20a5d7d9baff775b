"""What Hermes tells while a session runs: how it begins, each call, and its end.

Calls are judged as they come, by the same judge that reads transcripts, and test runs say whether
the task was done, by the same rule as in ``warmstart sync``. At the session's end the
start is settled with what was counted, once; a session this process did not see from its
beginning, or whose end nobody tells, is left to ``warmstart sync``, which reads the transcript.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from warmstart.integrations.hermes.middleware import AGENT
from warmstart.integrations.hermes.quiet import quietly
from warmstart.integrations.hermes.sessions import Conversation, Sessions, Turn

MAX_MESSAGE_CHARS = 20_000
GOES_ON = ("gateway", "shutdown")
"""Platform and reason of a gateway that stops: its sessions go on when it is back."""


class _Judged(NamedTuple):
    failed: bool
    success: bool | None
    """What a test run says of the task; None for every other call."""


class Hooks:
    """Callbacks that only listen; Hermes gets None from every one of them."""

    def __init__(self, sessions: Sessions) -> None:
        self._sessions = sessions

    def table(self) -> dict[str, Callable[..., None]]:
        """Callbacks by the name of their hook."""
        return {
            "pre_llm_call": self.begin_turn,
            "post_tool_call": self.count_call,
            "on_session_finalize": self.end_session,
            "on_session_reset": self.reset_session,
        }

    def begin_turn(
        self,
        *,
        session_id: Any = "",
        user_message: Any = "",
        is_first_turn: Any = False,
        **_: Any,
    ) -> None:
        """The user's own words, before anything is added to them."""
        if isinstance(session_id, str) and session_id:
            text = user_message[:MAX_MESSAGE_CHARS] if isinstance(user_message, str) else ""
            self._sessions.announce(session_id, Turn(text.strip(), bool(is_first_turn)))

    @quietly
    def count_call(
        self,
        *,
        session_id: Any = "",
        tool_name: Any = "",
        args: Any = None,
        result: Any = "",
        tool_call_id: Any = "",
        **_: Any,
    ) -> None:
        """One call and its result."""
        found = self._sessions.find(session_id) if isinstance(session_id, str) else None
        if found is None or found.start is None:
            return
        judged = _judge(str(tool_name), args, result)
        with self._sessions.lock:
            if found.is_new_call(tool_call_id if isinstance(tool_call_id, str) else ""):
                found.calls += 1
                found.errors += judged.failed
                found.success = found.success if judged.success is None else judged.success

    @quietly
    def end_session(
        self, *, session_id: Any = "", platform: Any = "", reason: Any = "", **_: Any
    ) -> None:
        """A session is over."""
        if isinstance(session_id, str) and session_id and (platform, reason) != GOES_ON:
            self._settle(session_id)

    @quietly
    def reset_session(self, *, old_session_id: Any = "", **_: Any) -> None:
        """Another session took its place."""
        if isinstance(old_session_id, str) and old_session_id:
            self._settle(old_session_id)

    def _settle(self, session_id: str) -> None:
        with self._sessions.lock:
            found = self._sessions.find(session_id)
            start = found.start if found else None
            if found is None or start is None:
                return
            found.start = None  # whatever becomes of this try, sync has the rest
        _settle_start(session_id, start, found)


def _judge(tool: str, args: Any, result: Any) -> _Judged:
    from warmstart.model import Call, Request, Result, Session, Status  # noqa: PLC0415 - first call
    from warmstart.outcome import judge  # noqa: PLC0415 - same
    from warmstart.workspace.checks import judge_success  # noqa: PLC0415 - same

    given = dict(args) if isinstance(args, Mapping) else {}
    text = result if isinstance(result, str) else json.dumps(result, default=str)
    request, back = Request(tool=tool, arguments=given), Result(text=text)
    outcome = judge(request, back, AGENT)
    call = Call(request=request, result=back, outcome=outcome, position=0, message=0)
    alone = Session(origin=AGENT, native_id="", agent=AGENT, calls=(call,))
    return _Judged(outcome.status is Status.ERROR, judge_success(alone))


def _settle_start(session_id: str, start: int, found: Conversation) -> None:
    from warmstart.workspace import Workspace  # noqa: PLC0415 - once per session
    from warmstart.workspace.templates import (  # noqa: PLC0415 - same
        Outcome,
        open_library,
        settle_start,
    )

    said = Outcome(f"{AGENT}:{session_id}", found.calls, found.errors, found.success)
    with open_library(Workspace.open()) as library:
        settle_start(library, start, said)


__all__ = ["Hooks"]
