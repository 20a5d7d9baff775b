"""Each request on its way to the model: what the session got at its start goes in front.

A session is decided once, at its first request: chosen, held out, or left cold. From then on every
request gets the same bytes, in this process and in any later one that resumes the session. A
session that already has a history when it is met first began without us and stays as it is.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from warmstart.integrations.hermes.quiet import quietly, warn_once
from warmstart.integrations.hermes.sessions import Conversation, Sessions

if TYPE_CHECKING:
    from warmstart.app import Codec, RecordedStart, Workspace
    from warmstart.integrations.hermes.settings import HermesConfig
    from warmstart.model import WarmUp

AGENT = "hermes"
FORM = "hermes-plugin"


class Meeting(NamedTuple):
    """A session's first request here."""

    session_id: str
    request: Mapping[str, Any]
    codec: Codec
    platform: str
    model: Any


class Middleware:
    """Hermes' ``llm_request`` middleware."""

    def __init__(self, sessions: Sessions) -> None:
        self._sessions = sessions

    @quietly
    def rewrite(
        self, *, request: Any = None, session_id: Any = "", api_mode: Any = "", **context: Any
    ) -> dict[str, Any] | None:
        """The request to send instead; None for as it is."""
        if not (isinstance(request, Mapping) and isinstance(session_id, str) and session_id):
            return None
        known = self._sessions.find(session_id)
        if known is not None and known.warmup is None:
            return None
        from warmstart.integrations.hermes import placing  # noqa: PLC0415 - with the first request

        codec = placing.find_form(request, str(api_mode or ""))
        if codec is None:
            warn_once("sessions through this API start cold: %r", api_mode)
            return None
        platform, model = str(context.get("platform") or ""), context.get("model")
        meeting = Meeting(session_id, request, codec, platform, model)
        warmup = (known or self._meet(meeting)).warmup
        if warmup is None:
            return None
        return {"request": placing.place(request, warmup, codec), "source": "warmstart"}

    def _meet(self, meeting: Meeting) -> Conversation:
        """Decide a session, once; where that fails it is cold, and stays so."""
        with self._sessions.deciding:
            known = self._sessions.find(meeting.session_id)
            if known is not None:
                return known
            decided = self._decide(meeting) or Conversation()
            return self._sessions.add(meeting.session_id, decided)

    @quietly
    def _decide(self, meeting: Meeting) -> Conversation:
        from warmstart.app import Workspace  # noqa: PLC0415 - same
        from warmstart.integrations.hermes.settings import (  # noqa: PLC0415 - once per session
            load_hermes_config,
        )

        if os.environ.get("WARMSTART_STARTED") == AGENT:
            return Conversation()  # ``warmstart run`` decided, be it to stay cold
        workspace = Workspace.open()
        config = load_hermes_config(workspace)
        source = os.environ.get("HERMES_SESSION_SOURCE", "")
        if config.is_cold(meeting.platform, source):
            return Conversation()
        return _find_again(workspace, meeting.session_id) or self._begin(workspace, config, meeting)

    def _begin(self, workspace: Workspace, config: HermesConfig, meeting: Meeting) -> Conversation:
        from warmstart.app import is_warm  # noqa: PLC0415 - same
        from warmstart.integrations.hermes.placing import (  # noqa: PLC0415 - once per session
            find_message,
            has_history,
        )

        prompt = meeting.codec.decode_request(meeting.request)
        turn = self._sessions.find_turn(meeting.session_id)
        is_old = not turn.is_first if turn else has_history(prompt)
        message = (turn.message if turn else "") or find_message(prompt)
        if is_old:
            return _find_launched(workspace, meeting.session_id) or Conversation()
        if not message or is_warm(prompt):
            return Conversation()
        return _start(workspace, config, meeting, message)


def _find_again(workspace: Workspace, session_id: str) -> Conversation | None:
    """A session that was decided before this process; None if it was not."""
    from warmstart.app import find_start  # noqa: PLC0415 - same
    from warmstart.integrations.kept import find_warmup  # noqa: PLC0415 - once per session

    warmup = find_warmup(workspace, AGENT, session_id)
    start = find_start(workspace, AGENT, session_id)
    return _go_on(warmup, start) if warmup or start else None


def _find_launched(workspace: Workspace, session_id: str) -> Conversation | None:
    """A session that ``warmstart run`` started, before Hermes had given it its id."""
    from warmstart.app import find_first_start  # noqa: PLC0415 - same
    from warmstart.integrations.kept import (  # noqa: PLC0415 - once per session
        find_warmup,
        keep_warmup,
        name_start,
    )

    start = find_first_start(workspace, AGENT, session_id)
    warmup = find_warmup(workspace, AGENT, name_start(start.id)) if start else None
    if warmup is not None:
        quietly(keep_warmup)(workspace, AGENT, session_id, warmup)
    return _go_on(warmup, start) if start else None


def _go_on(warmup: WarmUp | None, start: RecordedStart | None) -> Conversation:
    is_open = start is not None and start.settled_at is None
    return Conversation(warmup, start.id if start and is_open else None, is_whole=False)


def _start(
    workspace: Workspace, config: HermesConfig, meeting: Meeting, message: str
) -> Conversation:
    from warmstart.app import StartRequest, prepare_start  # noqa: PLC0415 - same
    from warmstart.integrations.hermes.opening import open_soon  # noqa: PLC0415 - same
    from warmstart.integrations.hermes.placing import list_tools  # noqa: PLC0415 - same
    from warmstart.integrations.kept import keep_warmup  # noqa: PLC0415 - same

    request = StartRequest(
        message=message,
        agent=AGENT,
        model=meeting.model if isinstance(meeting.model, str) else None,
        tools=list_tools(meeting.codec.decode_request(meeting.request)),
        template=config.template,
        cwd=os.environ.get("TERMINAL_CWD") or os.getcwd(),  # noqa: PTH109 - a text is wanted
        seed=meeting.session_id,
        form=FORM,
        native_id=meeting.session_id,
    )
    with open_soon(workspace) as library:
        prepared = prepare_start(workspace, request, library=library)
    if not prepared.is_warm:
        return Conversation(start=prepared.start)
    quietly(keep_warmup)(workspace, AGENT, meeting.session_id, prepared.warmup)
    return Conversation(prepared.warmup, prepared.start)


__all__ = ["AGENT", "FORM", "Meeting", "Middleware"]
