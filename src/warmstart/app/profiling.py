"""Profiles of the sessions in a workspace: where facts are read and the profile stage runs.

A corpus is profiled from summaries that the facts index keeps, so that a second look reads only
what is new. Settings are in the section ``[profile]`` of the home's ``config.toml``.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from warmstart.app.config import load_section
from warmstart.app.core import Workspace
from warmstart.app.facts import Progress, read_facts
from warmstart.app.summaries import Making, read_summary
from warmstart.errors import UsageError
from warmstart.facts import digest_code, gc_paused
from warmstart.model import Selection, SessionFacts
from warmstart.profile.compaction import MARGIN, WINDOW, CompactionReport, check_compactions
from warmstart.profile.corpus import LENGTH_EDGES, CorpusProfile, corpus_profile
from warmstart.profile.rules import DEFAULT_RULES, Rules, parse_tool_types
from warmstart.profile.session import SessionProfile, profile_whole_session
from warmstart.profile.summarise import summarise
from warmstart.profile.summary import decode_summary, encode_summary, merge_all
from warmstart.profile.tool_types import TRIVIAL_TOOLS
from warmstart.sources import ReadLog

__all__ = [
    "CompactionRequest",
    "ProfileSettings",
    "check_sessions",
    "load_rules",
    "load_settings",
    "make_rules",
    "profile_corpus",
    "profile_one",
    "write_page",
]

PROFILE_CODE = ("profile", "stats")
"""What decides, beside the facts, what a kept summary says."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CompactionRequest:
    """What to check: one session (an id or a unique part of it), or every event."""

    wanted: str | None = None
    window: int = WINDOW
    margin: float = MARGIN


@dataclass(frozen=True, slots=True, kw_only=True)
class ProfileSettings:
    """The section ``[profile]``."""

    buckets: str = "50,100"
    """Upper ends of the length buckets, in messages."""
    count_trivial: bool = False
    trivial: str = ""
    """More tools to leave out of rates, joined by commas."""
    tool_types: str = ""
    """``TOOL=TYPE`` pairs joined by commas."""


def load_settings(workspace: Workspace, flags: Mapping[str, Any] | None = None) -> ProfileSettings:
    """The settings in force; ``flags`` win over everything.

    Raises:
        UsageError: a setting cannot be right.
    """
    return load_section(workspace, "profile", ProfileSettings, flags)


def make_rules(
    settings: ProfileSettings, trivial: Iterable[str] = (), tool_types: Iterable[str] = ()
) -> Rules:
    """The rules of the settings, with more tools named on the spot.

    Raises:
        UsageError: a tool type is not written TOOL=TYPE, or does not exist.
    """
    pairs = {}
    for text in (*_split(settings.tool_types), *tool_types):
        name, sign, kind = text.rpartition("=")
        if not sign or not name:
            raise UsageError(f"{text!r} is not TOOL=TYPE", hint="--tool-type my_tool=research")
        pairs[name] = kind
    named = {name.lower() for name in (*_split(settings.trivial), *trivial)}
    base = frozenset() if settings.count_trivial else TRIVIAL_TOOLS
    return Rules(trivial=base | named, types=parse_tool_types(pairs))


def load_rules(workspace: Workspace) -> Rules:
    """The rules of the settings in force.

    Raises:
        UsageError: a setting cannot be right.
    """
    return make_rules(load_settings(workspace))


def _split(text: str) -> list[str]:
    return [part.strip() for part in text.split(",") if part.strip()]


def profile_corpus(
    workspace: Workspace,
    selection: Selection,
    log: ReadLog,
    *,
    rules: Rules = DEFAULT_RULES,
    edges: Sequence[int] = LENGTH_EDGES,
    on_progress: Progress | None = None,
) -> CorpusProfile:
    """The profile of every session selected.

    Raises:
        NotFoundError: there is nothing at a path.
    """

    def encode(sessions: Sequence[SessionFacts]) -> bytes:
        return encode_summary(summarise(sessions, rules))

    def join(parts: Sequence[bytes]) -> bytes:
        return encode_summary(merge_all(map(decode_summary, parts)))

    making = Making(f"profile:{rules.fingerprint}", encode, join, digest_code(*PROFILE_CODE))
    with gc_paused():
        summary = read_summary(workspace, selection, log, making, on_progress=on_progress)
        return corpus_profile([decode_summary(summary)], edges)


def profile_one(
    workspace: Workspace,
    wanted: str,
    selection: Selection,
    log: ReadLog,
    *,
    rules: Rules = DEFAULT_RULES,
) -> SessionProfile:
    """The profile of the session whose id is, or begins with, ``wanted``.

    Raises:
        NotFoundError: no session has it.
        AmbiguousError: more than one begins with it.
    """
    return profile_whole_session(workspace.get_session(wanted, selection, log), rules)


def check_sessions(
    workspace: Workspace,
    request: CompactionRequest,
    selection: Selection,
    log: ReadLog,
    *,
    rules: Rules = DEFAULT_RULES,
    on_progress: Progress | None = None,
) -> CompactionReport:
    """What compactions did, with all other selected sessions as the comparison.

    Raises:
        NotFoundError: there is no such session.
    """
    only = None
    if request.wanted is not None:
        only = workspace.get_session(request.wanted, selection, log).id
    return check_compactions(
        read_facts(workspace, selection, log, on_progress=on_progress),
        only=only,
        window=request.window,
        margin=request.margin,
        rules=rules,
    )


def write_page(workspace: Workspace, path: Path, page: str, *, overwrite: bool) -> None:
    """Write an HTML page, private to its user."""
    workspace.write_file(path, [page.encode("utf-8", "replace")], overwrite=overwrite)
