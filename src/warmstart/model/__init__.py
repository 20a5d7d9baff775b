"""The nouns everything else is written in: frozen, slotted, keyword-only.

Nothing here opens, prints or decides; change is ``dataclasses.replace``.
"""

from warmstart.model.message import Fate, Kind, Message, Request, Result, Role, Tokens
from warmstart.model.outcome import Certainty, ErrorClass, Outcome, Status
from warmstart.model.session import Call, Compaction, Link, Parent, Session

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
