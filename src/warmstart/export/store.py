"""A session as the live store takes it in: ``{"id", "source", …, "messages": [...]}``.

Calls are paired with their results as for any provider, so what was imported can be continued by
an agent. The id is the full one, so that importing twice changes nothing.
"""

from __future__ import annotations

from typing import Any

from warmstart.export.openai import list_messages
from warmstart.model import Session


def export_store(session: Session) -> dict[str, Any]:
    """A session as ``SessionDB.import_sessions`` reads it."""
    moment = session.started_at or session.ended_at or 0.0
    fields = {
        "id": session.id,
        "source": session.agent,
        "model": session.model,
        "cwd": session.project,
        "git_branch": session.git_branch,
        "started_at": moment,
        "ended_at": session.ended_at or moment,
        "end_reason": session.end_reason or "imported",
        "messages": [{**message, "timestamp": moment} for message in list_messages(session)],
    }
    return {name: value for name, value in fields.items() if value is not None}
