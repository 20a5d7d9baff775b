"""Base64 that hides text with a secret in it: the value alone, a line, or a whole file.

All such stretches are decoded into one text of their own, shorter than the original, which is
searched like any other; where something is found, the whole stretch goes. So the work for what is
encoded is bounded by the length of what was given, at every depth.
"""

from __future__ import annotations

import binascii
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator

from warmstart.redact.decoded import View
from warmstart.redact.keys import find_runs, make_signs
from warmstart.redact.span import Span
from warmstart.redact.work import CROWDED, Work

MIN_BLOB = 20
MAX_DEPTH = 2
RANK = 0
COST = 12
_SIGNS = make_signs(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/_-")
_OPENS_ASCII = frozenset("CDIJKLMNOPQRSTUVWXYZabcdef")
"""What every fourth sign is where the bytes are ASCII text: a glance that most stretches fail."""
_URL_SAFE = str.maketrans("-_", "+/")
_BETWEEN = "\n\n"
Search = Callable[[str], Iterable[Span]]


def find_encoded(view: View, work: Work, search: Search) -> Iterator[Span]:
    """Stretches of base64 in whose text ``search`` finds something."""
    places, starts, texts = [], [], []
    size = 0
    for start, end in find_runs(view.text, _SIGNS, MIN_BLOB):
        inner = _decode_text(view.text[start:end])
        if inner is not None and not work.spend(COST):
            yield Span(*view.locate(start, len(view.text)), CROWDED, CROWDED, RANK)
            break
        if inner is not None:
            places.append((start, end))
            starts.append(size)
            texts.append(inner)
            size += len(inner) + len(_BETWEEN)
    if not texts:
        return
    hit: dict[int, Span] = {}
    for span in search(_BETWEEN.join(texts)):
        first, last = bisect_right(starts, span.start) - 1, bisect_right(starts, span.end - 1) - 1
        for index in range(first, last + 1):
            hit.setdefault(index, span)
    for index, span in hit.items():
        start, end = places[index]
        end += len(view.text[end : end + 2]) - len(view.text[end : end + 2].lstrip("="))
        yield Span(*view.locate(start, end), span.kind, view.text[start:end], RANK)


def _decode_text(blob: str) -> str | None:
    """The text a stretch stands for, or None where it is data or no base64 at all."""
    if not _OPENS_ASCII.issuperset(blob[:MIN_BLOB:4]):
        return None
    try:
        head = blob[:MIN_BLOB].translate(_URL_SAFE)
        if not binascii.a2b_base64(head).isascii():
            return None
        whole = blob.translate(_URL_SAFE) + "=" * (-len(blob) % 4)
        inner = binascii.a2b_base64(whole).decode("utf-8")
    except (binascii.Error, ValueError):
        return None
    return inner if inner.isprintable() or "\n" in inner else None
