"""Text that tries to give orders, characters nobody sees, and fences around data.

Results of tools are data. What is found here does not prove an attack; it is a reason to let a
person look before the text reaches an agent. A fence makes the border of data visible and cannot be
closed from inside.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import re
from collections.abc import Iterator

from warmstart.redact.orders import ORDERS
from warmstart.redact.views import HIDDEN_CHARACTERS

__all__ = ["fence", "find_instructions", "strip_hidden"]

_ESCAPES = re.compile(
    r"\x1b(?:\[[0-?]{0,32}[ -/]{0,8}[@-~]?|\][^\x07\x1b\n]{0,4096}(?:\x07|\x1b\\)?|.)"
)
_HIDDEN = re.compile(f"[{HIDDEN_CHARACTERS}]")
_LONG = re.compile("[A-Za-z0-9+/]{40}")
_SPACES = re.compile(r"\s+")
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


def find_instructions(text: str) -> tuple[str, ...]:
    """Names of what looks like an order to an agent, sorted; empty for ordinary text."""
    found = set(_find_hidden(text))
    found.update(_find_phrases(strip_hidden(text)))
    for match in _BASE64.finditer(text) if _LONG.search(text) else ():
        inner = _decode(match.group())
        if inner and any(_find_phrases(inner)):
            found.add("encoded_prompt")
    return tuple(sorted(found))


def _find_phrases(text: str) -> Iterator[str]:
    lowered = text.lower()
    flat = ""
    for name, words, pattern in ORDERS:
        if not any(word in lowered for word in words):
            continue
        flat = flat or _SPACES.sub(" ", lowered)
        if pattern.search(flat) or pattern.search(lowered):
            yield name


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

    The mark is made from the text's own hash, so whoever wrote the text could not write the mark.
    """
    clean = strip_hidden(text)
    digest = hashlib.sha256(clean.encode("utf-8", "surrogatepass")).hexdigest()
    mark = digest[:8]
    while mark in clean:
        digest = hashlib.sha256(digest.encode()).hexdigest()
        mark = digest[:16]
    return f"<{label} {mark}>\n{clean}\n</{label} {mark}>"
