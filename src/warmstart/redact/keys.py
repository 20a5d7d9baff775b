"""Finding vendor keys in a text: long runs of key characters first, rules only around them.

Every key has a run of at least sixteen letters, digits, ``_`` or ``-``. Ordinary text has few, so
the rules see a small part of it. Every mark of a rule that is tried is paid for (``Work``).
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence

from warmstart.redact.decoded import View
from warmstart.redact.span import Span
from warmstart.redact.values import is_example, is_random
from warmstart.redact.vendors import (
    INNER_RULES,
    LONG_KINDS,
    LOOSE_RULES,
    RULES_BY_MARK,
    Edge,
    Inner,
    Rule,
    marks,
)
from warmstart.redact.work import CROWDED, Work, end_of_window

MIN_RUN = 16
LEAD = 48
"""How far before a run its mark may begin."""
RANK = 0
_LETTERS = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789")
_IN_RUN, _BETWEEN = b"x", b" "
_PAIR_OF_AWS = re.compile(r"[\s,:;|\"']{1,8}([A-Za-z0-9/+]{40})(?![A-Za-z0-9/+=])")
_SCHEME = re.compile("//:s?ptth")
"""``https://`` read backwards: it goes with the webhook address after it."""
_PEM_BEGIN = re.compile(r"BEGIN(?<=--BEGIN)[A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-{2,5}")
_PEM_END = re.compile(r"END(?<=--END)[A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-{2,5}")
_PEM_BODY = re.compile(r"\s*+(?:[A-Za-z0-9+/=]{16,}+\s++)*+[A-Za-z0-9+/=]*+")
_PEM_LINE = re.compile(r"[ \t|]*(?:\d+[\t ]+)?[A-Za-z0-9+/=]{1,76}\s+")
_PUTTY = re.compile(
    r"Private-Lines:[ \t]{0,8}\d{1,6}\s{1,8}((?:[A-Za-z0-9+/=]{16,}+\s{0,8}+){1,4096}+)"
)
MAX_PEM = 32_768
FIRST_LOOK = 160
"""How much of a key is enough to tell an example; a text full of marks stays cheap this way."""
LONG_LOOK = 4100
"""Where the first dot of a long format has to be; asked first for the same reason."""


def find_keys(view: View, work: Work) -> Iterator[Span]:
    """Vendor keys and private key blocks."""
    text = view.text
    for start, end, kind in _find_all(text, work):
        value = CROWDED if kind == CROWDED else text[start:end]
        yield Span(*view.locate(start, end), kind, value, RANK)


def _find_all(text: str, work: Work) -> Iterator[tuple[int, int, str]]:
    windows = list(_windows(text))
    inner = [rule for rule in INNER_RULES if rule.mark in text] if windows else []
    for low, high in windows:
        if work.is_used_up:
            yield low, len(text), CROWDED
            break
        yield from _find_marked(text, low, high, work)
        if inner:
            yield from _find_inner(inner, text, low, high, work)
        yield from _find_loose(text, low, high)
    if "Q~" in text:  # its dots may leave no long run
        yield from _find_inner(INNER_RULES, text, 0, len(text), work)
    if "PRIVATE KEY" in text or "Private-Lines:" in text:
        yield from _find_blocks(text, work)


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
    return find_runs(text, _SIGNS, MIN_RUN)


def find_runs(text: str, signs: bytes, least: int) -> Iterator[tuple[int, int]]:
    """Where characters of a set stand in a row, found in a copy that has but two different bytes.

    A character class with a least length costs four times as much.
    """
    two = text.encode("latin-1", "replace").translate(signs)
    shortest = _IN_RUN * least
    start = two.find(shortest)
    while start >= 0:
        end = two.find(_BETWEEN, start + least)
        if end < 0:
            end = len(two)
        yield start, end
        start = two.find(shortest, end)


def make_signs(characters: bytes) -> bytes:
    """The table that ``find_runs`` needs for a set of characters."""
    return b"".join(_IN_RUN if code in characters else _BETWEEN for code in range(256))


_SIGNS = make_signs(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-")


def _find_marked(text: str, low: int, high: int, work: Work) -> Iterator[tuple[int, int, str]]:
    pattern = marks()
    mark = pattern.search(text, low, high)
    while mark is not None:
        place = mark.start() + 1
        if work.spend(28):
            found = _read_key(text, mark)
            if found is not None:
                start, place, kind = found
                work.spend(24 + (place - start) // 64)
                yield found
                if kind == "aws_access_key":
                    pair = _PAIR_OF_AWS.match(text, place)
                    if pair is not None:
                        yield (*pair.span(1), "aws_secret_key")
        else:
            place = end_of_window(text, mark.start())
            yield mark.start(), place, CROWDED
        mark = pattern.search(text, place, max(high, place))


def _read_key(text: str, mark: re.Match[str]) -> tuple[int, int, str] | None:
    """The key that begins at a mark."""
    for rule in RULES_BY_MARK[mark.group()]:
        match = _match_whole(rule, text, mark.start())
        if match is not None:
            start = _SCHEME.match(text[max(match.start() - 8, 0) : match.start()][::-1])
            return match.start() - (start.end() if start else 0), match.end(), rule.kind
    return None


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
    rules: Sequence[Inner], text: str, low: int, high: int, work: Work
) -> Iterator[tuple[int, int, str]]:
    for rule in rules:
        place = text.find(rule.mark, low, high)
        while place >= 0:
            if not work.spend(2):
                end = end_of_window(text, place)
                yield place, end, CROWDED
                place = text.find(rule.mark, end, high)
                continue
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


def _find_blocks(text: str, work: Work) -> Iterator[tuple[int, int, str]]:
    """Private key blocks, whole; to the end of what looks like one where it is cut off."""
    ends = [match.end() for match in _PEM_END.finditer(text)]
    done = 0
    for begin in _PEM_BEGIN.finditer(text):
        start = begin.end()
        if start < done:
            continue
        if not work.spend(12):
            yield begin.start(), len(text), CROWDED
            return
        index = bisect_right(ends, start)
        closed = index < len(ends) and ends[index] - start <= MAX_PEM
        done = ends[index] if closed else _end_of_body(text, start)
        if done - start > MIN_RUN and not is_example(text[start:done][:200]):
            yield _before_dashes(text, begin.start()), done, "private_key"
    yield from _find_headless(text, done, work)
    for match in _PUTTY.finditer(text):
        yield (*match.span(1), "private_key")


def _find_headless(text: str, done: int, work: Work) -> Iterator[tuple[int, int, str]]:
    """Blocks whose beginning was cut off: what is left of the body stands right before the end."""
    for end in _PEM_END.finditer(text):
        if end.start() >= done:
            if not work.spend(10):
                yield end.start(), len(text), CROWDED
                return
            start = _start_of_body(text, _before_dashes(text, end.start()))
            if end.start() - start > MIN_RUN:
                yield start, end.end(), "private_key"


def _before_dashes(text: str, place: int) -> int:
    """Where the dashes before a place begin; there are at most five."""
    return place - 5 + len(text[max(place - 5, 0) : place].rstrip("-")) + max(5 - place, 0)


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
