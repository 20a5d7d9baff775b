"""What a text says once escapes are undone, with the way back to where each character stood.

Rules read the view, so a key is found whether it stands in plain text, in JSON inside JSON at any
depth, in an encoded address, with invisible characters sprinkled into it, or over a line that ends
in a backslash. What is replaced is always a stretch of the original text. Every escape is one piece
of a single split, and the way back is worked out only when something was found.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from itertools import accumulate

HIDDEN_CHARACTERS = (
    "\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f"
    "\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff9-\ufffb"
    "\U000e0000-\U000e0fff"
)
"""For a character class: zero-width, bidirectional, tag and control characters."""
_ESCAPE = re.compile(
    # The class comes first so that the search runs from one possible beginning to the next.
    rf"([\\%&{HIDDEN_CHARACTERS}\uff01-\uff5e](?:"
    r"(?<=\\)(?:"
    r"[nrt](?:\\[nrt])*+|\"(?:\\\"){3,}+"
    r"|\r?\n[ \t]{0,40}+"
    r"|(?:\\\\|\\{5}|\\{11})n[ \t]{0,40}+"
    r"|\\*+(?:(?:u001[bB]|x1[bB]|e|033)\[[0-9;]{0,16}[A-Za-z]"
    r"|u[0-9a-fA-F]{4}|u\{[0-9a-fA-F]{1,6}\}|x[0-9a-fA-F]{2}|[\"'/nrtbf`])"
    r"|\\++)"
    r"|(?<=%)(?:(?:25){1,8}(?:[2-7][0-9A-Fa-f]|0[9AaDd])|[2-7][0-9A-Fa-f]|0[9AaDd])"
    r"|(?<=&)(?:(?:amp;){0,8}(?:quot|apos|lt|gt|#0?3[49]|#x2[27]);|(?:amp;){1,8}+)"
    r"|(?<=\x1b)\[[0-9;]{0,16}[A-Za-z]"
    rf"|(?<=[{HIDDEN_CHARACTERS}])[{HIDDEN_CHARACTERS}]*+"
    r"|(?<=[\uff01-\uff5e])[\uff01-\uff5e]*+))"
)
_IS_HIDDEN = re.compile(f"[{HIDDEN_CHARACTERS}]")
_LETTERS = {"n": "\n", "r": "\n", "t": "\t", "b": "", "f": ""}
_NAMED = {"quot": '"', "apos": "'", "": "&", "lt": "<", "gt": ">", "#34": '"', "#034": '"',
          "#39": "'", "#039": "'", "#x22": '"', "#x27": "'"}  # fmt: skip
_CONTINUED = frozenset({3, 6, 12})
"""Backslashes before an ``n`` that stand for a backslash and a line end, three levels deep."""


class View:
    """A decoded text and the pieces it was made of; escapes are the pieces at odd places."""

    __slots__ = ("_decoded", "_ends", "_origins", "_raw", "text")

    def __init__(
        self, text: str, raw: list[str] | None = None, decoded: list[str] | None = None
    ) -> None:
        self.text = text
        self._raw = raw or []
        self._decoded = decoded or []
        self._ends: list[int] = []
        self._origins: list[int] = []

    @property
    def is_plain(self) -> bool:
        """Whether the text is the original."""
        return not self._raw

    def locate(self, start: int, end: int) -> tuple[int, int]:
        """The stretch of the original text that a stretch of the view stands for."""
        if not self._raw:
            return start, end
        first, last = self._piece(start), self._piece(end - 1)
        begin = self._origins[first]
        if first % 2 == 0:
            begin += start - (self._ends[first - 1] if first else 0)
        if last % 2:
            return begin, self._origins[last + 1]
        return begin, self._origins[last] + end - (self._ends[last - 1] if last else 0)

    def count_backslashes(self, place: int) -> int:
        """How many backslashes the original has in the escape for this character; 0 if none.

        ``%22`` and ``&quot;`` count as one, and for each time that they were encoded again as many
        as a string in a string would have.
        """
        escape = self.find_escape(place)
        if escape[:1] in {"%", "&"}:
            return int(2 ** (1 + max(escape.count("25", 1, -2), escape.count("amp;")))) - 1
        return len(escape) - len(escape.lstrip("\\"))

    def find_escape(self, place: int) -> str:
        """The escape that the original has for this character; nothing where it stands itself."""
        piece = self._piece(place) if self._raw else 0
        return self._raw[piece] if piece % 2 else ""

    def _piece(self, place: int) -> int:
        if not self._ends:
            self._ends = list(accumulate(map(len, self._decoded)))
            self._origins = [0, *accumulate(map(len, self._raw))]
        return min(bisect_right(self._ends, place), len(self._ends) - 1)


class _Decoder(dict[str, str]):
    """Decodes each different escape of a text once."""

    def __missing__(self, escape: str) -> str:
        piece = self[escape] = _decode_one(escape)
        return piece


def decode(text: str) -> View:
    """The view of a text; the text itself where nothing in it is escaped or hidden."""
    raw = _ESCAPE.split(text)
    if len(raw) == 1:
        return View(text)
    decoded = raw.copy()
    decoded[1::2] = map(_Decoder().__getitem__, raw[1::2])
    return View("".join(decoded), raw, decoded)


def _decode_one(escape: str) -> str:
    """The character an escape stands for; nothing where it is one that cannot be seen."""
    first = escape[0]
    if first == "%":
        return chr(int(escape[-2:], 16)).replace("\r", "\n")
    if first == "&":
        return _NAMED[escape.replace("amp;", "").strip("&;")]
    if "\uff01" <= first <= "\uff5e":
        return "".join(chr(ord(character) - 0xFEE0) for character in escape)
    if first != "\\" or "[" in escape:
        return ""
    return _decode_backslash(escape)


def _decode_backslash(escape: str) -> str:
    rest = escape.lstrip("\\")
    if not rest:
        return "\\"
    if rest[0] in "\r\n" or (rest[0] == "n" and escape.index("n") in _CONTINUED):
        return ""
    if "\\" in rest:
        return "".join(_LETTERS.get(letter, letter) for letter in escape[1::2])
    if len(rest) == 1:
        return _LETTERS.get(rest, rest)
    code = int(rest[1:].strip("{}"), 16)
    if code > 0x10FFFF:
        return ""
    character = chr(code)
    return "" if _IS_HIDDEN.match(character) else character
