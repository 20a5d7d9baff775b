"""Text that tries to give orders, risky commands, characters nobody sees, and fences around data.

Results of tools are data. What is found here does not prove an attack; it is a reason to let a
person look before the text reaches an agent. A fence makes the border of data visible and cannot be
closed from inside. The time to scan a text grows with its length alone: hostile text of a megabyte
takes at most three times as long as ordinary text (``bench/injection.py``).
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import re
from collections.abc import Iterator
from typing import NamedTuple

from warmstart.redact.decoded import HIDDEN_CHARACTERS
from warmstart.redact.imperatives import ORDERS, Order
from warmstart.redact.risky_commands import COMMANDS, find_download_run

__all__ = ["Finding", "fence", "find_instructions", "find_orders", "strip_hidden"]

MAX_EVIDENCE_CHARS = 120
MAX_AHEAD_CHARS = 32
"""What of a match may stand after an opening that it does not begin with."""
FREE_OPENINGS = 1000
CHARS_PER_OPENING = 200
"""A text may have so many places that begin like an order: 1,000 and one in 200 characters. Results
of real agents have one in 900; a text with more is reported as ``crowded`` instead of read on."""

_ESCAPES = re.compile(
    r"\x1b(?:\[[0-?]{0,32}[ -/]{0,8}[@-~]?|\][^\x07\x1b\n]{0,4096}(?:\x07|\x1b\\)?|.)"
)
_HIDDEN = re.compile(f"[{HIDDEN_CHARACTERS}]")
_LONG = re.compile("[A-Za-z0-9+/]{40}")
_SPACES = re.compile(r"\s+")
_CONTINUED = re.compile(r"\\\n[ \t]{0,40}")
_TAGS = re.compile("[\U000e0020-\U000e007e]{4,}")
_BIDI = re.compile("[\u202a-\u202e\u2066-\u2069]")
_BASE64 = re.compile(r"(?<![A-Za-z0-9+/=_-])[A-Za-z0-9+/]{40,4000}={0,2}(?![A-Za-z0-9+/=_-])")


def strip_hidden(text: str) -> str:
    """The text without characters nobody sees and without terminal sequences.

    Line ends and tabs stay; everything else that is zero-width, bidirectional, a tag or a control
    character goes.
    """
    if text.isascii() and text.isprintable():
        return text
    return _HIDDEN.sub("", _ESCAPES.sub("", text))


class Finding(NamedTuple):
    """One thing in a text that a person should see."""

    kind: str
    evidence: str
    """The words it was found by, on one line and cut short; lower case."""


def find_instructions(text: str) -> tuple[str, ...]:
    """Kinds of what looks like an order to an agent, sorted; empty for ordinary text."""
    return tuple(finding.kind for finding in find_orders(text))


def find_orders(text: str) -> tuple[Finding, ...]:
    """The findings with their words: one finding of each kind, sorted by kind."""
    found = dict.fromkeys(_find_hidden(text), "")
    visible = strip_hidden(text).lower()
    found |= dict(_find_phrases(visible))
    for match in _BASE64.finditer(text) if _LONG.search(text) else ():
        inner = _decode(match.group()).lower()
        if inner and any(True for _ in _find_phrases(inner)):
            found["encoded_prompt"] = match.group()
            break
    return tuple(Finding(kind, _shorten(words)) for kind, words in sorted(found.items()))


def _shorten(words: str) -> str:
    line = " ".join(words.split())
    return line if len(line) <= MAX_EVIDENCE_CHARS else f"{line[: MAX_EVIDENCE_CHARS - 1]}…"


def _find_phrases(lowered: str) -> Iterator[tuple[str, str]]:
    """What is found, kind by kind; a text with too many openings to read them all is a finding."""
    flat = _SPACES.sub(" ", lowered)
    # A line that ends in a backslash goes on in the next one.
    joined = _CONTINUED.sub(" ", lowered) if "\\\n" in lowered else lowered
    left = FREE_OPENINGS + len(lowered) // CHARS_PER_OPENING
    for one in (*ORDERS, *COMMANDS):
        text = joined if one.lines else flat
        for match in _try_openings(one, text, left):
            left -= 1
            if match is not None:
                yield one.name, match.group()
                break
        if left <= 0:
            yield "crowded", one.name
            return
    run = find_download_run(joined)
    if run:
        yield "fetch_and_run", run


def _try_openings(one: Order, text: str, most: int) -> Iterator[re.Match[str] | None]:
    """The match at each opening, or None; at most that many openings."""
    for opening in one.openings:
        at = text.find(opening)
        while at >= 0 and most > 0:
            most -= 1
            if one.back:
                yield one.pattern.search(text, max(0, at - one.back), at + MAX_AHEAD_CHARS)
            else:
                yield one.pattern.match(text, at)
            at = text.find(opening, at + 1)


def _find_hidden(text: str) -> Iterator[str]:
    if text.isascii():
        return
    if _TAGS.search(text):
        yield "hidden_text"
    if _BIDI.search(text):
        yield "reversed_text"


def _decode(blob: str) -> str:
    try:
        return base64.b64decode(blob + "=" * (-len(blob) % 4), validate=True).decode("ascii")
    except (binascii.Error, ValueError):
        return ""


def fence(text: str, label: str = "data") -> str:
    """The text between two marks that it cannot contain, the same every time.

    The mark is made from the text's own hash, so the author of the text could not write the mark.
    """
    clean = strip_hidden(text)
    digest = hashlib.sha256(clean.encode("utf-8", "surrogatepass")).hexdigest()
    mark = digest[:8]
    while mark in clean:
        digest = hashlib.sha256(digest.encode()).hexdigest()
        mark = digest[:16]
    return f"<{label} {mark}>\n{clean}\n</{label} {mark}>"
