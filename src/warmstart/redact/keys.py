"""Finding vendor keys in a text: long runs of key characters first, rules only around them.

Every key has a run of at least sixteen letters, digits, ``_`` or ``-``. Ordinary text has few, so
the rules see a small part of it.
"""

from __future__ import annotations

import base64
import binascii
import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence

from warmstart.redact.span import Span
from warmstart.redact.values import is_example, is_random
from warmstart.redact.vendors import (
    INNER_RULES,
    LONG_KINDS,
    LOOSE_RULES,
    MARKS,
    RULES_BY_MARK,
    Edge,
    Inner,
    Rule,
)
from warmstart.redact.views import View

MIN_RUN = 16
LEAD = 48
"""How far before a run its mark may begin."""
RANK = 0
_KEY_SIGNS = frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-")
_LETTERS = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789")
_IN_RUN, _BETWEEN = b"x", b" "
_SIGNS = b"".join(_IN_RUN if code in _KEY_SIGNS else _BETWEEN for code in range(256))
_SHORTEST_RUN = _IN_RUN * MIN_RUN
_BASE64 = re.compile(r"(?<![A-Za-z0-9+/=_-])[A-Za-z0-9+/]{24,4096}={0,2}(?![A-Za-z0-9+/=_-])")
_PAIR_OF_AWS = re.compile(r"[\s,:;|\"']{1,8}([A-Za-z0-9/+]{40})(?![A-Za-z0-9/+=])")
_SCHEME = re.compile("//:s?ptth")
"""``https://`` read backwards: it goes with the webhook address after it."""
_PEM_BEGIN = re.compile(r"-{2,5}BEGIN[A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-{2,5}")
_PEM_END = re.compile(r"-{2,5}END[A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-{2,5}")
_PEM_BODY = re.compile(r"\s*(?:[A-Za-z0-9+/=]{16,}\s+)*[A-Za-z0-9+/=]*")
_PEM_LINE = re.compile(r"[ \t|]*(?:\d+[\t ]+)?[A-Za-z0-9+/=]{1,76}\s+")
_PUTTY = re.compile(r"Private-Lines:[ \t]*\d+\s+((?:[A-Za-z0-9+/=]{16,}\s+)*[A-Za-z0-9+/=]{16,})")
MAX_PEM = 32_768
FIRST_LOOK = 512
"""How much of a key is enough to tell an example; a text full of marks stays cheap this way."""
LONG_LOOK = 4100
"""Where the first dot of a long format has to be; asked first for the same reason."""


def find_keys(view: View) -> Iterator[Span]:
    """Vendor keys, private key blocks and base64 that hides one of them."""
    text = view.text
    for start, end, kind in _find_all(text):
        value = text[start:end]
        yield Span(*view.locate(start, end), kind, value, RANK)


def _find_all(text: str) -> Iterator[tuple[int, int, str]]:
    windows = list(_windows(text))
    inner = [rule for rule in INNER_RULES if rule.mark in text] if windows else []
    for low, high in windows:
        mark = MARKS.search(text, low, high)
        if mark is not None:
            yield from _find_marked(text, mark.start(), high)
        if inner:
            yield from _find_inner(inner, text, low, high)
        yield from _find_loose(text, low, high)
        yield from _find_encoded(text, low, high)
    if "Q~" in text:  # its dots may leave no long run
        yield from _find_inner(INNER_RULES, text, 0, len(text))
    if "PRIVATE KEY" in text or "Private-Lines:" in text:
        yield from _find_blocks(text)


def _windows(text: str) -> Iterator[tuple[int, int]]:
    """Stretches around runs, never overlapping."""
    low = high = -1
    for start, end in _runs(text):
        if high < 0 or start - LEAD > high:
            if high >= 0:
                yield low, high
            low = max(start - LEAD, 0)
        high = end
    if high >= 0:
        yield low, high


def _runs(text: str) -> Iterator[tuple[int, int]]:
    """Where key characters stand in a row, found in a copy that has but two different bytes.

    A character class with a least length costs four times as much.
    """
    signs = text.encode("latin-1", "replace").translate(_SIGNS)
    start = signs.find(_SHORTEST_RUN)
    while start >= 0:
        end = signs.find(_BETWEEN, start + MIN_RUN)
        if end < 0:
            end = len(signs)
        yield start, end
        start = signs.find(_SHORTEST_RUN, end)


