"""The sessions of a chat gateway, as documents."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from warmstart.present.document import Block, Column, Document, Table, Text
from warmstart.present.text import count, local_time

if TYPE_CHECKING:
    from warmstart.app import ChatSession, FlushRound

__all__ = ["chats_document", "describe_flush", "flush_document", "keys_document", "moved_document"]

SCHEMA_VERSION = 1
CHATS = (
    Column("SESSION"),
    Column("UPDATED"),
    Column("STATE"),
    Column("TOKENS", right=True),
    Column("NAME", 24),
    Column("KEY"),
)


def keys_document(chats: Sequence[ChatSession]) -> Document:
    """Session keys with the session each leads to now."""
    rows = sorted((chat.key, chat.session_id) for chat in chats)
    table = Table(columns=(Column("KEY", 60), Column("SESSION")), rows=rows)
    return Document(
        title="",
        blocks=[table] if rows else [],
        data={"schema_version": SCHEMA_VERSION, "keys": dict(rows)},
    )


def chats_document(chats: Sequence[ChatSession]) -> Document:
    """The sessions people are in, one line each."""
    return Document(
        title="",
        blocks=_show_chats(chats),
        data={"schema_version": SCHEMA_VERSION, "sessions": [chat.record for chat in chats]},
    )


def _show_chats(chats: Sequence[ChatSession]) -> list[Block]:
    rows = [
        (chat.session_id, local_time(chat.updated_at), chat.state, f"{chat.tokens:,}",
         chat.name or "-", chat.key)
        for chat in chats
    ]  # fmt: skip
    return [Table(columns=CHATS, rows=rows)] if rows else []


def moved_document(chat: ChatSession) -> Document:
    """The session that a key leads to after it was reset or switched."""
    return Document(
        title="",
        blocks=[Text(f"{chat.key}  {chat.session_id}", whole=True)],
        data={"schema_version": SCHEMA_VERSION, "session": chat.record},
    )


def flush_document(one: FlushRound) -> Document:
    """The sessions past their reset policy in one look, and which were flushed."""
    done = one.done
    return Document(
        title="",
        blocks=_show_chats(one.ended),
        data={
            "schema_version": SCHEMA_VERSION,
            "sessions": [chat.record for chat in one.ended],
            "flushed": list(done.flushed) if done else [],
            "failed": list(done.failed) if done else [],
        },
    )


def describe_flush(one: FlushRound) -> str:
    """How many sessions one look found and flushed."""
    found = f"{count(len(one.ended), 'session')} past the policy"
    done = one.done
    return found + (f", {len(done.flushed)} flushed, {len(done.failed)} failed" if done else "")
