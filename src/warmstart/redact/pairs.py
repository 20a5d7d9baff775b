"""The value beside a telling name: ``password=…``, ``"api_key": "…"``, ``<token>…</token>``.

One search per telling word finds a name with a sign after it; what follows is read once, by how
the text writes values there: a string in quotes ends at a quote of its own level of escaping, a
value of a shell or .env file at white space, one of a connection string at its semicolon. Only then
the value is judged. Every candidate is paid for (``Work``): a text of names takes no longer.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from functools import cache
from typing import NamedTuple

from warmstart.redact.decoded import View
from warmstart.redact.names import (
    ROOTS,
    Strength,
    classify_name,
    is_head,
    is_vendor_name,
    is_verdict,
)
from warmstart.redact.span import Span
from warmstart.redact.values import (
    LOOK,
    MAX_VALUE_LENGTH,
    MIN_VALUE_LENGTH,
    Place,
    is_call,
    is_digest_or_uuid,
    is_expression,
    is_random,
    is_secret_value,
    is_wordy,
)
from warmstart.redact.work import CROWDED, Work, end_of_window

RANK = 2
TO_THE_END = sys.maxsize
MAX_QUOTES = 12
"""Quotes on the way to the one that closes a string; a password seldom has three."""
_TYPE = r"(?::[ \t]?(?:str|string|bytes|secretstr|optional\[str\])(?:[ \t]?\|[ \t]?none)?[ \t]?)?"
_SIGN = (
    rf"(?P<sign>[ \t]{{0,8}}(?:{_TYPE}(?:={{1,3}}>?|[:?+]=)|:{{1,2}}(?![=/])|\|)[ \t]{{0,8}}"
    r"|[ \t]{1,8}is:?[ \t]{1,4}"
    r"|(?P<comma>[ \t]{0,4},[ \t]{0,4})(?=[\"'`])"
    r"|(?P<element>[ \t]{0,4}>)(?=[^\n]{4})"
    r"|(?P<attribute>[ \t]{0,4},?\s{0,12}+[\"'`]?value[\"'`]?[ \t]{0,4}[:=][ \t]{0,4})"
    r"|(?P<call>\()(?=[\"'`])"
    r"|(?P<space>[ \t]{1,4}(?:is[ \t]|by[ \t])?)(?=[bru]?(?:[\"'`]\S{8}|[^\s\"'`]{8})))"
)
_FLAG = re.compile(
    r"-(?<![\w-]-)-?(?P<name>[a-z][\w.\-]{2,48}+)"
    r"[\"'`]?(?:[ \t]{1,4}|[ \t]{0,2},\s{0,4}|=)(?=[\"'`]?\S{6})"
)
_SETTER = re.compile(r"(?i)(?:set|with)?_?(?:db|user)?_?(?:password|passphrase)\Z")
"""What a method is called that is given a password: ``setPassword("…")``."""
_NAME_BACK = re.compile(r"[\w.\-]{0,48}")
_QUOTES = "\"'`"
_STRING = {quote: re.compile(rf"[^{quote}\n\ue000]{{0,{MAX_VALUE_LENGTH}}}+") for quote in _QUOTES}
_RUN = re.compile(rf"[^\s\ue000]{{1,{MAX_VALUE_LENGTH}}}+")
_BARE = re.compile(rf"[^\s\"'`,;<>(){{}}\[\]|\ue000]{{1,{MAX_VALUE_LENGTH}}}+")
_ENDS = {
    "&": re.compile(rf"[^\s\"'`&#<>\ue000]{{1,{MAX_VALUE_LENGTH}}}+"),
    ";": re.compile(r"[^;\n\"\ue000]{1,512}+"),
    ">": re.compile(r"[^<\n\ue000]{1,512}+"),
    "|": re.compile(r"[^|\n\ue000]{1,512}+"),
}
_LINE_START = re.compile(
    r"(?P<begin>\n|\A|[\"'`](?=[ \t+\-]|export |ENV ))[ \t]{0,24}"
    r"(?:\d{1,6}[ \t]{0,2}[\t:|→] {0,8})?(?:[-+>$#*]{1,2} {0,8})?"
    r"(?:export |set |setx |env |declare -x |ENV |ARG |Environment=|env:|\$env:)?"
    r"(?P<open>[\"'`]?)\Z"
)
_SHELL_WORD = re.compile(r"(?:\A|[\s\"'`=]|\d:)\Z")
_PREFIXED = re.compile("[bBrRuUf][\"'`]")
_ANY_QUOTE = re.compile("[\"'`]")
_GOES_ON = frozenset(
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789!@#$%^*(=?~{[<-_"
)
"""What after a closing quote says that the quote was part of a shell word."""
_AFTER_STRING = frozenset({"", *" \t\n,;:)]}"})
_TRAIL = ".,;:!?\\*|&\"'`"
_OPENERS = {")": "(", "]": "[", "}": "{"}


class Value(NamedTuple):
    """A value as it was read, before it is judged."""

    start: int
    end: int
    place: Place


class Around(NamedTuple):
    """The string that a value without quotes of its own stands in."""

    quotes: str
    """What may close it."""
    level: int
    """A quote inside it has at least this many backslashes; 0 where there is no string."""


def find_pairs(view: View, lowered: str, work: Work) -> Iterator[Span]:
    """Values beside telling names; ``lowered`` is the view's text in lower case."""
    judged: set[int] = set()
    for root in ROOTS:
        yield from _find_named(view, lowered, _pattern(root), judged, work)
    yield from _find_flags(view, lowered, judged, work)


