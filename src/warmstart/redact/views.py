"""What a text says once escapes are undone, with the way back to where each character stood.

Rules read the view, so a key is found whether it stands in plain text, in JSON inside JSON at any
depth, in an encoded address, or with invisible characters sprinkled into it. What is replaced is
always a stretch of the original text.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from typing import NamedTuple

HIDDEN_CHARACTERS = (
    "\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f"
    "\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff9-\ufffb"
    "\U000e0000-\U000e0fff"
)
"""For a character class: zero-width, bidirectional, tag and control characters."""
_COLOUR = r"(?:\x1b|\\+(?:u001[bB]|x1[bB]|e|033))\[[0-9;]{0,16}[A-Za-z]"
_ESCAPE = re.compile(
    _COLOUR + r"|\\+(?:u[0-9a-fA-F]{4}|u\{[0-9a-fA-F]{1,6}\}|x[0-9a-fA-F]{2}|[\"'/nrtbf`])|\\{2,}"
    r"|%(?:25)*[2-7][0-9A-Fa-f]"
    r"|&(?:amp;)*(?:quot|apos|amp|#0?3[49]|#x2[27]);"
    f"|[{HIDDEN_CHARACTERS}]+|[\uff01-\uff5e]"
)
_SUSPECT = re.compile(f"[\\\\%&{HIDDEN_CHARACTERS}\uff01-\uff5e]")
"""What an escape can begin with; looking for one character of a set is ten times as fast."""
_IS_HIDDEN = re.compile(f"[{HIDDEN_CHARACTERS}]")
_LETTERS = {"n": "\n", "r": "\n", "t": "\t", "b": "", "f": ""}
_NAMED = {"quot": '"', "apos": "'", "amp": "&", "#34": '"', "#034": '"', "#39": "'", "#039": "'",
          "#x22": '"', "#x27": "'"}  # fmt: skip


class View(NamedTuple):
    """A decoded text; ``starts[i]`` in it came from ``origins[i]``, decoded pieces at even i."""

    text: str
    starts: list[int]
    origins: list[int]

    def locate(self, start: int, end: int) -> tuple[int, int]:
        """The stretch of the original text that a stretch of the view stands for."""
        if not self.starts:
            return start, end
        return self._begin(start), self._finish(end)

    def _begin(self, place: int) -> int:
        index = bisect_right(self.starts, place) - 1
        if index < 0:
            return place
        return self.origins[index] + (place - self.starts[index]) * (index % 2)

    def _finish(self, place: int) -> int:
        index = bisect_right(self.starts, place - 1) - 1
        if index < 0:
            return place
        if index % 2 == 0:
            return self.origins[index + 1]
        return self.origins[index] + place - self.starts[index]


def decode(text: str) -> View:
    """The view of a text; the text itself where nothing in it is escaped or hidden."""
    first = _SUSPECT.search(text)
    if first is None:
        return View(text, [], [])
    parts: list[str] = []
    starts: list[int] = []
    origins: list[int] = []
    last = place = 0
    for suspect in _SUSPECT.finditer(text, first.start()):
        start = suspect.start()
        if start < last:
            continue
        end = start + 2
        piece = _SIMPLE.get(text[start:end])
        if piece is None:
            match = _ESCAPE.match(text, start)
            if match is None:
                continue
            end = match.end()
            piece = _decode_one(match.group())
        parts.append(text[last:start])
        parts.append(piece)
        place += start - last
        starts.append(place)
        place += len(piece)
        starts.append(place)
        origins.append(start)
        origins.append(end)
        last = end
    if not starts:
        return View(text, [], [])
    parts.append(text[last:])
    return View("".join(parts), starts, origins)


def _decode_one(escape: str) -> str:
    """The character an escape stands for; nothing where it is one that cannot be seen."""
    first = escape[0]
    if first == "%":
        return chr(int(escape[-2:], 16))
    if first == "&":
        return _NAMED[escape[:-1].replace("amp;", "").removeprefix("&")]
    if "\uff01" <= first <= "\uff5e":
        return chr(ord(first) - 0xFEE0)
    if first != "\\" or "[" in escape:
        return ""
    return _decode_backslash(escape.lstrip("\\"))


def _decode_backslash(rest: str) -> str:
    if not rest:
        return "\\"
    if len(rest) == 1:
        return _LETTERS.get(rest, rest)
    code = int(rest[1:].strip("{}"), 16)
    if code > 0x10FFFF:
        return ""
    character = chr(code)
    return "" if _IS_HIDDEN.match(character) else character


_SIMPLE = {mark: _decode_one(mark) for mark in (r"\n", r"\"", r"\t", r"\'", r"\/", r"\r")}
"""Nearly all escapes there are: one backslash and a letter that is no beginning of a longer one."""
