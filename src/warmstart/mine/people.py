"""Names of people, found where machines write them: in the paths of home folders.

A name found there is taken out everywhere, not only in paths: agents greet their users, commits
name their authors. Names that are words of everyday use are taken out in paths only.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from functools import partial

from warmstart.model import Session

SCANNED_CHARS, SCANNED_TAIL = 4000, 1000
"""What can come into a template of a text, and more; names further in cannot."""
_HOME = re.compile(
    r"(?:/Users/|/home/|[A-Za-z]:\\{1,2}Users\\{1,2}|[A-Za-z]:/Users/|/c/Users/|-Users-|-home-)"
    r"([A-Za-z0-9][A-Za-z0-9._-]{1,31})"
)
_HOME_FOLDER = re.compile(
    r"(?:/Users/|/home/|[A-Za-z]:\\{1,2}Users\\{1,2}|[A-Za-z]:/Users/|/c/Users/|-Users-|-home-)"
    r"(?!<)[A-Za-z0-9][A-Za-z0-9._-]*"
)
_AUTHOR = re.compile(
    r"(?:Author|Committer|Co-[Aa]uthored-[Bb]y|Signed-off-by):[ \t]+([^\n<>\\\"]{3,60}?)[ \t]*<"
)
_MACHINES = ("claude", "copilot", "bot", "gpt", "codex", "gemini", "github", "hermes", "agent")
"""Authors who are not people."""
_EVERYDAY = frozenset({
    "admin", "administrator", "agent", "app", "build", "ci", "circleci", "code", "data", "default",
    "dev", "developer", "docker", "git", "guest", "home", "jenkins", "linux", "local", "me", "name",
    "node", "project", "public", "root", "runner", "sandbox", "server", "shared", "src", "test",
    "tmp", "ubuntu", "user", "username", "users", "vagrant", "vscode", "web", "work", "workspace",
    "www", "you", "your",
})  # fmt: skip


def find_names(sessions: Iterable[Session]) -> frozenset[str]:
    """Every name that the paths and commits of these sessions give away, in lower case."""
    users: set[str] = set()
    authors: set[str] = set()
    for session in sessions:
        for text in _texts(session):
            _scan(text, users, authors)
    names = {name.lower().strip("._-") for name in users}
    # A mangled folder name (-Users-ann-code-shop) runs on: the first part is the name.
    names |= {name.lower().partition("-")[0] for name in users}
    names |= {name.strip().lower() for name in authors if not _is_machine(name.lower())}
    return frozenset(name for name in names if len(name) > 2 and name not in _EVERYDAY)


def _scan(text: str, users: set[str], authors: set[str]) -> None:
    # Plain searches first: most texts have neither, and the expressions cost ten times as much.
    if "ome" in text or "sers" in text:
        users.update(_HOME.findall(text))
    if "uthor" in text or "ommitter: " in text or "igned-off-" in text:
        authors.update(_AUTHOR.findall(text))


def _is_machine(name: str) -> bool:
    return any(word in name for word in _MACHINES)


def _texts(session: Session) -> Iterable[str]:
    yield session.project or ""
    yield session.path or ""
    for message in session.messages:
        yield _ends(message.text)
        for request in message.requests:
            values = request.arguments.values()
            yield from (_ends(value) for value in values if isinstance(value, str))
        for result in message.results:
            yield _ends(result.text)


def _ends(text: str) -> str:
    if len(text) <= SCANNED_CHARS + SCANNED_TAIL:
        return text
    return f"{text[:SCANNED_CHARS]}\n{text[-SCANNED_TAIL:]}"


def make_eraser(names: Iterable[str]) -> Callable[[str], str]:
    """A function that takes home folders and these names out of a text."""
    longest_first = sorted(set(names), key=lambda name: (-len(name), name))
    if not longest_first:
        return _erase_homes
    listed = "|".join(re.escape(name) for name in longest_first)
    # Text inside JSON has its line ends escaped: a name may also begin behind a "\\n".
    start = r"(?:(?<![A-Za-z0-9])|(?<=\\[nrt]))"
    pattern = re.compile(rf"{start}(?:{listed})(?![A-Za-z0-9])", re.IGNORECASE)
    return partial(_erase, pattern)


def _erase_homes(text: str) -> str:
    return _HOME_FOLDER.sub("~", text) if "ome" in text or "sers" in text else text


def _erase(pattern: re.Pattern[str], text: str) -> str:
    return pattern.sub("<user>", _erase_homes(text))