def _find_marked(text: str, low: int, high: int) -> Iterator[tuple[int, int, str]]:
    place = low
    while (mark := MARKS.search(text, place, high)) is not None:
        place = mark.start() + 1
        for rule in RULES_BY_MARK[mark.group()]:
            match = _match_whole(rule, text, mark.start())
            if match is None:
                continue
            start = _SCHEME.match(text[max(match.start() - 8, 0) : match.start()][::-1])
            yield match.start() - (start.end() if start else 0), match.end(), rule.kind
            place = match.end()
            if rule.kind == "aws_access_key":
                pair = _PAIR_OF_AWS.match(text, match.end())
                if pair is not None:
                    yield (*pair.span(1), "aws_secret_key")
            break


def _match_whole(rule: Rule, text: str, start: int) -> re.Match[str] | None:
    """The key that begins here, unless it is an example or the middle of something else."""
    match = _match_key(rule, text, start)
    if match is None or rule.edge is Edge.ANY or start == 0 or text[start - 1] not in _LETTERS:
        return match
    mark = next(mark for mark in rule.marks if text.startswith(mark, start))
    rest = match.group()[len(mark) : FIRST_LOOK]
    return match if rule.edge is Edge.MIXED and is_random(rest) else None


def _match_key(rule: Rule, text: str, start: int) -> re.Match[str] | None:
    if rule.kind in LONG_KINDS:
        if text.find(".", start, start + LONG_LOOK) < 0:
            return None
    else:
        look = rule.pattern.match(text, start, start + FIRST_LOOK)
        if look is None or is_example(look.group()):
            return None
    match = rule.pattern.match(text, start)
    return None if match is None or is_example(match.group()[:FIRST_LOOK]) else match


def _find_inner(
    rules: Sequence[Inner], text: str, low: int, high: int
) -> Iterator[tuple[int, int, str]]:
    for rule in rules:
        place = text.find(rule.mark, low, high)
        while place >= 0:
            match = rule.pattern.search(text, max(place - rule.back, 0), place + rule.ahead)
            if match is not None and not is_example(match.group()):
                yield (*match.span(), rule.kind)
            place = text.find(rule.mark, place + 1, high)


def _find_loose(text: str, low: int, high: int) -> Iterator[tuple[int, int, str]]:
    if high - low < LEAD:
        return
    for kind, sign, pattern in LOOSE_RULES:
        if text.count(sign, low, high) < 2:
            continue
        for match in pattern.finditer(text, low, high):
            if not is_example(match.group()):
                yield (*match.span(), kind)


def _find_blocks(text: str) -> Iterator[tuple[int, int, str]]:
    """Private key blocks, whole; to the end of what looks like one where it is cut off."""
    ends = [match.end() for match in _PEM_END.finditer(text)]
    done = 0
    for begin in _PEM_BEGIN.finditer(text):
        start = begin.end()
        if start < done:
            continue
        index = bisect_right(ends, start)
        closed = index < len(ends) and ends[index] - start <= MAX_PEM
        done = ends[index] if closed else _end_of_body(text, start)
        if done - start > MIN_RUN and not is_example(text[start:done][:200]):
            yield begin.start(), done, "private_key"
    yield from _find_headless(text, done)
    for match in _PUTTY.finditer(text):
        yield (*match.span(1), "private_key")


def _find_headless(text: str, done: int) -> Iterator[tuple[int, int, str]]:
    """Blocks whose beginning was cut off: what is left of the body stands right before the end."""
    for end in _PEM_END.finditer(text):
        if end.start() >= done:
            start = _start_of_body(text, end.start())
            if end.start() - start > MIN_RUN:
                yield start, end.end(), "private_key"


def _start_of_body(text: str, end: int) -> int:
    start = end
    while start > 0 and end - start < MAX_PEM:
        line = text.rfind("\n", 0, start - 1) + 1
        if not _PEM_LINE.fullmatch(text, line, start):
            break
        start = line
    return start


def _end_of_body(text: str, start: int) -> int:
    body = _PEM_BODY.match(text, start)
    return body.end() if body else start


def _find_encoded(text: str, low: int, high: int) -> Iterator[tuple[int, int, str]]:
    """Base64 whose content is text with a vendor's key in it."""
    for match in _BASE64.finditer(text, low, high + 2):
        inner = _decode_text(match.group())
        if inner is None:
            continue
        kind = next((kind for window in _windows(inner)
                     for _, _, kind in _find_marked(inner, *window)), None)  # fmt: skip
        if kind is not None:
            yield (*match.span(), kind)


def _decode_text(blob: str) -> str | None:
    try:
        data = base64.b64decode(blob + "=" * (-len(blob) % 4), validate=True)
        inner = data.decode("ascii")
    except (binascii.Error, ValueError):
        return None
    return inner if inner.isprintable() or "\n" in inner else None
