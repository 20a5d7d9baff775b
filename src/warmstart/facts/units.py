"""The sessions of a unit as rows of the index: by a lane where its format has one, else read."""

from __future__ import annotations

from collections.abc import Iterator

from warmstart.facts.claude_lane import reduce_conversation
from warmstart.facts.derive import derive_facts
from warmstart.facts.lanes import Unusual
from warmstart.facts.packing import Mask, Packed, keep_texts, list_parts, pack_facts, pack_rows
from warmstart.sources import ReadLog
from warmstart.sources.readers.claude_code import ClaudeCode
from warmstart.sources.scan import Found, carry_on, read_unit

__all__ = ["read_rows"]


def read_rows(
    found: Found, log: ReadLog, *, alone: bool = False, mask: Mask = keep_texts
) -> list[Packed]:
    """Every session of a unit; one that cannot be read is counted, unless it is all there is.

    Raises:
        SourceError: nothing of it could be read, and it is ``alone``.
    """
    if isinstance(found.reader, ClaudeCode):
        rows = carry_on(_reduce(found.reader, found, log, mask), found.unit, log, alone=alone)
    else:
        sessions = read_unit(found, log, alone=alone)
        rows = (pack_facts(derive_facts(session), mask=mask) for session in sessions)
    return [row._replace(ord=float(place)) for place, row in enumerate(rows)]


def _reduce(reader: ClaudeCode, found: Found, log: ReadLog, mask: Mask) -> Iterator[Packed]:
    for conversation in reader.read_conversations(found.unit, log):
        try:
            facts, calls = reduce_conversation(conversation)
        except Unusual:
            yield pack_facts(derive_facts(conversation.finish()), mask=mask)
        else:
            yield pack_rows([list_parts(facts, calls)], mask)[0]
