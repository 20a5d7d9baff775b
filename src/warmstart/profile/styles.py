"""How the user works with the agent, in one word each, from counts over their own turns."""

from __future__ import annotations

import re
from collections.abc import Iterable
from enum import StrEnum

from warmstart.model import Marker, MarkerKind, UserStyleCounts

__all__ = ["FeedbackStyle", "RequestStyle", "find_domains", "find_feedback", "find_style"]

TERSE_WORDS = 8
DETAILED_WORDS = 60
_PATH = re.compile(r"[/?#\\]")
_HOST = re.compile(r"(?:\w[\w.-]{0,252}|\[[0-9a-fA-F:.]{2,45}\])(?::\d{1,5})?")


class RequestStyle(StrEnum):
    """How the user asks."""

    DIRECT = "direct"
    DETAILED = "detailed"
    CONVERSATIONAL = "conversational"
    COMMAND_DRIVEN = "command-driven"
    TERSE = "terse"
    BALANCED = "balanced"


class FeedbackStyle(StrEnum):
    """How the user answers what the agent did."""

    TERSE = "terse"
    DETAILED = "detailed"
    CORRECTIONS_ONLY = "corrections only"
    BALANCED = "balanced"


def find_style(counts: UserStyleCounts) -> RequestStyle | None:
    """The user's way of asking; None where they wrote nothing. The first rule that fits wins."""
    if not counts.messages:
        return None
    words = counts.words / counts.messages
    commands = counts.commands / counts.messages
    if commands >= 0.6 and words < TERSE_WORDS:
        return RequestStyle.COMMAND_DRIVEN
    if words < TERSE_WORDS:
        return RequestStyle.TERSE
    if words >= DETAILED_WORDS or counts.long >= 0.4 * counts.messages:
        return RequestStyle.DETAILED
    if counts.questions > 0.5 * counts.messages or counts.polite > 0.5 * counts.messages:
        return RequestStyle.CONVERSATIONAL
    return RequestStyle.DIRECT if commands >= 0.3 else RequestStyle.BALANCED


def find_feedback(counts: UserStyleCounts) -> FeedbackStyle | None:
    """The user's way of reacting; None where they spoke only once, and so never reacted."""
    replies = counts.messages - 1
    if replies < 1:
        return None
    if counts.corrections >= 0.5 * replies:
        return FeedbackStyle.CORRECTIONS_ONLY
    if counts.long >= 0.3 * counts.messages:
        return FeedbackStyle.DETAILED
    return FeedbackStyle.TERSE if counts.short >= 0.5 * replies else FeedbackStyle.BALANCED


_LANGUAGES = {
    "py": "python", "ipynb": "notebooks", "ts": "typescript", "tsx": "typescript",
    "js": "javascript", "jsx": "javascript", "mjs": "javascript", "go": "go", "rs": "rust",
    "java": "java", "kt": "kotlin", "c": "c", "h": "c", "cc": "c++", "cpp": "c++", "hpp": "c++",
    "cs": "c#", "rb": "ruby", "php": "php", "swift": "swift", "sh": "shell", "bash": "shell",
    "ps1": "powershell", "sql": "sql", "html": "web", "css": "web", "scss": "web", "vue": "web",
    "svelte": "web", "md": "documents", "mdx": "documents", "rst": "documents", "tex": "documents",
    "yml": "configuration", "yaml": "configuration", "toml": "configuration",
    "json": "configuration", "tf": "infrastructure", "csv": "data", "parquet": "data",
}  # fmt: skip


def find_domains(markers: Iterable[Marker]) -> list[tuple[str, int]]:
    """What the work was about, by uses: languages of the files, hosts of the addresses."""
    uses: dict[str, int] = {}
    for marker in markers:
        domain = _domain(marker)
        if domain:
            uses[domain] = uses.get(domain, 0) + marker.uses
    return sorted(uses.items(), key=lambda item: (-item[1], item[0]))


def _domain(marker: Marker) -> str | None:
    if marker.kind == MarkerKind.FILE:
        return _LANGUAGES.get(marker.value.rpartition(".")[2].lower())
    if marker.kind == MarkerKind.URL:
        return _host(marker.value)
    return None


def _host(address: str) -> str | None:
    """Where an address leads; nothing where what stands there may be a piece of a password."""
    place = _PATH.split(address.partition("://")[2], maxsplit=1)[0]
    match = _HOST.fullmatch(place.rpartition("@")[2])
    return match[0] if match else None
