"""The nouns everything else is written in: frozen, keyword-only records.

Other packages use the names listed here and no module below. Nothing here opens, prints or
decides. What exists once per message, call or session is a ``msgspec.Struct``, fifteen times
cheaper to make than a frozen dataclass; change is ``msgspec.structs.replace``. The others are
dataclasses.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from warmstart.model.facts import CallFact, SessionFacts, StatusCounts, UserStyleCounts
    from warmstart.model.marker import Marker, MarkerKind
    from warmstart.model.message import Fate, Kind, Message, Request, Result, Role, Tokens
    from warmstart.model.outcome import Certainty, ErrorClass, Outcome, Status
    from warmstart.model.selection import Described, Extract, Selection, count_messages, last_active
    from warmstart.model.session import NO_TOKENS, Call, Compaction, Link, Parent, Session
    from warmstart.model.state import Arm, TemplateState
    from warmstart.model.template import (
        ArgumentUse,
        Example,
        Guidance,
        PatternType,
        Provenance,
        Recovery,
        Template,
        ToolArguments,
        UserPatterns,
    )
    from warmstart.model.texts import map_texts
    from warmstart.model.warmup import CALL_ID_PREFIX, WarmUp
else:
    from warmstart._lazy import load_on_use

    __getattr__ = load_on_use(
        __name__,
        {
            "facts": ("CallFact", "SessionFacts", "StatusCounts", "UserStyleCounts"),
            "marker": ("Marker", "MarkerKind"),
            "message": ("Fate", "Kind", "Message", "Request", "Result", "Role", "Tokens"),
            "outcome": ("Certainty", "ErrorClass", "Outcome", "Status"),
            "selection": ("Described", "Extract", "Selection", "count_messages", "last_active"),
            "session": ("Call", "Compaction", "Link", "NO_TOKENS", "Parent", "Session"),
            "state": ("Arm", "TemplateState"),
            "template": (
                "ArgumentUse", "Example", "Guidance", "PatternType", "Provenance", "Recovery",
                "Template", "ToolArguments", "UserPatterns",
            ),
            "texts": ("map_texts",),
            "warmup": ("CALL_ID_PREFIX", "WarmUp"),
        },
    )  # fmt: skip

__all__ = [
    "CALL_ID_PREFIX", "NO_TOKENS", "ArgumentUse", "Arm", "Call", "CallFact", "Certainty",
    "Compaction", "Described", "ErrorClass", "Example", "Extract", "Fate", "Guidance", "Kind",
    "Link", "Marker", "MarkerKind", "Message", "Outcome", "Parent", "PatternType", "Provenance",
    "Recovery", "Request", "Result", "Role", "Selection", "Session", "SessionFacts", "Status",
    "StatusCounts", "Template", "TemplateState", "Tokens", "ToolArguments", "UserPatterns",
    "UserStyleCounts", "WarmUp", "count_messages", "last_active", "map_texts",
]  # fmt: skip
