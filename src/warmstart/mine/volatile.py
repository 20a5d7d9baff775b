"""Recognising values that would not carry over to another session, by their form alone.

Paths are made relative to their session's project first, so that the same file is the same value
on every machine.
"""

from __future__ import annotations

import re
from functools import lru_cache

_URL = re.compile(r"[a-z][a-z0-9+.-]{1,12}://\S+", re.IGNORECASE)
_SCHEME = re.compile(r"([a-z][a-z0-9+.-]{1,12})://(?=[^\s/])", re.IGNORECASE)
_WEB = frozenset({"http", "https", "ftp", "ftps", "ws", "wss", "file", "ssh", "git", "sftp"})
_UUID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}", re.IGNORECASE)
_HASH = re.compile(r"(?=[0-9a-f]*\d)(?=\d*[a-f])[0-9a-f]{7,64}", re.IGNORECASE)
_DATE = re.compile(
    r"\d{4}[-/]\d{2}[-/]\d{2}(?:[T ]\d{2}:\d{2}(?::\d{2}(?:[.,]\d+)?)?(?:Z|[+-]\d{2}:?\d{2})?)?"
)
_EMAIL = re.compile(r"[\w.+-]{1,64}@[\w-]{1,64}(?:\.[\w-]{1,64}){1,4}")
_FILE = re.compile(r"[\w@.+-]{1,120}\.[A-Za-z][A-Za-z0-9]{0,5}")
_ID = re.compile(r"(?=[^\d]*\d)(?=[\d_-]*[A-Za-z])[A-Za-z0-9_-]{12,}")
_ABSOLUTE = re.compile(r"(?:[A-Za-z]:[\\/]|[\\/~])")
_WHOLE = (
    (_URL, "url"), (_UUID, "id"), (_EMAIL, "email"), (_DATE, "date"), (_HASH, "hash"),
)  # fmt: skip
IN_TEXT = re.compile(
    r"(?P<url>\b[a-z][a-z0-9+.-]{1,12}://[^\s\"'<>)\]}]+)"
    r"|(?P<email>\b[\w.+-]{1,64}@[\w-]{1,64}(?:\.[\w-]{1,64}){1,4})"
    r"|(?P<path>(?<![\w.<>/\\])(?:[A-Za-z]:[\\/]|~/|\.{1,2}/|/)(?![/*])[\w@.+~%*-]+(?:[\\/]+[\w@.+~%*:-]+)*/?"
    r"|(?<![\w.<>/\\])[\w@.+-]+(?:/[\w@.+-]+){2,}/?"
    r"|(?<![\w.<>/\\])[\w@+-]+(?:/[\w@.+-]+)*/[\w@+-]+\.[A-Za-z][A-Za-z0-9]{0,5}\b)"
    r"|(?P<id>(?:\b|(?<=\\[nrt]))[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}\b)"
    r"|(?P<date>(?:\b|(?<=\\[nrt]))\d{4}-\d{2}-\d{2}"
    r"(?:[T ]\d{2}:\d{2}(?::\d{2}(?:[.,]\d+)?)?(?:Z|[+-]\d{2}:?\d{2})?)?)"
    r"|(?P<hash>(?:\b|(?<=\\[nrt]))(?=[0-9a-f]*\d)(?=\d*[a-f])[0-9a-f]{7,64}\b)"
)
"""Volatile values inside free text; the name of the group is the placeholder.

Text inside JSON has its line ends escaped, so a word may also begin behind a ``\\n``.
"""
MAY_VARY = re.compile(r"[/\\@\d-]")
"""Every volatile value has one of these characters in it."""


def split_scheme(value: str) -> tuple[str, str]:
    """A tool's own scheme and what follows: ``vault://`` and ``a/b.txt``. None of the web's.

    Where on the web a page is does not carry over; that a tool wants ``vault://`` in front of
    every path is a convention, and often the very one that was learned.
    """
    match = _SCHEME.match(value)
    if match is None or match[1].lower() in _WEB:
        return "", value
    return match[0], value[match.end() :]


@lru_cache(maxsize=16384)
def kind_of_value(value: str) -> str | None:
    """What a single word is, if it is one that would not carry over."""
    for pattern, kind in _WHOLE:
        if pattern.fullmatch(value):
            return kind
    if looks_like_path(value):
        return "path"
    if _ID.fullmatch(value) and sum(map(str.isdigit, value)) >= 4:
        return "id"
    return None


def looks_like_path(value: str) -> bool:
    """Whether a word names a file or folder."""
    if len(value) < 2 or any(mark in value for mark in " \n\t\"'<>|"):
        return False
    if "/" in value or "\\" in value:
        return not _URL.match(value) and value.strip("/\\.") != "" and not value.endswith("\\n")
    return bool(_FILE.fullmatch(value)) and not value.replace(".", "").isdigit()


def is_absolute(path: str) -> bool:
    """Whether a path says where on a machine it is."""
    return _ABSOLUTE.match(path) is not None


def relative_to(path: str, root: str | None) -> str:
    """A path inside the root without the root; any other as it is. ``.`` is the root itself."""
    if not root:
        return path
    unified, base = path.replace("\\", "/"), root.replace("\\", "/").rstrip("/")
    if not base:
        return path
    if unified.rstrip("/") == base:
        return "."
    return unified[len(base) + 1 :] if unified.startswith(base + "/") else path