@cache
def _pattern(root: str) -> re.Pattern[str]:
    word = re.escape(root.rstrip("=")) + ("(?==)" if root.endswith("=") else "")
    short = root in {"pass", "pwd", "psk"}
    least = r"[\"'`]?\S[\s\S]{5}" if short else r"(?:[\"'`]\S{8}|[^\s\"'`]{8})"
    tail = r"[\w.\-]{0,48}+(?P<close>(?:[\"'`][\])]?|\])?+)"
    return re.compile(f"{word}{tail}{_SIGN}(?=[bru]?{least})")


def _find_named(
    view: View, lowered: str, pattern: re.Pattern[str], judged: set[int], work: Work
) -> Iterator[Span]:
    match = pattern.search(lowered)
    while match is not None:
        after = match.end()
        if not work.spend(3):
            after = end_of_window(view.text, match.start())
            yield _span(view, match.start(), after, CROWDED)
        elif after not in judged:
            judged.add(after)
            found = _read_pair(view, match, work)
            if found is not None:
                value, kind = found
                after = value.end
                yield _span(view, value.start, value.end, kind)
        match = pattern.search(lowered, after)


def _span(view: View, start: int, end: int, kind: str) -> Span:
    value = CROWDED if kind == CROWDED else view.text[start:end]
    return Span(*view.locate(start, end), kind, value, RANK)


