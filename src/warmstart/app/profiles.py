"""Profiles of the sessions in a workspace: each use case returns one result, without secrets.

Many sessions are profiled from summaries that the facts index keeps, so that a second look reads
only what is new; figures, period and short ids come from one refresh. Settings are in the section
``[profile]`` of the home's ``config.toml``.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple, TypeVar

from warmstart.app.config import load_section
from warmstart.app.core import Workspace
from warmstart.app.facts import Progress, open_view, read_facts
from warmstart.app.redaction import open_redactor, redact_texts
from warmstart.app.sessions import find_period, shorten_ids
from warmstart.app.summaries import SummaryRecipe, read_summary, summarise_view
from warmstart.errors import UsageError
from warmstart.facts import derive_facts, digest_code, gc_paused
from warmstart.model import Selection, SessionFacts
from warmstart.profile import (
    DEFAULT_RULES,
    LENGTH_EDGES,
    MARGIN,
    TRIVIAL_TOOLS,
    WINDOW,
    CompactionReport,
    Profile,
    SessionProfile,
    ToolRules,
    check_compactions,
    corpus_profile,
    decode_summary,
    encode_summary,
    merge_all,
    parse_buckets,
    parse_tool_types,
    profile_facts,
    scan_calls,
    summarise,
)
from warmstart.sources import ReadLog

__all__ = [
    "CompactionRequest",
    "CompactionResult",
    "JudgedCall",
    "ProfileResult",
    "ProfileSettings",
    "SessionResult",
    "check_compaction",
    "load_rules",
    "load_settings",
    "profile",
    "profile_corpus",
    "profile_session",
    "share_profile",
]

MAX_BATCH = 512
PROFILE_CODE = ("profile", "stats")
"""What decides, beside the facts, what a kept summary says."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CompactionRequest:
    """What to check: one session (an id or a unique part of it), or every event."""

    wanted: str | None = None
    window: int = WINDOW
    margin: float = MARGIN


@dataclass(frozen=True, slots=True, kw_only=True)
class ProfileResult:
    """The figures of many sessions, and what they are of."""

    profile: Profile
    selection: Selection
    log: ReadLog
    ids: Mapping[str, str] = field(default_factory=dict)
    """For each session named as evidence, what is enough to find it by in the same places."""
    period: tuple[float, float] | None = None
    """When the first of them began and the last was written to."""
    at_hand: int = 0
    """Sessions in the same places, whatever the filters."""
    newest: float | None = None
    """When the last of those was written to."""


class JudgedCall(NamedTuple):
    """A judged call, as much of it as a page names."""

    tool: str
    position: int
    """In the session, among all calls, from 0."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionResult:
    """The figures of one session."""

    profile: SessionProfile
    log: ReadLog
    calls: tuple[JudgedCall, ...] = ()
    """The judged calls in the order of ``profile.outcomes``."""
    period: tuple[float, float] | None = None
    paths: tuple[str, ...] = ()
    """Where it was looked for; empty for the stores of this machine."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CompactionResult:
    """What compactions did."""

    report: CompactionReport
    log: ReadLog


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


_Result = TypeVar("_Result", ProfileResult, SessionResult)


def load_settings(workspace: Workspace, flags: Mapping[str, Any] | None = None) -> ProfileSettings:
    """The settings in force; ``flags`` win over everything.

    Raises:
        UsageError: a setting cannot be right.
    """
    return load_section(workspace, "profile", ProfileSettings, flags)


def load_rules(
    workspace: Workspace,
    *,
    count_trivial: bool | None = None,
    trivial: Iterable[str] = (),
    tool_types: Iterable[str] = (),
) -> ToolRules:
    """The rules of the settings in force, with more tools named on the spot.

    Raises:
        UsageError: a tool type is not written TOOL=TYPE or does not exist.
    """
    settings = load_settings(workspace, {"count_trivial": count_trivial or None})
    pairs = {}
    for text in (*_split(settings.tool_types), *tool_types):
        name, sign, kind = text.rpartition("=")
        if not sign or not name:
            raise UsageError(f"{text!r} is not TOOL=TYPE", hint="--tool-type my_tool=research")
        pairs[name] = kind
    named = {name.lower() for name in (*_split(settings.trivial), *trivial)}
    base = frozenset() if settings.count_trivial else TRIVIAL_TOOLS
    return ToolRules(trivial=base | named, types=parse_tool_types(pairs))


def _split(text: str) -> list[str]:
    return [part.strip() for part in text.split(",") if part.strip()]


