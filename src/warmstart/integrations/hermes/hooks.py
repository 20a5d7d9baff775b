"""What Hermes tells while a session runs: how it begins, each call, and its end.

At the session's end its start is settled, once, with what the transcript says: the same reading,
judge and rule for success as in ``warmstart sync``. Hermes runs reviews of its own under the id of
a session and keeps them out of its transcript, so the transcript is the better witness. Calls are
also judged and counted as they come; that settles a session of which Hermes keeps no transcript.
Where neither is available, or Hermes does not report the end, ``warmstart sync`` settles it.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from warmstart.integrations.hermes.middleware import AGENT
from warmstart.integrations.hermes.quiet import quietly
from warmstart.integrations.hermes.sessions import Conversation, Sessions, Turn

if TYPE_CHECKING:
    from warmstart.app import Workspace
    from warmstart.model import Session

MAX_MESSAGE_CHARS = 20_000
GOES_ON = ("gateway", "shutdown")
"""Platform and reason of a gateway that stops: its sessions go on when it is back."""


class _JudgedCall(NamedTuple):
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


def _judge(tool: str, args: Any, result: Any) -> _JudgedCall:
    from warmstart.app import (  # noqa: PLC0415 - only where it is needed
        judge,
        judge_success,
    )
    from warmstart.model import Call, Request, Result, Session, Status  # noqa: PLC0415 - first call

    given = dict(args) if isinstance(args, Mapping) else {}
    text = result if isinstance(result, str) else json.dumps(result, default=str)
    request, back = Request(tool=tool, arguments=given), Result(text=text)
    outcome = judge(request, back, AGENT)
    call = Call(request=request, result=back, outcome=outcome, position=0, message=0)
    alone = Session(origin=AGENT, native_id="", agent=AGENT, calls=(call,))
    return _JudgedCall(outcome.status is Status.ERROR, judge_success(alone))


def _settle_start(session_id: str, start: int, found: Conversation) -> None:
    from warmstart.app import (  # noqa: PLC0415 - same
        StartOutcome,
        Workspace,
        settle_start,
    )
    from warmstart.integrations.hermes.opening import open_soon  # noqa: PLC0415 - once per session

    workspace = Workspace.open()
    said = _read_outcome(workspace, session_id)
    if said is None and found.is_whole:
        said = (found.calls, found.errors, found.success)
    if said is not None:
        with open_soon(workspace) as library:
            settle_start(library, start, StartOutcome(f"{AGENT}:{session_id}", *said))


def _read_outcome(workspace: Workspace, session_id: str) -> tuple[int, int, bool | None] | None:
    """Calls, errors and success by the transcript; None where there is none to be read."""
    from warmstart.app import judge_success  # noqa: PLC0415 - same
    from warmstart.model import Status  # noqa: PLC0415 - once per session

    for session in _find_transcripts(workspace, session_id):
        if session.messages:  # without any, Hermes knows no such session
            errors = sum(call.outcome.status is Status.ERROR for call in session.calls)
            return len(session.calls), errors, judge_success(session)
    return None


def _find_transcripts(workspace: Workspace, session_id: str) -> Iterator[Session]:
    """Read by id alone: looking through a store of 11,000 sessions for it takes 180 ms."""
    from warmstart.app import (  # noqa: PLC0415 - once per session
        FoundUnit,
        ReadLog,
        Unit,
        get_reader,
        read_unit,
    )

    reader = get_reader(AGENT)
    for store in workspace.find_stores():
        if store.reader == AGENT:
            yield from read_unit(
                FoundUnit(reader, Unit(path=store.path, key=session_id)), ReadLog(), alone=False
            )


__all__ = ["Hooks"]
