"""Lines of a Claude Code file, of which only what is used is parsed.

Nearly half of all bytes are lines that show progress, and details of results that the model
never saw. Both are recognised by bytes that can stand in one place of a valid line only: a quote
behind a comma, followed by a name, opens a name; what stands before the first inner brace, and
flat values up to the closing one, belong to the line itself. Any line that looks different is
parsed whole. What is left out is not checked either: damage in it costs nothing.
"""

from __future__ import annotations

import re
from typing import Any

from warmstart.sources.json_text import has_too_many_values, parse_strictly

__all__ = ["parse_known", "read_progress"]

_PROGRESS_TYPE = b',"type":"progress","data":'
_PROGRESS_OPENING = re.compile(rb'\{"parentUuid":"([0-9a-f-]{36})","isSidechain":false,')
_PROGRESS_ENDING = re.compile(
    rb',"uuid":"([0-9a-f-]{36})","timestamp":"[^"\\]{24}"\}\n\Z'
    rb'|,"timestamp":"[^"\\]{24}","uuid":"([0-9a-f-]{36})"\}\n\Z'
)
_PROGRESS_ENDING_BYTES = 87
_LONG_BYTES = 3000
"""Shorter lines are parsed faster than they are looked through."""
_TAIL_BYTES = 1000
_DETAILS = b',"toolUseResult":{'
_SOURCE = b'},"sourceToolAssistantUUID":"'
_BEHIND_DETAILS = re.compile(
    rb'\}(,"sourceToolAssistantUUID":"[^"\\]*"(?:,"\w+":(?:"[^"\\]*"|true|false|null))*\}\n\Z)'
)
_DETAILS_OPENINGS = (b'"filePath":"', b'"type":"text","file":{')
_DETAILS_ENDING = re.compile(rb'"(?:replaceAll":(?:true|false)|totalLines":\d{1,9}\})\Z')
"""How the details of an edit and of a file that was read begin and end. Both are large; neither
has the one field that counts, which says that a command was interrupted."""
_ENDING_BYTES = 24


def read_progress(line: bytes) -> tuple[str, str] | None:
    """Uuid and parent of a line that only shows progress; None for any line to be parsed."""
    if not line.endswith(_PROGRESS_TYPE, 0, line.find(b"{", 1)):
        return None
    opening = _PROGRESS_OPENING.match(line)
    ending = _PROGRESS_ENDING.match(line, len(line) - _PROGRESS_ENDING_BYTES)
    if opening is None or ending is None:
        return None
    return (ending[1] or ending[2]).decode(), opening[1].decode()


def parse_known(line: bytes) -> dict[str, Any] | None:
    """The object on a line, perhaps without details nobody reads; None where it takes more."""
    if len(line) > _LONG_BYTES:
        if has_too_many_values(line):
            return None
        line = _leave_out_details(line)
    data = parse_strictly(line)
    return data if data.__class__ is dict else None


def _leave_out_details(line: bytes) -> bytes:
    """The line without what an edit or a read file looked like to the harness.

    Where the details are not a field of the line itself, what is returned is no JSON.
    """
    end = line.rfind(_SOURCE, len(line) - _TAIL_BYTES)
    if end < 0 or not _DETAILS_ENDING.search(line, end - _ENDING_BYTES, end):
        return line
    start = line.find(_DETAILS, 0, end)
    behind = _BEHIND_DETAILS.match(line, end)
    if start < 0 or behind is None:
        return line
    is_known = line.startswith(_DETAILS_OPENINGS, start + len(_DETAILS))
    return line[:start] + behind[1] if is_known else line