def _read_pair(view: View, match: re.Match[str], work: Work) -> tuple[Value, str] | None:
    """The secret that a match announces, and its kind."""
    text = view.text
    start = _start_of_name(text, match.start())
    name = text[start : match.start("close")]
    told = classify_name(name)
    if told is None or (is_verdict(name) and not match["close"] and "=" not in match["sign"]):
        return None
    work.spend(16)
    value = _read_value(view, match, start)
    if value is None or not work.spend(20 + (value.end - value.start) // 8):
        return None
    if not _is_told(text[value.start : value.end], name, told[1], match, value.place):
        return None
    work.spend(24)
    return value, told[0]


def _is_told(value: str, name: str, strength: Strength, match: re.Match[str], place: Place) -> bool:
    """Whether the value is the secret that the name and the sign after it announce."""
    if match["space"] is not None and not _tells_by_space(value, name, strength):
        return False
    if match["sign"] == " :" and not match["close"]:
        return False  # a variable of psql
    if match["call"] is not None and not _SETTER.match(name.rpartition(".")[2]):
        return False
    listed = match["comma"] is not None and not name.isupper()
    head = is_head(name) and not listed  # in a list of words nothing is about the next one
    return is_announced(value, strength, name, place=place, head=head)


def _start_of_name(text: str, place: int) -> int:
    """Where the name begins that a telling word is part of."""
    before = _NAME_BACK.match(text[max(place - 48, 0) : place][::-1])
    return place - (before.end() if before else 0)


def _tells_by_space(value: str, name: str, strength: Strength) -> bool:
    """With nothing but a space between, only a random value tells, and no weak name."""
    if is_digest_or_uuid(value):
        return is_vendor_name(name)
    return strength is not Strength.WEAK and is_random(value, least=12)


def is_announced(
    value: str, strength: Strength, name: str, *, place: Place, head: bool | None = None
) -> bool:
    """Whether a value is the secret its name announces."""
    if _is_folder(name, value):
        return False
    if strength is Strength.WEAK and place < Place.LITERAL and "signature" in name.lower():
        return False  # of a message or a thought: it proves who wrote it and opens nothing
    head = name.lower() != "pwd" and (is_head(name) if head is None else head)
    if place is Place.QUOTED and name.isupper():
        place = Place.LITERAL
    vendor = strength is Strength.WEAK and is_digest_or_uuid(value) and is_vendor_name(name)
    return is_secret_value(value, strength, place=place, head=head, vendor=vendor)


def _is_folder(name: str, value: str) -> bool:
    """``pwd`` names a folder as often as a password."""
    if name.lower() != "pwd" or ("/" not in value and "\\" not in value):
        return False
    return not is_random(value, least=10)


def _read_value(view: View, match: re.Match[str], name_start: int) -> Value | None:
    """What stands after the sign, by how a value is written there."""
    text, start = view.text, match.end()
    if match["element"] is not None:
        value = _read_until(view, match, ">", Place.LITERAL)
        return value if value and text.startswith("</", value.end) else None
    opener = start + (_PREFIXED.match(text, start) is not None)
    if text[opener : opener + 1] not in {'"', "'", "`"}:
        return _read_bare(view, match, name_start, start)
    named = match["close"][:1] == text[name_start - 1 : name_start] != ""
    if not named and _is_inside(view, opener):
        return None
    value = _read_string(view, opener)
    if value is None:
        return _read_bare(view, match, name_start, opener + 1)
    if match["sign"] == "=" and text[value.end + 1 : value.end + 2] in _GOES_ON:
        return _read_bare(view, match, name_start, start)
    return value


def _is_inside(view: View, opener: int) -> bool:
    """Whether a quote closes a string that began before it on its line: a label in a prompt."""
    text, quote = view.text, view.text[opener]
    begin = text.rfind("\n", max(opener - 300, 0), opener) + 1
    if begin == 0 and opener > 300:
        return False
    level = view.count_backslashes(opener)
    count = seen = 0
    place = text.find(quote, begin, opener)
    while place >= 0 and seen < MAX_QUOTES:
        seen += 1
        apostrophe = (
            quote == "'" and text[place - 1 : place].isalpha() and text[place + 1].isalpha()
        )
        if not apostrophe and view.count_backslashes(place) == level:
            count += 1
        place = text.find(quote, place + 1, opener)
    return seen < MAX_QUOTES and count % 2 == 1


def _read_string(view: View, opener: int) -> Value | None:
    """A string from its opening quote to the quote that closes it on the same level of escaping."""
    text, quote = view.text, view.text[opener]
    level = view.count_backslashes(opener)
    closed: Value | None = None
    place = opener + 1
    for _ in range(MAX_QUOTES):
        place = _end_of(_STRING[quote], text, place)
        sign, depth = text[place : place + 1], view.count_backslashes(place)
        if sign == quote and depth % (2 * level + 2) == level and _may_close(view, opener, place):
            closed = Value(opener + 1, place, Place.QUOTED)
            doubled = _count_doubled(view, place, level, empty=place == opener + 1)
            if not doubled:
                break
            place += doubled
        elif (sign == quote and depth >= level) or (sign == "\n" and depth > level):
            place += 1
        else:
            break
    return closed


def _may_close(view: View, opener: int, place: int) -> bool:
    """Whether a quote is written as the opening one is.

    Two backslashes before an apostrophe are one in a string of JSON; what follows tells.
    """
    text, before, here = view.text, view.find_escape(opener), view.find_escape(place)
    if text[place - 1] == "\\":
        return False  # both written as numbers: an escaped quote all the same
    if here[:1] in {"%", "&"}:
        return here[:1] == before[:1]
    return text[place] != "'" or here == before or text[place + 1 : place + 2] in _AFTER_STRING


def _count_doubled(view: View, place: int, level: int, *, empty: bool) -> int:
    r"""How long the sign is for one quote inside a string: SQL's ``''``, a shell's ``'\''``."""
    text = view.text
    if text[place : place + 2] != "''":
        return 0
    if view.count_backslashes(place + 1) > level and text[place + 2 : place + 3] == "'":
        return 3
    return 0 if empty or view.count_backslashes(place + 1) != level else 2


def _end_of(pattern: re.Pattern[str], text: str, start: int, stop: int = TO_THE_END) -> int:
    match = pattern.match(text, start, stop)
    return match.end() if match else start


def _read_bare(view: View, match: re.Match[str], name_start: int, start: int) -> Value | None:
    """A value without quotes, up to where it ends in its surroundings."""
    text = view.text
    before = text[max(name_start - 2, 0) : name_start]
    if match["comma"] is not None:
        return None
    if match["sign"] == "=" and before[-1:] in {"?", "&"}:
        return _read_until(view, match, "&", Place.LITERAL)
    if before.rstrip(" ")[-1:] == ";":
        return _read_until(view, match, ";", Place.LITERAL)
    if match["sign"].strip() == "|":
        cell = _read_until(view, match, "|", Place.LINE)
        return None if cell is None or is_call(text[cell.start : cell.end]) else cell
    return _read_open(view, match, name_start, start)


def _read_open(view: View, match: re.Match[str], name_start: int, start: int) -> Value | None:
    """A value that white space ends, or nothing but what is around it."""
    text = view.text
    low = max(name_start - 48, 0)
    line = _LINE_START.search("x" * (low > 0) + text[low:name_start])
    around = _level_of(view, name_start, line)
    first = line is not None or _opens_string(text, name_start, match)
    if _is_option(text, name_start, match):
        return _read_run(view, start, around, Place.LITERAL)
    if match["sign"] == "=" and (first or _is_variable(text, name_start, match)):
        code = is_call(_rest_of_line(text, start))
        return None if code else _read_run(view, start, around, Place.LITERAL)
    if match["space"] is None and (first or "is" in match["sign"]):
        return _read_line(view, start, around)
    return _read_part(text, start)


def _is_option(text: str, name_start: int, match: re.Match[str]) -> bool:
    """A flag, or ``ENV name value`` of a Dockerfile."""
    docker = match["space"] is not None and text.startswith("\nENV ", name_start - 5)
    return docker or text[name_start] == "-"


def _opens_string(text: str, name_start: int, match: re.Match[str]) -> bool:
    """``"name=value"``: the name is the first word of a string."""
    return not match["close"] and text[name_start - 1 : name_start] in {'"', "'", "`"}


def _is_variable(text: str, name_start: int, match: re.Match[str]) -> bool:
    """``… NAME=value``: upper case and a word of its own, as shells and docker write it."""
    name = text[name_start : match.start("close")]
    return name.isupper() and bool(_SHELL_WORD.search(text[max(name_start - 2, 0) : name_start]))


def _level_of(view: View, name_start: int, line: re.Match[str] | None) -> Around:
    """The string around a value without quotes, if there is one."""
    text = view.text
    if line is not None and not line["open"]:
        begin = name_start - (line.end() - line.start())
        if line["begin"] in {'"', "'", "`"}:
            return Around(line["begin"], 2 * view.count_backslashes(begin) + 1)
        return Around('"', max(2 * view.count_backslashes(begin) - 1, 0) if line["begin"] else 0)
    if name_start and text[name_start - 1] in _QUOTES:
        return Around(text[name_start - 1], 2 * view.count_backslashes(name_start - 1) + 1)
    return Around(_QUOTES, 1)


def _read_run(view: View, start: int, around: Around, place: Place) -> Value | None:
    """Up to white space, or up to the quote that closes the string around it."""
    text = view.text
    stop = _end_of_string(view, start, around) if around.level else len(text)
    end = _end_of(_RUN, text, start, stop)
    while end < stop and text[end].isspace() and view.count_backslashes(end) > around.level:
        end = _end_of(_RUN, text, end + 1, stop)  # a backslash and a letter, not white space
    length = len(_trim(text[start:end], place))
    return Value(start, start + length, place) if length >= MIN_VALUE_LENGTH else None


def _end_of_string(view: View, start: int, around: Around) -> int:
    """Where the string around a value is closed, as far as that is near."""
    for found in _ANY_QUOTE.finditer(view.text, start, start + LOOK):
        if found.group() in around.quotes and view.count_backslashes(found.start()) < around.level:
            return found.start()
    return len(view.text)


def _trim(value: str, place: Place) -> str:
    """A value without the signs of the sentence or statement it ends."""
    value = value.rstrip(_TRAIL if place is Place.LINE else ",;\\")
    while value and (opener := _OPENERS.get(value[-1])) and opener not in value:
        value = value[:-1].rstrip(",;")
    return value


def _read_line(view: View, start: int, around: Around) -> Value | None:
    """The rest of a line after ``name:`` or ``name =``, unless it is code."""
    text = view.text
    if is_expression(_rest_of_line(text, start)):
        return None
    value = _read_run(view, start, around, Place.LINE)
    name, sign, _ = text[start : value.end if value else start].partition("=")
    if value is None or (sign and len(name) >= 3 and is_wordy(name)):
        return _read_part(text, start)
    return value


def _rest_of_line(text: str, start: int) -> str:
    stop = text.find("\n", start, start + LOOK)
    return text[start : stop if stop >= 0 else start + LOOK]


def _read_part(text: str, start: int) -> Value | None:
    """A value in the middle of a line: a comma, a bracket or the next parameter ends it."""
    end = _end_of(_BARE, text, start)
    if text[end : end + 1] in {"(", "[", "{"}:
        return None
    value = text[start:end].split("&", 1)[0].rstrip(".,;:!?\\*")
    return Value(start, start + len(value), Place.BARE) if len(value) >= MIN_VALUE_LENGTH else None


def _read_until(view: View, match: re.Match[str], sign: str, place: Place) -> Value | None:
    """Up to a sign that ends it, unless the sign is written as an escape and thus part of it."""
    text, start = view.text, match.end()
    level = view.count_backslashes(match.end("sign") - 1)
    end = _end_of(_ENDS[sign], text, start)
    for _ in range(MAX_QUOTES):
        if end >= len(text) or view.count_backslashes(end) <= level:
            break
        end = _end_of(_ENDS[sign], text, end + 1)
    value = text[start:end].rstrip()
    return Value(start, start + len(value), place) if len(value) >= MIN_VALUE_LENGTH else None


def _find_flags(view: View, lowered: str, judged: set[int], work: Work) -> Iterator[Span]:
    """What follows ``--password``, as the next word or the next item of a list."""
    text = view.text
    match = _FLAG.search(lowered)
    while match is not None:
        after = match.end()
        told = classify_name(match["name"])
        if not work.spend(2):
            after = end_of_window(text, match.start())
            yield _span(view, match.start(), after, CROWDED)
        elif told is not None and after not in judged:
            judged.add(after)
            value = read_argument(view, after)
            if value is not None and work.spend(20) and is_announced(
                text[value.start : value.end], told[1], match["name"], place=Place.LITERAL
            ):  # fmt: skip
                work.spend(24)
                after = value.end
                yield _span(view, value.start, value.end, told[0])
        match = _FLAG.search(lowered, after)


def read_argument(view: View, start: int, least: int = MIN_VALUE_LENGTH) -> Value | None:
    """One argument of a command: a string in quotes, or a word up to white space."""
    text = view.text
    if text[start : start + 1] in {'"', "'", "`"}:
        value = _read_string(view, start)
        if value is not None:
            return value._replace(place=Place.LITERAL)
        start += 1
    return _read_run(view, start, Around(_QUOTES, 1), Place.LITERAL) if least else None