def profile(
    workspace: Workspace,
    selection: Selection,
    *,
    rules: ToolRules = DEFAULT_RULES,
    buckets: str | None = None,
    figures_only: bool = False,
    on_progress: Progress | None = None,
) -> ProfileResult:
    """The profile of every session selected.

    Args:
        workspace: where the index and the settings are.
        selection: which sessions.
        rules: which tools count, and as what.
        buckets: upper ends of the length buckets; else those of the settings.
        figures_only: leave out period and short ids, which need a row per session.
        on_progress: called with how much of how much was read.

    Raises:
        NotFoundError: there is nothing at a path.
        UsageError: the buckets cannot be right.
    """
    edges = parse_buckets(load_settings(workspace, {"buckets": buckets}).buckets)
    making, log = _make_summary(rules), ReadLog()
    with gc_paused(), open_view(workspace, selection, log, on_progress=on_progress) as view:
        if view is None:
            data, rows = _summarise_unkept(workspace, selection, log, making)
            everything = rows
        else:
            data = summarise_view(view, selection, making)
            everything = [] if figures_only else list(view.rows(_without_filters(selection)))
            rows = everything
            if selection.has_filters and not figures_only:
                rows = list(view.rows(selection))
        figures = corpus_profile([decode_summary(data)], edges)
    named = {tool.evidence[0] for tool in figures.tools if tool.evidence}
    period, whole = find_period(rows), find_period(everything)
    return ProfileResult(
        profile=redact_texts(figures, open_redactor(workspace)),
        selection=selection,
        log=log,
        ids=shorten_ids(everything, [row for row in everything if row.id in named]),
        period=period,
        at_hand=len(everything),
        newest=whole[1] if whole else None,
    )


def _summarise_unkept(
    workspace: Workspace, selection: Selection, log: ReadLog, making: SummaryRecipe
) -> tuple[bytes, list[SessionFacts]]:
    """The summary of sessions that are read each time, and their rows."""
    parts: list[bytes] = []
    rows: list[SessionFacts] = []
    batch: list[SessionFacts] = []
    for session in workspace.read_sessions(selection, log):
        batch.append(derive_facts(session))
        rows.append(batch[-1])
        if len(batch) >= MAX_BATCH:
            parts.append(making.summarise(batch))
            batch = []
    return making.join([*parts, making.summarise(batch)]), rows


def _without_filters(selection: Selection) -> Selection:
    return Selection(paths=selection.paths, format=selection.format)


def _make_summary(rules: ToolRules) -> SummaryRecipe:
    def encode(sessions: Sequence[SessionFacts]) -> bytes:
        return encode_summary(summarise(sessions, rules))

    def join(parts: Sequence[bytes]) -> bytes:
        return encode_summary(merge_all(map(decode_summary, parts)))

    return SummaryRecipe(f"profile:{rules.fingerprint}", encode, join, digest_code(*PROFILE_CODE))


def profile_corpus(
    workspace: Workspace,
    selection: Selection,
    log: ReadLog,
    *,
    rules: ToolRules = DEFAULT_RULES,
    edges: Sequence[int] = LENGTH_EDGES,
    on_progress: Progress | None = None,
) -> Profile:
    """The figures alone, with names as the index has them.

    Raises:
        NotFoundError: there is nothing at a path.
    """
    with gc_paused():
        making = _make_summary(rules)
        summary = read_summary(workspace, selection, log, making, on_progress=on_progress)
        return corpus_profile([decode_summary(summary)], edges)


def profile_session(
    workspace: Workspace, wanted: str, selection: Selection, *, rules: ToolRules = DEFAULT_RULES
) -> SessionResult:
    """The profile of the session whose id is, or begins with, ``wanted``.

    Raises:
        NotFoundError: no session has it.
        AmbiguousError: more than one begins with it.
    """
    log = ReadLog()
    facts = derive_facts(workspace.get_session(wanted, selection, log))
    calls = [JudgedCall(call.tool, call.position) for call in scan_calls(facts, rules, {}).calls]
    redactor = open_redactor(workspace)
    return SessionResult(
        profile=redact_texts(profile_facts(facts, rules), redactor),
        log=log,
        calls=tuple(redact_texts(calls, redactor)),
        period=find_period([facts]),
        paths=selection.paths,
    )


def share_profile(workspace: Workspace, result: _Result) -> _Result:
    """The result without home folders, user and host names too, for a page to be sent."""
    redactor = open_redactor(workspace, pii=True)
    figures = redact_texts(result.profile, redactor)
    if isinstance(result, ProfileResult):
        selection = redact_texts(result.selection, redactor)
        return replace(result, profile=figures, selection=selection)
    calls, paths = (redact_texts(texts, redactor) for texts in (result.calls, result.paths))
    return replace(result, profile=figures, calls=calls, paths=paths)


def check_compaction(
    workspace: Workspace,
    request: CompactionRequest,
    selection: Selection,
    *,
    rules: ToolRules = DEFAULT_RULES,
    on_progress: Progress | None = None,
) -> CompactionResult:
    """What compactions did, with all other selected sessions as the comparison.

    Raises:
        NotFoundError: there is no such session.
    """
    only, log = None, ReadLog()
    if request.wanted is not None:
        only = workspace.get_session(request.wanted, selection, log).id
    report = check_compactions(
        read_facts(workspace, selection, log, on_progress=on_progress),
        only=only,
        window=request.window,
        margin=request.margin,
        rules=rules,
    )
    return CompactionResult(report=redact_texts(report, open_redactor(workspace)), log=log)
