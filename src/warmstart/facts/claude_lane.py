"""From the conversations of a Claude Code file to facts, without the messages in between.

Which lines make a message, and whether it counts, is the reader's to say: this begins where it
would build a session. Conversations with anything unusual in them (a warm start, calls without an
id, two open calls under one id) are left to it. What must stay true: for every other one the facts
are those that ``derive_facts`` gives for the session.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Sequence
from functools import lru_cache
from typing import Any, NamedTuple

import orjson

from warmstart.facts.asking import Tool
from warmstart.facts.claude_verdicts import find_verdict
from warmstart.facts.derive import cut_opening
from warmstart.facts.hashes import SORTED, hash_data
from warmstart.facts.lanes import UNANSWERED, Unusual
from warmstart.facts.markers import MarkerCounter
from warmstart.facts.packing import Calls
from warmstart.facts.voice import VoiceCounter
from warmstart.model import Fate, Kind, Role, Tokens
from warmstart.model.facts import SessionFacts
from warmstart.model.warmup import CALL_ID_PREFIX
from warmstart.outcome.tools import command_of
from warmstart.sources.fields import content_text, parse_time
from warmstart.sources.readers._claude_code_thread import Draft, count_tokens
from warmstart.sources.readers._claude_code_transcript import ORIGIN
from warmstart.sources.readers._claude_code_transcript import SessionDraft as Conversation

__all__ = ["Columns", "reduce_conversation"]

_STAMPS = re.compile(r"(?:\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z)*", re.ASCII)
"""Moments as Claude Code writes them: in this form the later one is the greater text."""
_STAMP_CHARS = 24
_Asked = tuple[int, Tool, dict[str, Any], str]
"""The number of a call, its tool, its arguments, and the command line of a shell."""
_LIVE, _ARCHIVED, _REWOUND = Fate.LIVE, Fate.ARCHIVED, Fate.REWOUND
_USER, _TOOL, _TURN = Role.USER, Role.TOOL, Kind.TURN
_dumps = orjson.dumps
_get_tool = lru_cache(maxsize=4096)(Tool)
"""Tools are the same in every file; what was found out about one is kept."""


class Columns(NamedTuple):
    """A session's facts, its calls in columns instead of in ``facts.calls``."""

    facts: SessionFacts
    calls: Calls


def reduce_conversation(conversation: Conversation) -> Columns:
    """The facts of a conversation.

    Raises:
        Unusual: it has to be read as a session.
    """
    drafts = conversation.drafts
    _refuse_warmups(drafts)
    walk = _Walk()
    walk.take(drafts)
    compactions = conversation.thread.compactions
    fields = dict(conversation.fields)
    if fields["started_at"] is None:
        times = (draft.timestamp for draft in drafts)
        fields["started_at"] = next((time for time in times if time is not None), None)
    voice = walk.voice.finish()
    facts = SessionFacts(
        id=f"{ORIGIN}:{conversation.native_id}",
        origin=ORIGIN,
        agent=ORIGIN,
        model=_main_model(walk.models),
        opening=walk.opening,
        ended_at=_last_time(drafts),
        tokens=_sum_tokens(walk.usages),
        messages=walk.size,
        turns=voice.messages,
        compactions=tuple(bisect_left(walk.calls.messages, c.at) for c in compactions),
        markers=walk.markers.finish(),
        voice=voice,
        **fields,
    )
    return Columns(facts, walk.calls)


