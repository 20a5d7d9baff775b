"""The live session store: nothing lost, nothing twice, on SQLite and PostgreSQL."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from warmstart.store.errors import (
        MessageError,
        StoreBusyError,
        StoreError,
        StoreVersionError,
        TitleError,
    )
    from warmstart.store.messages import AppendResult, RowId
    from warmstart.store.sessiondb import SessionDB
    from warmstart.store.verify import Problem, ProblemKind, VerifyReport
    from warmstart.store.writer import TranscriptWriter
else:
    from warmstart._lazy import load_on_use

    __getattr__ = load_on_use(
        __name__,
        {
            "errors": (
                "MessageError",
                "StoreBusyError",
                "StoreError",
                "StoreVersionError",
                "TitleError",
            ),
            "messages": ("AppendResult", "RowId"),
            "sessiondb": ("SessionDB",),
            "verify": ("Problem", "ProblemKind", "VerifyReport"),
            "writer": ("TranscriptWriter",),
        },
    )

__all__ = [
    "AppendResult",
    "MessageError",
    "Problem",
    "ProblemKind",
    "RowId",
    "SessionDB",
    "StoreBusyError",
    "StoreError",
    "StoreVersionError",
    "TitleError",
    "TranscriptWriter",
    "VerifyReport",
]
