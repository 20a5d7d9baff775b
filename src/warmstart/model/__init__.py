"""The nouns everything else is written in: frozen, keyword-only records.

Nothing here opens, prints or decides. What exists once per message, call or session is a
``msgspec.Struct``, fifteen times cheaper to make than a frozen dataclass; change is
``msgspec.structs.replace``. The others are dataclasses.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from warmstart.model.message import Fate, Kind, Message, Request, Result, Role, Tokens
    from warmstart.model.outcome import Certainty, ErrorClass, Outcome, Status
    from warmstart.model.session import Call, Compaction, Link, Parent, Session
else:
    from warmstart._lazy import load_on_use

    __getattr__ = load_on_use(
        __name__,
        {
            "message": ("Fate", "Kind", "Message", "Request", "Result", "Role", "Tokens"),
            "outcome": ("Certainty", "ErrorClass", "Outcome", "Status"),
            "session": ("Call", "Compaction", "Link", "Parent", "Session"),
        },
    )

__all__ = [
    "Call",
    "Certainty",
    "Compaction",
    "ErrorClass",
    "Fate",
    "Kind",
    "Link",
    "Message",
    "Outcome",
    "Parent",
    "Request",
    "Result",
    "Role",
    "Session",
    "Status",
    "Tokens",
]
