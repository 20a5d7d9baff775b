"""The live session store: nothing lost, nothing twice, on SQLite and PostgreSQL."""

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
