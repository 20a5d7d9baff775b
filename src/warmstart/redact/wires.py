"""Secrets in the grammar of the wire and the shell: addresses, headers, cookies, flags.

Here the place alone says that a value is secret, so less is asked of its looks.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from warmstart.redact.span import Span
from warmstart.redact.values import (
    Strength,
    is_digest_or_uuid,
    is_example,
    is_random,
    is_secret_value,
    is_wordy,
    words,
)
from warmstart.redact.views import View

RANK = 1
_USERINFO = re.compile(
    r"://(?P<user>[^\s/:@\"'<>`\ue000]{0,256}):(?P<secret>[^\s/\"'<>`\ue000]{1,512})@(?=[\w\[.$%{-])"
)
_LONE_USER = re.compile(r"://(?P<secret>[\w.~%+=-]{16,512})@(?=[\w\[])")
_JDBC = re.compile(r"jdbc:oracle:\w{1,12}:[\w.-]{1,64}/(?P<secret>[^\s@\"']{4,128})@")
_DEFAULTS = words(
    "password pass passwd pwd secret postgres root admin guest user username test token mysql "
    "mongo redis rabbitmq example changeme x x-oauth-basic localhost port"
)
_BEARER = re.compile(
    r"(?i:bearer|token|basic|apikey|ssws|digest|negotiate)[ \t]+(?P<secret>[\w\-.~+/=|:]{8,4096})"
)
_AUTHORIZATION = re.compile(
    r"(?i:authorization)[\"'`]?\]?[ \t]{0,4}[:=,][ \t]{0,4}[\"'`]?[ \t]{0,4}"
    r"(?:(?i:bearer|token|basic|apikey|api-key|ssws|negotiate|bot|aws4-hmac-sha256)[ \t]+)?"
    r"(?P<secret>[\w\-.~+/=|:]{8,4096})"
)
_COOKIE = re.compile(
    r"(?i:cookie)[\"'`]?[ \t]{0,4}:[ \t]{0,4}[\"'`]?(?P<secret>[^\r\n\"'`\ue000]{8,4096})"
)
_CRUMB = re.compile(r"(?P<name>[\w.\-]{1,64})=(?P<secret>[^;,\s]{8,4096})")
_SESSION_NAME = re.compile(
    r"(?i)sess|sid|token|auth|jwt|csrf|xsrf|remember|login|user|secret|key|id$"
)
_USER_FLAG = re.compile(
    r"(?<![\w-])(?:-u|--user|--proxy-user|-U)(?:=|[ \t]{1,4}|(?=[\"']))[\"']?"
    r"(?P<user>[\w.@%+\\-]{1,128}):(?P<secret>[^\s\"'`]{4,256})"
)
_MYSQL_FLAG = re.compile(
    r"(?<![\w-])(?:mysql|mysqldump|mysqladmin|mariadb|sshpass|ldapsearch|smbclient|redis-cli|mongo"
    r"|mongosh|psql|sqlcmd|docker login|plink|pscp)\b[^\r\n|;\ue000]{0,200}?[ \t]"
    r"(?:-p|-w|-a|-P|-pw)[ \t]{0,2}[\"']?(?P<secret>[^\s\"'`\-][^\s\"'`]{4,256})"
)
_AUTH_JSON = re.compile(r"\"auth\"[ \t]{0,4}:[ \t]{0,4}\"(?P<secret>[A-Za-z0-9+/]{8,1024}={0,2})\"")
_NETRC = re.compile(r"\blogin[ \t\n]+\S{1,128}[ \t\n]+password[ \t\n]+(?P<secret>\S{4,256})")
_PGPASS = re.compile(
    r"(?<![\w.*:-])[\w.*-]{1,128}:(?:\d{2,5}|\*):[\w.*-]{1,64}:[\w.*-]{1,64}:"
    r"(?P<secret>[^\s:\"'`]{4,128})(?!:)"
)
_SCHEMES = ("bearer ", "basic ", "ssws ")
_SHELL_TOOLS = ("mysql", "mariadb", "sshpass", "ldapsearch", "smbclient", "redis-cli", "mongo",
                "psql", "sqlcmd", "docker login", "plink", "pscp")  # fmt: skip


def find_wires(view: View, raw: str, lowered: str) -> Iterator[Span]:
    """Secrets in addresses, headers, cookies, flags and password files."""
    if ":" in raw:
        yield from _find_addresses(View(raw, [], []))
    if view.starts and ":" in view.text:
        yield from _find_addresses(view)
    yield from _find_headers(view, lowered)
    if "-" in lowered:
        yield from _find_flags(view, lowered)
    if ":" in lowered or "login" in lowered:
        yield from _find_files(view, lowered)


def _span(view: View, match: re.Match[str], kind: str, group: str = "secret") -> Span:
    start, end = match.span(group)
    return Span(*view.locate(start, end), kind, match.group(group), RANK)


def _occurrences(lowered: str, word: str) -> Iterator[int]:
    place = lowered.find(word)
    while place >= 0:
        yield place
        place = lowered.find(word, place + len(word))


def _find_addresses(view: View) -> Iterator[Span]:
    for place in _occurrences(view.text, "://"):
        match = _USERINFO.match(view.text, place)
        if match is not None:
            yield from _judge_userinfo(view, match)
            continue
        match = _LONE_USER.match(view.text, place)
        if match is not None and _is_lone_credential(match.group("secret")):
            yield _span(view, match, "url_credential")
    for place in _occurrences(view.text, "jdbc:oracle:"):
        match = _JDBC.match(view.text, place)
        if match is not None and not is_example(match.group("secret")):
            yield _span(view, match, "url_password")


def _is_lone_credential(value: str) -> bool:
    return is_random(value) or is_digest_or_uuid(value)


def _judge_userinfo(view: View, match: re.Match[str]) -> Iterator[Span]:
    if is_random(match.group("user"), least=20):
        yield _span(view, match, "url_credential", "user")
    value = match.group("secret")
    user = match.group("user")
    harmless = value.lower() in _DEFAULTS or value == user or value[0] in "$%{*[(" or "${" in value
    if not harmless and not (is_example(value) and len(value) < 40 and _is_marked(value)):
        yield _span(view, match, "url_password")


def _is_marked(value: str) -> bool:
    """An example in words rather than a short password of few characters."""
    return len(value) < 4 or len(set(value)) <= 2 or any(map(str.isalpha, value))


def _find_headers(view: View, lowered: str) -> Iterator[Span]:
    for place in _occurrences(lowered, "authorization"):
        match = _AUTHORIZATION.match(view.text, place)
        if match is not None and _is_credential(match.group("secret")):
            yield _span(view, match, "authorization")
    for word in _SCHEMES:
        for place in _occurrences(lowered, word) if word in lowered else ():
            yield from _read_scheme(view, _BEARER.match(view.text, place))
    if "cookie" in lowered:
        yield from _find_cookies(view, lowered)


def _find_cookies(view: View, lowered: str) -> Iterator[Span]:
    done = 0
    for place in _occurrences(lowered, "cookie"):
        match = _COOKIE.match(view.text, place) if place >= done else None
        if match is not None:
            done = match.end()
            yield from _find_crumbs(view, match)


def _read_scheme(view: View, match: re.Match[str] | None) -> Iterator[Span]:
    if match is not None and is_random(match.group("secret"), least=12):
        yield _span(view, match, "authorization")


def _is_credential(value: str) -> bool:
    if is_example(value):
        return False
    return is_random(value, least=12) or is_secret_value(value, Strength.STRONG, quoted=True)


def _find_crumbs(view: View, header: re.Match[str]) -> Iterator[Span]:
    """The values of a cookie header, except the short and wordy ones."""
    low, high = header.span("secret")
    for crumb in _CRUMB.finditer(view.text, low, high):
        value = crumb.group("secret")
        named = _SESSION_NAME.search(crumb.group("name"))
        wanted = _is_credential(value) if named else is_random(value)
        if wanted and not is_wordy(value):
            yield _span(view, crumb, "cookie")


def _find_flags(view: View, lowered: str) -> Iterator[Span]:
    for word in (" -u", "--user", "--proxy-user"):
        for place in _occurrences(lowered, word) if word in lowered else ():
            yield from _read_flag(view, _USER_FLAG.match(view.text, place + (word[0] == " ")))
    if any(flag in lowered for flag in (" -p", " -w", " -a")):
        for word in filter(lowered.__contains__, _SHELL_TOOLS):
            for place in _occurrences(lowered, word):
                yield from _read_flag(view, _MYSQL_FLAG.match(view.text, place))


def _read_flag(view: View, match: re.Match[str] | None) -> Iterator[Span]:
    if match is not None and _is_flag_value(match.group("secret")):
        yield _span(view, match, "password")


def _is_flag_value(value: str) -> bool:
    return is_secret_value(value, Strength.PASSWORD, quoted=False)


def _find_files(view: View, lowered: str) -> Iterator[Span]:
    """Lines of docker's, netrc's and PostgreSQL's password files."""
    if '"auth"' in lowered:
        for match in _AUTH_JSON.finditer(view.text):
            yield from _read_scheme(view, match)
    if "login" in lowered and "password" in lowered:
        for match in _NETRC.finditer(view.text):
            yield from _read_flag(view, match)
    if ":5432:" in lowered or ":*:" in lowered:
        for match in _PGPASS.finditer(view.text):
            yield from _read_flag(view, match)
