"""The live session store: nothing lost, nothing twice, on SQLite and PostgreSQL."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from warmstart.store.chats import MAX_KEY_LENGTH, Chat, decode_state
    from warmstart.store.encoding import INSERT_COLUMNS
    from warmstart.store.errors import (
        MessageError,
        StoreBusyError,
        StoreDamagedError,
        StoreError,
        StoreVersionError,
        TitleError,
    )
    from warmstart.store.marks import NO_MARK, WARMUP_MARK, Mark, mark_ending, read_mark
    from warmstart.store.messages import AppendResult, RowId, TranscriptWriter
    from warmstart.store.repair import (
        Backup,
        Damage,
        RepairResult,
        examine,
        find_newest_backup,
        repair_store,
    )
    from warmstart.store.sessiondb import SessionDB
    from warmstart.store.sessions import SessionFields
    from warmstart.store.starts import RecordedStart, Start
    from warmstart.store.template_db import TemplateDB, open_template_db
    from warmstart.store.templates import TemplateRecord, TemplateRow, TemplateVerdict
    from warmstart.store.values import MAX_ID_LENGTH, encode_json, is_storable
    from warmstart.store.verify import ProblemKind, StoreProblem, VerifyReport
else:
    from warmstart._lazy import load_on_use

    __getattr__ = load_on_use(
        __name__,
        {
            "chats": ("MAX_KEY_LENGTH", "Chat", "decode_state"),
            "encoding": ("INSERT_COLUMNS",),
            "errors": (
                "MessageError", "StoreBusyError", "StoreDamagedError", "StoreError",
                "StoreVersionError", "TitleError",
            ),
            "marks": ("NO_MARK", "WARMUP_MARK", "Mark", "mark_ending", "read_mark"),
            "messages": ("AppendResult", "RowId", "TranscriptWriter"),
            "repair": (
                "Backup", "Damage", "RepairResult", "examine", "find_newest_backup", "repair_store",
            ),
            "sessiondb": ("SessionDB",),
            "sessions": ("SessionFields",),
            "starts": ("RecordedStart", "Start"),
            "template_db": ("TemplateDB", "open_template_db"),
            "templates": ("TemplateRecord", "TemplateRow", "TemplateVerdict"),
            "values": ("MAX_ID_LENGTH", "encode_json", "is_storable"),
            "verify": ("StoreProblem", "ProblemKind", "VerifyReport"),
        },
    )  # fmt: skip

__all__ = [
    "INSERT_COLUMNS", "MAX_ID_LENGTH", "MAX_KEY_LENGTH", "NO_MARK", "WARMUP_MARK", "AppendResult",
    "Backup", "Chat", "Damage", "Mark", "MessageError", "ProblemKind", "RecordedStart",
    "RepairResult", "RowId", "SessionDB", "SessionFields", "Start", "StoreBusyError",
    "StoreDamagedError", "StoreError", "StoreProblem", "StoreVersionError", "TemplateDB",
    "TemplateRecord", "TemplateRow", "TemplateVerdict", "TitleError", "TranscriptWriter",
    "VerifyReport", "decode_state", "encode_json", "examine", "find_newest_backup", "is_storable",
    "mark_ending", "open_template_db", "read_mark", "repair_store",
]  # fmt: skip
