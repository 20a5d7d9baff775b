"""Secrets broken over two lines, as terminals, mails and editors wrap them.

Where a line ends in characters of a key and the next one begins with a run of them that is not a
word, the end of the one and the beginning of the other are put together and searched like any text.
What is found counts only if it goes over the break.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator
from itertools import islice

from warmstart.redact.decoded import View
from warmstart.redact.span import Span
from warmstart.redact.values import count_changes, is_wordy

FREE_BREAKS, CHARACTERS_PER_BREAK = 500, 400
"""How many breaks of a text are looked at; a text with more of them is a list."""
FREE_CHARACTERS, SHARE = 150_000, 4
"""How much is put together: this, and one in so many characters of the text."""
MAX_FIRST = 300
"""How much of the first line is put before the second half."""
RANK = 0
_BREAK = re.compile(r"\n[ \t>|+]{0,24}+(?P<rest>[\w+/.~\-]{6,300}+={0,2})(?=[\"'`,;)\s&<\]}@]|\Z)")
_BEFORE = re.compile(r"[\w+/.~\-=:]{5}")
_NO_SIGNS = str.maketrans("", "", "_.-/+~=")
_BETWEEN = "\n\n"
Search = Callable[[str], Iterable[Span]]


def find_broken(view: View, search: Search) -> Iterator[Span]:
    """Secrets that ``search`` finds once their two halves are put together."""
    text = view.text
    breaks: list[tuple[int, int, int]] = []
    starts, texts = [], []
    size = 0
    most = FREE_CHARACTERS + len(text) // SHARE
    for match in islice(_BREAK.finditer(text), FREE_BREAKS + len(text) // CHARACTERS_PER_BREAK):
        end = match.start() - (text[match.start() - 1 : match.start()] == "\r")
        if end < 5 or not _BEFORE.match(text, end - 5) or not _is_rest(match["rest"]):
            continue
        line = text.rfind("\n", max(end - MAX_FIRST, 0), end)
        first = max(text.rfind("\n", 0, max(line, 0)) + 1, end - MAX_FIRST, 0)
        breaks.append((first, end, match.start("rest")))
        starts.append(size)
        texts.append(text[first:end] + match["rest"])
        size += len(texts[-1]) + len(_BETWEEN)
        if size > most:
            break
    if not texts:
        return
    for span in search(_BETWEEN.join(texts)):
        index = bisect_right(starts, span.start) - 1
        first, end, rest = breaks[index]
        low, high = span.start - starts[index] + first, span.end - starts[index] - (end - first)
        if low < end and high > 0:
            found = view.locate(low, rest + min(high, len(texts[index]) - (end - first)))
            yield Span(*found, span.kind, span.value, RANK)


def _is_rest(rest: str) -> bool:
    """Whether a run looks like the second half of a key rather than a word or a file."""
    letters = rest.translate(_NO_SIGNS)
    return not is_wordy(rest) or (count_changes(letters) >= 4 and len(letters) >= 10)
