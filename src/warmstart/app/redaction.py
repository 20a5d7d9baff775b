"""The secrets, names and folders of the user, for redaction to know them by value.

The environment and the ``.env`` files around a folder are read here and nowhere printed. A value
counts when its name announces a secret or when it looks random; words, paths and numbers do not,
or half of every text would go.
"""

from __future__ import annotations

import getpass
import os
import re
import socket
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from warmstart.app.core import Workspace
from warmstart.model import map_texts
from warmstart.redact import RedactionError, Redactor, classify_name, is_example, is_random

MIN_LENGTH = 8
MIN_RANDOM_LENGTH = 20
MAX_ENV_FILE_BYTES = 262_144
MAX_PARENTS = 8
MAX_CLEAN, MAX_CLEAN_CHARS = 20_000, 240
"""How many texts without a secret a ``Masker`` remembers, and how long they may be."""
WITHHELD = "<SECRET:text:1>"
"""What stands for a text that cannot be redacted."""
_ASSIGNMENT = re.compile(r"^\s*(?:export\s+)?([A-Za-z_][\w.]*)\s*=\s*(.*?)\s*$")
_WORD_OR_PATH = re.compile(r"^(?:[A-Za-z]+|[\d.,:-]+|~?\.{0,2}/.*|[A-Za-z]:[\\/].*)$")
"""Values that are not secrets even under a name that announces one: a word, a number, a path."""
_COMMON = re.compile(
    r"^(?:[A-Za-z]+|[\d.,:-]+|true|false|[A-Za-z]+([-_][A-Za-z]+)*|~?\.{0,2}/.*|[A-Za-z]:[\\/].*)$"
)


def open_redactor(
    workspace: Workspace, *, pii: bool = False, folder: Path | None = None
) -> Redactor:
    """A redactor that knows this user: secrets of the environment and of ``.env`` files, names."""
    own_folder = folder or Path.cwd()
    known = list_own_secrets(os.environ, [own_folder, workspace.home])
    return Redactor(
        known, pii=pii, users=list_user_names(), hosts=list_host_names(), homes=list_homes()
    )


class Masker:
    """Masks texts that are kept in an index, so that each looks the same wherever it is met.

    A text is masked by itself: its placeholders do not depend on what was read before it, so two
    readings of a session give the same row and equal names stay equal. What is found in one text
    of a session is taken out of its other texts too.
    """

    def __init__(self, workspace: Workspace) -> None:
        self._known = list_own_secrets(os.environ, [Path.cwd(), workspace.home])
        self._clean: set[str] = set()
        self._probe = Redactor(self._known)

    def __call__(self, texts: list[str]) -> list[str]:
        """Texts of one session without their secrets; the same list where there are none."""
        fresh = [text for text in texts if text not in self._clean]
        if not fresh or self._is_clean("\n".join(fresh)):
            if len(self._clean) > MAX_CLEAN:
                self._clean.clear()
            self._clean.update(text for text in fresh if len(text) <= MAX_CLEAN_CHARS)
            return texts
        own = Redactor(self._known)
        for text in texts:
            _mask(own, text)  # learns what is found
        return [self._mask_alone(text, own) for text in texts]

    def _mask_alone(self, text: str, own: Redactor) -> str:
        if _mask(own, text) == text:
            return text
        return _mask(own, _mask(Redactor(self._known), text))

    def _is_clean(self, text: str) -> bool:
        """Whether nothing is found in all of them at once, which takes a fifth of the time."""
        if _mask(self._probe, text) == text:
            return True
        self._probe = Redactor(self._known)  # the other remembers what it found
        return False


def _mask(redactor: Redactor, text: str) -> str:
    try:
        return redactor.text(text)
    except RedactionError:
        return WITHHELD


def redact_texts(value: Any, redactor: Redactor) -> Any:
    """The same records with every text in them redacted, names in mappings too."""
    return map_texts(value, redactor.text)


def list_own_secrets(environ: Mapping[str, str], folders: Iterable[Path] = ()) -> list[str]:
    """Secret values of an environment and of the ``.env`` files in and above some folders."""
    values = list(_choose(environ.items()))
    for path in _env_files(folders):
        values += _choose(_read_env_file(path))
    return sorted(set(values), key=lambda value: (-len(value), value))


def _choose(pairs: Iterable[tuple[str, str]]) -> Iterator[str]:
    for name, value in pairs:
        if len(value) < MIN_LENGTH:
            continue
        password = _password_of_address(value)
        if password:
            yield password
        elif "://" not in value and not is_example(value) and _is_own_secret(name, value):
            yield value


def _is_own_secret(name: str, value: str) -> bool:
    """By its name, also a phrase of plain words; without one, only what looks random."""
    if classify_name(name) is not None:
        return not _WORD_OR_PATH.match(value) and " " not in value
    return not _COMMON.match(value) and is_random(value, least=MIN_RANDOM_LENGTH)


def _password_of_address(value: str) -> str:
    if "://" not in value:
        return ""
    try:
        password = urlsplit(value).password or ""
    except ValueError:
        return ""
    return unquote(password) if len(password) >= MIN_LENGTH else ""


def _env_files(folders: Iterable[Path]) -> Iterator[Path]:
    """``.env`` and ``.env.*`` in each folder and above it, up to the repository's root."""
    seen: set[Path] = set()
    for start in folders:
        for folder in (start, *list(start.parents)[:MAX_PARENTS]):
            if folder in seen:
                break
            seen.add(folder)
            yield from sorted(path for path in _glob_env(folder) if path.is_file())
            if (folder / ".git").exists():
                break


def _glob_env(folder: Path) -> list[Path]:
    try:
        return [path for path in folder.glob(".env*") if not path.name.endswith(".example")]
    except OSError:
        return []


def _read_env_file(path: Path) -> Iterator[tuple[str, str]]:
    """Names and values of one file; a file that cannot be read holds nothing we could leak."""
    try:
        with path.open("rb") as file:
            text = file.read(MAX_ENV_FILE_BYTES).decode("utf-8", "replace")
    except OSError:
        return
    for line in text.splitlines():
        match = _ASSIGNMENT.match(line)
        if match is not None:
            yield match[1], _unquote(match[2])


def _unquote(value: str) -> str:
    if len(value) >= 2 and value[0] == value[-1] and value[0] in "\"'":
        return value[1:-1]
    return value.split(" #", 1)[0].rstrip()


def list_user_names() -> list[str]:
    """The user's login name and the name of the home folder."""
    try:
        login = getpass.getuser()
    except (KeyError, OSError):  # no such user on this machine, as in some containers
        login = ""
    return [name for name in dict.fromkeys((login, Path.home().name)) if name]


def list_host_names() -> list[str]:
    """The machine's name, with and without its domain."""
    name = socket.gethostname()
    return [part for part in dict.fromkeys((name, name.split(".", 1)[0])) if part]


def list_homes() -> list[str]:
    """The user's home folder, where it is long enough to be one user's own."""
    home = str(Path.home())
    return [home] if home.count(os.sep) >= 2 else []
