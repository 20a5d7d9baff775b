"""Values known to be secret, found wherever they stand and in whatever dress.

The user's own environment holds the secrets that matter most, and no rule is needed to know them:
the value itself, or the value as JSON, percent-encoding or base64 would write it.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Iterable, Iterator, Mapping
from urllib.parse import quote, quote_plus

from warmstart.redact.decoded import View
from warmstart.redact.errors import RedactionError
from warmstart.redact.span import Span
from warmstart.redact.work import CROWDED, Work, end_of_window

MIN_LENGTH = 8
RANK = 1
KIND = "env"
COST = 3
Known = Mapping[str, str] | Iterable[str]


def list_forms(known: Known) -> dict[str, str]:
    """Every way to write a known value, and the value it stands for; short values are left out.

    Raises:
        RedactionError: a value is not text.
    """
    values = list(known.values() if isinstance(known, Mapping) else known)
    if not all(isinstance(value, str) for value in values):
        raise RedactionError("a known secret is not text", hint="give names and values as text")
    forms: dict[str, str] = {}
    for value in values:
        if len(value) >= MIN_LENGTH:
            for form in _dress(value):
                forms.setdefault(form, value)
    return forms


def _dress(value: str) -> Iterator[str]:
    data = value.encode("utf-8", "surrogatepass")
    yield value
    yield json.dumps(value)[1:-1]
    yield json.dumps(value, ensure_ascii=False)[1:-1]
    yield quote(data, safe="")
    yield quote_plus(data)
    yield base64.b64encode(data).decode().rstrip("=")
    yield base64.urlsafe_b64encode(data).decode().rstrip("=")


def find_known(
    view: View, raw: str, forms: Mapping[str, str], work: Work, kind: str = KIND
) -> Iterator[Span]:
    """Every place where one of the forms stands, in the text as it is or decoded."""
    for form, value in forms.items():
        for place, end, found in _places(raw, form, work):
            yield Span(_before_escape(raw, place), end, found or kind, value, RANK)
        if not view.is_plain:
            for place, end, found in _places(view.text, form, work):
                yield Span(*view.locate(place, end), found or kind, value, RANK)


def _before_escape(text: str, place: int) -> int:
    """The place without the backslashes before it: half an escape must not stay behind."""
    while place and text[place - 1] == "\\":
        place -= 1
    return place


def _places(text: str, form: str, work: Work) -> Iterator[tuple[int, int, str]]:
    """Where a form begins and ends; a whole window once there are more than can be paid for."""
    place = text.find(form)
    while place >= 0:
        crowded = not work.spend(COST)
        end = end_of_window(text, place) if crowded else place + len(form)
        yield place, end, CROWDED if crowded else ""
        place = text.find(form, end)
