"""Secrets in addresses, headers, cookies and password files.

Here the place alone says that a value is secret, so less is asked of its looks. Every candidate is
paid for (``Work``).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from warmstart.redact.decoded import View
from warmstart.redact.names import Strength
from warmstart.redact.span import Span
from warmstart.redact.values import (
    LOOK,
    Place,
    is_digest_or_uuid,
    is_example,
    is_random,
    is_reference,
    is_secret_value,
    is_wordy,
    words,
)
from warmstart.redact.work import CROWDED, Work, end_of_window

RANK = 1
_USERINFO = re.compile(
    r"://(?:(?P<user>[^\s/:@\"'<>`\ue000]{0,256}+):(?P<secret>[^\s/\"'\ue000]{1,512})@(?=[\w\[.$%{-])"
    r"|(?P<lone>[\w.~%+=-]{16,512}+)@(?=[\w\[]))"
)
_IN_ADDRESS = frozenset("<>`")
_JDBC = re.compile(r"jdbc:oracle:\w{1,12}:[\w.-]{1,64}/(?P<secret>[^\s@\"']{4,128}+)@")
_DEFAULTS = words(
    "password pass passwd pwd secret postgres root admin guest user username test token mysql "
    "mongo redis rabbitmq example changeme x x-oauth-basic localhost port"
)
_SCHEME = (
    r"(?:bearer|token|basic|apikey|api-key|ssws|digest|negotiate|bot|aws4-hmac-sha256)[ \t]{1,4}"
)
_BEARER = tuple(
    re.compile(rf"{word}[ \t]{{1,4}}(?P<secret>[\w\-.~+/=|:]{{12,4096}}+)")
    for word in ("bearer", "basic", "ssws")
)
_AUTHORIZATION = re.compile(
    r"authorization[\"'`]?\]?[ \t]{0,4}[:=,][ \t]{0,4}[\"'`]?[ \t]{0,4}"
    rf"(?:{_SCHEME})?(?P<secret>[\w\-.~+/=|:]{{8,4096}}+)"
)
_COOKIE = re.compile(
    r"cookie[\"'`]?[ \t]{0,4}:[ \t]{0,4}[\"'`]?(?P<secret>[^\r\n\"'`\ue000]{8,4096}+)"
)
_CRUMB = re.compile(r"(?P<name>[\w.\-]{1,64}+)=(?P<secret>[^;,\s]{8,4096}+)")
_SESSION_NAME = re.compile(
    r"(?i)sess|sid|token|auth|jwt|csrf|xsrf|remember|login|user|secret|key|id$"
)
_AUTH_JSON = re.compile(
    r"\"auth\"[ \t]{0,4}:[ \t]{0,4}\"(?P<secret>[A-Za-z0-9+/]{8,1024}+={0,2})\""
)
_NETRC = re.compile(
    r"login[ \t\n]{1,8}\S{1,128}+[ \t\n]{1,8}password[ \t\n]{1,8}(?P<secret>\S{4,256}+)"
)
_PGPASS = tuple(
    re.compile(rf":{port}:[\w.*-]{{1,64}}+:[\w.*-]{{1,64}}+:(?P<secret>[^\s:\"'`]{{4,128}}+)(?!:)")
    for port in ("5432", r"\*")
)
_HASH = re.compile(
    r"\$(?:2[abxy]\$\d\d\$[./A-Za-z0-9]{53}|(?:1|apr1)\$[./A-Za-z0-9]{1,8}\$[./A-Za-z0-9]{22}"
    r"|5\$(?:rounds=\d{1,9}\$)?[./A-Za-z0-9]{1,16}\$[./A-Za-z0-9]{43}"
    r"|6\$(?:rounds=\d{1,9}\$)?[./A-Za-z0-9]{1,16}\$[./A-Za-z0-9]{86}"
    r"|y\$[./A-Za-z0-9]{1,8}\$[./A-Za-z0-9]{1,86}\$[./A-Za-z0-9]{43}"
    r"|argon2(?:id|i|d)\$v=\d{1,3}\$[\w=,]{1,64}\$[A-Za-z0-9+/]{11,64}\$[A-Za-z0-9+/]{16,128})"
)
_SEED = tuple(
    re.compile(
        word + r"[\w\"'`\])]{0,12}+[ \t]{0,4}(?:is|was)?[ \t]{0,4}"
        r"(?:[:=,]|=>)?\s{0,8}[\"'`(\[]?"
        r"(?P<secret>[a-z]{3,8}(?:[ ,\t]{1,3}[a-z]{3,8}){11,23})(?![a-z])"
    )
    for word in ("mnemonic", "phrase", "seed")
)


def find_wires(view: View, raw: str, lowered: str, work: Work) -> Iterator[Span]:
    """Secrets in addresses, headers, cookies and password files."""
    if "://" in raw:
        yield from _find_addresses(View(raw), work)
    if not view.is_plain and "://" in view.text:
        yield from _find_addresses(view, work)
    yield from _find_headers(view, lowered, work)
    yield from _find_files(view, lowered, work)


def span_of(view: View, match: re.Match[str], kind: str, group: str | int = "secret") -> Span:
    """The stretch of the original text that a group of a match stands for."""
    start, end = match.span(group)
    return Span(*view.locate(start, end), kind, match.group(group), RANK)


Read = Callable[[re.Match[str]], list[Span]]
"""What is found where a pattern matched."""
COST, FOUND_COST = 10, 24


def find_at(
    view: View, text: str, pattern: re.Pattern[str], read: Read, work: Work
) -> Iterator[Span]:
    """What is found at each match of a pattern, while the allowance lasts."""
    match = pattern.search(text)
    while match is not None:
        start, after = match.start(), max(match.end(), match.start() + 1)
        if work.spend(COST + (after - start) // 64):
            spans = read(match)
            work.spend(FOUND_COST * len(spans))
            yield from spans
        else:
            after = end_of_window(text, start)
            yield Span(*view.locate(start, after), CROWDED, CROWDED, RANK)
        match = pattern.search(text, after)


def _find_addresses(view: View, work: Work) -> Iterator[Span]:
    def read(match: re.Match[str]) -> list[Span]:
        if match["lone"] is None:
            return list(_judge_userinfo(view, match))
        if is_random(match["lone"]) or is_digest_or_uuid(match["lone"]):
            return [span_of(view, match, "url_credential", "lone")]
        return []

    yield from find_at(view, view.text, _USERINFO, read, work)


def _judge_userinfo(view: View, match: re.Match[str]) -> Iterator[Span]:
    user, value = match["user"], match["secret"]
    if is_random(user, least=20):
        yield span_of(view, match, "url_credential", "user")
    if not _IN_ADDRESS.isdisjoint(value) and not is_random(value, least=10):
        return  # a tag, or the end of an address in a document
    if value.lower() in _DEFAULTS or value == user or is_reference(value):
        return
    if not (is_example(value) and len(value) < 40 and _is_marked(value)):
        yield span_of(view, match, "url_password")


def _is_marked(value: str) -> bool:
    """An example in words rather than a short password of few characters."""
    return len(value) < 4 or len(set(value)) <= 2 or any(map(str.isalpha, value))


def reader(view: View, kind: str, judge: Callable[[str], bool]) -> Read:
    """Reads the secret of a match where ``judge`` says that it is one."""

    def read(match: re.Match[str]) -> list[Span]:
        start, end = match.span("secret")
        value = view.text[start:end]
        return [Span(*view.locate(start, end), kind, value, RANK)] if judge(value[:LOOK]) else []

    return read


def _find_headers(view: View, lowered: str, work: Work) -> Iterator[Span]:
    header = reader(view, "authorization", _is_credential)
    yield from find_at(view, lowered, _AUTHORIZATION, header, work)
    for pattern in _BEARER:
        yield from find_at(view, lowered, pattern, reader(view, "authorization", _is_blob), work)
    yield from find_at(view, lowered, _COOKIE, lambda match: _find_crumbs(view, match), work)


def _is_credential(value: str) -> bool:
    if is_example(value):
        return False
    return is_random(value, least=12) or is_secret_value(value, Strength.STRONG, place=Place.QUOTED)


def _find_crumbs(view: View, header: re.Match[str]) -> list[Span]:
    """The values of a cookie header, except the short and wordy ones."""
    low, high = header.span("secret")
    found = []
    for crumb in _CRUMB.finditer(view.text, low, high):
        value = crumb["secret"][:LOOK]
        named = _SESSION_NAME.search(crumb["name"])
        wanted = _is_credential(value) if named else is_random(value)
        if wanted and not is_wordy(value):
            found.append(span_of(view, crumb, "cookie"))
    return found


def _find_files(view: View, lowered: str, work: Work) -> Iterator[Span]:
    """Lines of docker's, netrc's and PostgreSQL's password files, password hashes, seed phrases."""
    password = reader(view, "password", is_argument)
    yield from find_at(view, lowered, _AUTH_JSON, reader(view, "authorization", _is_blob), work)
    for pattern in (_NETRC, *_PGPASS):
        yield from find_at(view, lowered, pattern, password, work)
    oracle = reader(view, "url_password", lambda value: not is_example(value))
    yield from find_at(view, lowered, _JDBC, oracle, work)
    for pattern in _SEED:
        yield from find_at(view, lowered, pattern, reader(view, "seed_phrase", _is_phrase), work)
    for match in _HASH.finditer(view.text):
        work.spend(FOUND_COST)
        yield span_of(view, match, "password_hash", 0)


def _is_blob(value: str) -> bool:
    return is_random(value, least=12)


def _is_phrase(value: str) -> bool:
    """Twelve or more different words; a sentence would repeat small ones."""
    return len(set(value.split())) >= 9


def is_argument(value: str) -> bool:
    """A password given to a command or kept in its file."""
    return is_secret_value(value, Strength.PASSWORD, place=Place.LITERAL)