class _Walk:
    """One pass over the messages, in their order."""

    def __init__(self) -> None:
        self.calls = Calls()
        self.voice = VoiceCounter()
        self.markers = MarkerCounter()
        self.opening = ""
        self.size = 0
        self.models: list[str] = []
        self.usages: list[dict[str, Any]] = []
        self._rows: list[tuple[int, int, int, int, int]] = []
        self._waiting: dict[str, _Asked] = {}

    def take(self, drafts: Sequence[Draft]) -> None:
        """Every message."""
        for where, draft in enumerate(drafts):
            fate, role = draft.fate, draft.role
            counts = fate is _LIVE or fate is _ARCHIVED
            if role is _USER:
                if draft.kind is _TURN:
                    self._hear(draft.text, counts=counts, rewound=fate is _REWOUND)
            elif not counts:
                continue
            elif role is _TOOL:
                for block in draft.answers:
                    self._settle(block, draft)
            else:
                self._note_reply(draft)
                for block in draft.uses:
                    self._ask(block, where)
            self.size += counts
        self.calls.add_rows(self._rows)

    def _hear(self, text: str, *, counts: bool, rewound: bool) -> None:
        """A turn of the user; the opening may also be a copy of another session's."""
        if counts:
            self.voice.add(text)
        if not self.opening and not rewound and text and not text.isspace():
            self.opening = cut_opening(text)

    def _note_reply(self, draft: Draft) -> None:
        if draft.model:
            self.models.append(draft.model)
        if draft.usage.__class__ is dict:
            self.usages.append(draft.usage)

    def _ask(self, block: dict[str, Any], where: int) -> None:
        name, call_id, arguments = block["name"], block.get("id"), block.get("input")
        if arguments.__class__ is not dict or call_id.__class__ is not str or not call_id:
            raise Unusual
        tool = _get_tool(name)
        try:
            data = _dumps(arguments, None, SORTED)
        except TypeError:  # too deep, or a number beyond 64 bits
            raise Unusual from None
        key = (*arguments, *map(type, arguments.values()))
        shape, files, urls = tool.shapes.get(key) or tool.add_shape(key, arguments)
        line = ""
        if tool.is_shell:
            line = command_of(arguments)
            self.markers.lines.append(line)
        elif files or urls:
            self.markers.add_values(arguments, files, urls)
        rows, names = self._rows, self.calls.names
        asked = (len(rows), tool, arguments, line)
        if self._waiting.setdefault(call_id, asked) is not asked:
            raise Unusual
        same = hash_data(data, tool.start)
        number = names.setdefault(name, len(names))
        rows.append((where, self.voice.messages, number, same, shape))
        self.calls.verdicts.append(UNANSWERED)

    def _settle(self, block: dict[str, Any], draft: Draft) -> None:
        call_id = block.get("tool_use_id")
        if call_id.__class__ is not str or not call_id:
            raise Unusual
        asked = self._waiting.pop(call_id, None)
        if asked is not None:
            number, tool, arguments, line = asked
            content = block.get("content")
            text = content if content.__class__ is str else content_text(content)
            is_error = block.get("is_error") is True
            self.calls.verdicts[number] = find_verdict(
                tool, arguments, line, text, is_error=is_error, status=draft.status
            )


def _refuse_warmups(drafts: Sequence[Draft]) -> None:
    """Raise ``Unusual`` where the first call is an example that a warm start put there."""
    first = next((draft for draft in drafts if draft.uses), None)
    if first is not None and any(
        str(block.get("id")).startswith(CALL_ID_PREFIX) for block in first.uses
    ):
        raise Unusual


def _main_model(models: list[str]) -> str | None:
    return Counter(models).most_common(1)[0][0] if models else None


def _sum_tokens(usages: list[dict[str, Any]]) -> Tokens:
    if not usages:
        return Tokens()
    fresh, output, cache_read, cache_write = map(sum, zip(*map(count_tokens, usages), strict=True))
    return Tokens(input=fresh, output=output, cache_read=cache_read, cache_write=cache_write)


def _last_time(drafts: Sequence[Draft]) -> float | None:
    """The latest moment; only that one is worked out where all are written alike."""
    stamps = [draft.stamp for draft in drafts if draft.stamp is not None]
    if set(map(type, stamps)) == {str} and _STAMPS.fullmatch("".join(stamps)):
        time = parse_time(max(stamps))
        if time is not None and set(map(len, stamps)) == {_STAMP_CHARS}:
            return time
    times = map(parse_time, stamps)
    return max((time for time in times if time is not None), default=None)
