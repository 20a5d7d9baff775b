"""What points to a person or a machine: mail addresses, phone numbers, home folders, names.

Only used where personal data is asked to go. A user name seen in a home folder is remembered and
replaced wherever it stands afterwards; names every machine has (``root``, ``ubuntu``) are not.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from warmstart.redact.decoded import View
from warmstart.redact.names import lower_same_length
from warmstart.redact.span import Span
from warmstart.redact.values import words
from warmstart.redact.work import CROWDED, Work, end_of_window

RANK = 3
EMAIL, PHONE, HOME, USER, HOST = "email", "phone", "home", "user", "host"
MIN_NAME = 3
MAX_NAMES = 200
"""Names looked for outside home folders; more would make every text slow."""
GENERIC_NAMES = words(
    "root user users ubuntu debian admin administrator dev developer runner vscode node app "
    "home guest test tester ec2-user circleci vagrant jenkins docker public shared default "
    "git www-data codespace sandbox agent workspace nobody daemon project work data localhost "
    "name username you your user1 someone foo bar python build ci me all all_users me. "
    "linuxbrew host server myuser example path to local main system code repo src tmp desktop "
    "laptop web api"
)
_BEFORE_AT = re.compile(r"[A-Za-z0-9_%+\-](?:[A-Za-z0-9._%+\-]{0,63})")
_AFTER_AT = re.compile(r"@(?:[A-Za-z0-9-]{1,63}\.){1,8}(?P<top>[A-Za-z]{2,24})(?![\w@])")
_NO_TOP = words(
    "png jpg jpeg gif svg webp ico py js ts tsx jsx json md txt yml yaml css html lock toml "
    "service socket target timer mount local test example localhost zip gz tgz whl jar map"
)
_RESERVED = re.compile(
    r"(?i)@(?:[\w-]+\.)*example\.(?:com|org|net)$|^git@|@(?:\w+\.)*(?:test|invalid)$"
)
_PHONE = re.compile(
    r"(?<![\w.+/-])(?:\+\d{1,3}[ .-]?(?:\(\d{1,4}\)[ .-]?)?\d{2,4}(?:[ .-]?\d{2,4}){2,4}"
    r"|\(\d{3}\) ?\d{3}-\d{4}|\d{3}-\d{3}-\d{4})(?![\w-]|\.\d)"
)
_PHONE_HINT = re.compile(r"\d\d\d-\d\d\d\d(?!\d)|\+\d")
"""Without one of these there is no number; most texts have none."""
_HOME = re.compile(
    r"(?<![\w.\-~>])(?:/(?:mnt/)?[a-z](?=/Users/))?/(?:var/|export/|usr/)?(?:home|Users)/"
    r"(?P<name>[A-Za-z0-9_][\w.\-]{0,63})(?<!\.)"
)
_WINDOWS_HOME = re.compile(
    r"(?<=[A-Za-z]):(?:\\+|/+)(?i:users|documents and settings)(?:\\+|/+)"
    r"(?P<name>[A-Za-z0-9_][\w.\- ]{0,40}(?=\\|/)|[A-Za-z0-9_][\w.\-]{0,63})"
)
_SLUG_HOME = re.compile(r"(?<![A-Za-z0-9])-+(?:home|Users)-(?P<name>[A-Za-z0-9_]{3,63})(?=-)")
_SHARED = frozenset({"shared", "public", "all users", "default"})


def find_people(view: View, raw: str, work: Work) -> Iterator[Span]:
    """Mail addresses, phone numbers and home folders."""
    text = view.text
    yield from _find_emails(view, work)
    if _PHONE_HINT.search(text):
        for match in _PHONE.finditer(text):
            if sum(map(str.isdigit, match.group())) in range(8, 16):
                yield Span(*view.locate(*match.span()), PHONE, match.group(), RANK)
    for match in _find_homes(text):
        yield Span(*view.locate(*match.span()), HOME, "", RANK)
    if "sers" in raw or "SERS" in raw or "ettings" in raw:
        for match in _WINDOWS_HOME.finditer(raw):
            if match.group("name").lower() not in _SHARED:
                # The drive's letter stands before what is matched: a search for a colon is fast.
                yield Span(match.start() - 1, match.end(), HOME, "", RANK)


def _find_emails(view: View, work: Work) -> Iterator[Span]:
    text = view.text
    place = text.find("@")
    while place >= 0:
        if not work.spend(2):
            end = end_of_window(text, place)
            yield Span(*view.locate(place, end), CROWDED, text[place:end], RANK)
            place = text.find("@", end)
            continue
        after = _AFTER_AT.match(text, place)
        before = _BEFORE_AT.match(text[max(place - 64, 0) : place][::-1]) if after else None
        if after and before and after.group("top").lower() not in _NO_TOP:
            start = place - before.end()
            value = text[start : after.end()]
            if not _RESERVED.search(value):
                yield Span(*view.locate(start, after.end()), EMAIL, value.lower(), RANK)
        place = text.find("@", place + 1)


def _find_homes(text: str) -> Iterator[re.Match[str]]:
    if "/home/" in text or "/Users/" in text:
        for match in _HOME.finditer(text):
            if match.group("name").lower() not in _SHARED:
                yield match


def list_user_names(text: str) -> list[str]:
    """User names that stand in home folders, except the ones every machine has.

    No more than ``MAX_NAMES``: further ones would not be looked for.
    """
    found: dict[str, None] = {}
    for name in _list_home_names(text):
        if name not in found and is_telling_name(name):
            found[name] = None
            if len(found) == MAX_NAMES:
                break
    return list(found)


def _list_home_names(text: str) -> Iterator[str]:
    for match in _find_homes(text):
        yield match.group("name")
    if "sers" in text:
        for match in _WINDOWS_HOME.finditer(text):
            yield match.group("name").strip()
    if "-home-" in text or "-Users-" in text:
        for match in _SLUG_HOME.finditer(text):
            yield match.group("name")


def is_telling_name(name: str) -> bool:
    """A name long and unusual enough to point to someone."""
    return len(name) >= MIN_NAME and name.lower() not in GENERIC_NAMES and not name.isdigit()


class Names:
    """Names of users and hosts to be replaced where they stand as a word of their own."""

    def __init__(self, users: Iterable[str] = (), hosts: Iterable[str] = ()) -> None:
        self._kinds: dict[str, str] = {}
        self._pattern: re.Pattern[str] | None = None
        self.add(users, USER)
        self.add(hosts, HOST)

    def __len__(self) -> int:
        return len(self._kinds)

    def add(self, names: Iterable[str], kind: str = USER) -> None:
        """More names of a kind; those that tell nothing are left out."""
        fresh = [n.lower() for n in names if is_telling_name(n) and n.lower() not in self._kinds]
        fresh = fresh[: MAX_NAMES - len(self._kinds)]
        if not fresh:
            return
        self._kinds.update(dict.fromkeys(fresh, kind))
        longest_first = sorted(self._kinds, key=len, reverse=True)
        body = "|".join(map(re.escape, longest_first))
        self._pattern = re.compile(rf"(?<![A-Za-z0-9])(?:{body})(?![A-Za-z0-9])")

    def find(self, view: View, work: Work) -> Iterator[Span]:
        """Every place where one of the names stands; where they crowd, the rest is masked whole."""
        if self._pattern is None:
            return
        for match in self._pattern.finditer(lower_same_length(view.text)):
            name = match.group()
            if not work.spend():
                place = match.start()
                end = len(view.text)
                yield Span(*view.locate(place, end), CROWDED, view.text[place:end], RANK)
                return
            yield Span(*view.locate(*match.span()), self._kinds[name], name, RANK + 1)
