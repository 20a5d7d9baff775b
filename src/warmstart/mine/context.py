"""What a template knows beside its patterns: what the work was about, and in whose world.

All of it is counted over the sessions that qualified. A marker is kept only if more than one
session came back to it, because what one session touched says nothing about the next.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from urllib.parse import urlsplit

from warmstart.mine.episodes import shorten
from warmstart.mine.trivial import is_trivial
from warmstart.mine.volatile import IN_TEXT, is_absolute, relative_to
from warmstart.model import CallFact, Marker, MarkerKind, SessionFacts, Status, UserPatterns
from warmstart.profile import (
    ToolType,
    classify_session,
    classify_tool,
    find_domains,
    find_feedback,
    find_style,
)

MAX_ANCHORS = 12
MAX_ANCHOR = 100
MAX_MARKERS = 16
MAX_TAGS = 12
MAX_TOOLS = 8
MAX_DOMAINS = 6
MIN_DOMAIN_SHARE = 0.05
MIN_MARKER_SESSIONS = 2
COMMON_SHARE = 0.2
"""A command or file is named as common from this share of the sessions on."""
_WORDS = re.compile(r"[a-z][a-z0-9]{3,}")


def task_type_of(facts: Iterable[SessionFacts]) -> str:
    """The kind of work most calls were."""
    counts: Counter[str] = Counter()
    for one in facts:
        counts.update(classify_tool(call.tool) for call in one.calls if not is_trivial(call.tool))
    return str(classify_session(counts))


def find_anchors(facts: Sequence[SessionFacts]) -> tuple[str, ...]:
    """Short texts of what sessions were about, each adding words the others do not have."""
    texts = sorted({text for text in map(_anchor, facts) if len(text) > 8})
    chosen: list[str] = []
    seen: set[str] = set()
    while texts and len(chosen) < MAX_ANCHORS:
        best = max(texts, key=lambda text: len(set(_WORDS.findall(text.lower())) - seen))
        new = set(_WORDS.findall(best.lower())) - seen
        if not new:
            break
        texts.remove(best)
        seen |= new
        chosen.append(best)
    return tuple(sorted(chosen))


def _anchor(facts: SessionFacts) -> str:
    text = shorten(facts.title or facts.opening or "", MAX_ANCHOR)
    return "" if text.startswith(("<", "/", "{", "[")) else IN_TEXT.sub(_placeholder, text)


def _placeholder(match: re.Match[str]) -> str:
    return f"<{match.lastgroup or 'path'}>"


def find_markers(facts: Sequence[SessionFacts]) -> tuple[Marker, ...]:
    """Files, addresses and commands that several sessions came back to, as they could be checked.

    ``uses`` counts sessions' uses together. Files are relative to the project; what lies
    elsewhere on a machine would only be found on that machine, and is left out.
    """
    uses: Counter[tuple[MarkerKind, str]] = Counter()
    sessions: Counter[tuple[MarkerKind, str]] = Counter()
    for one in facts:
        found: Counter[tuple[MarkerKind, str]] = Counter()
        for marker in one.markers:
            value = _portable(marker, one.project)
            if value:
                found[marker.kind, value] += marker.uses
        uses.update(found)
        sessions.update(found.keys())
    wanted = MIN_MARKER_SESSIONS if len(facts) > 1 else 1
    kept = [key for key in uses if sessions[key] >= wanted]
    kept.sort(key=lambda key: (-sessions[key], -uses[key], key))
    return tuple(Marker(kind, value, uses[kind, value]) for kind, value in kept[:MAX_MARKERS])


def _portable(marker: Marker, project: str | None) -> str:
    if marker.kind is MarkerKind.COMMAND:
        return marker.value if len(marker.value) <= 60 else ""
    if marker.kind is MarkerKind.URL:
        return _site(marker.value)
    value = relative_to(marker.value, project).replace("\\", "/")
    return "" if is_absolute(value) or value in (".", "..") or len(value) > 160 else value


def _site(url: str) -> str:
    """An address down to its site: what follows may name anything."""
    try:
        parts = urlsplit(url)
        host = parts.hostname
    except ValueError:
        return ""
    return f"{parts.scheme}://{host}" if parts.scheme and host else ""


def find_preferred_tools(facts: Iterable[SessionFacts]) -> tuple[str, ...]:
    """The tools that worked most often, most used first."""
    uses: Counter[str] = Counter()
    for one in facts:
        uses.update(call.tool for call in one.calls if call.status is Status.OK)
    known = [tool for tool in uses if not is_trivial(tool)]
    return tuple(sorted(known, key=lambda tool: (-uses[tool], tool))[:MAX_TOOLS])


def list_domains(facts: Sequence[SessionFacts]) -> tuple[str, ...]:
    """What the work was about: languages and sites, those that make up a fair part of it."""
    found = find_domains(marker for one in facts for marker in one.markers)
    total = sum(uses for _, uses in found)
    return tuple(name for name, uses in found if uses >= MIN_DOMAIN_SHARE * total)[:MAX_DOMAINS]


def find_user_patterns(facts: Sequence[SessionFacts]) -> UserPatterns:
    """How the user writes, from all of their turns together."""
    spoken = [one for one in facts if one.user_style.messages]
    if not spoken:
        return UserPatterns()
    styles = Counter(str(find_style(one.user_style) or "") for one in spoken)
    replied = Counter(str(find_feedback(one.user_style) or "") for one in spoken)
    del styles[""], replied[""]
    return UserPatterns(
        style=_commonest(styles) or "",
        feedback=_commonest(replied) or "",
        sessions=len(spoken),
    )


def _commonest(counts: Mapping[str, int]) -> str | None:
    return min(counts, key=lambda name: (-counts[name], name), default=None)


def make_tags(given: Iterable[str], facts: Sequence[SessionFacts], *more: str) -> tuple[str, ...]:
    """The tags asked for, then what the data says: agents, kind of work, languages."""
    agents = Counter(one.agent for one in facts)
    derived = [name for name, _ in sorted(agents.items(), key=lambda item: (-item[1], item[0]))[:3]]
    return tuple(dict.fromkeys(tag for tag in (*given, *derived, *more) if tag))[:MAX_TAGS]


def describe_context(facts: Sequence[SessionFacts], markers: Sequence[Marker]) -> str:
    """A few sentences on how sessions that went well proceeded; counts, never contents."""
    if not facts:
        return ""
    total = len(facts)
    lines = [_describe_course(facts)]
    commands = _common_commands(facts)
    if commands:
        named = ", ".join(f"`{name}` ({number} of {total})" for name, number in commands)
        lines.append(f"Commands that sessions share: {named}.")
    files = [marker.value for marker in markers if marker.kind is MarkerKind.FILE][:5]
    if files:
        lines.append("Files they come back to: " + ", ".join(f"`{name}`" for name in files) + ".")
    return "\n".join(line for line in lines if line)


def _common_commands(facts: Sequence[SessionFacts]) -> list[tuple[str, int]]:
    sessions: Counter[str] = Counter()
    for one in facts:
        kinds = {m.value for m in one.markers if m.kind is MarkerKind.COMMAND and len(m.value) < 60}
        sessions.update(kinds)
    least = max(2, COMMON_SHARE * len(facts))
    found = [item for item in sessions.items() if item[1] >= least]
    return sorted(found, key=lambda item: (-item[1], item[0]))[:6]


def _describe_course(facts: Sequence[SessionFacts]) -> str:
    """Which tools sessions begin with, and which step follows which most often."""
    first: Counter[str] = Counter()
    steps: Counter[tuple[str, str]] = Counter()
    for one in facts:
        tools = [call.tool for call in one.calls if _is_step(call)]
        if tools:
            first[tools[0]] += 1
        steps.update((a, b) for a, b in pairwise(tools) if a != b)
    starts = _commonest(first)
    if starts is None:
        return ""
    text = f"{first[starts]} of {len(facts)} sessions that went well began with `{starts}`"
    ranked = sorted(steps, key=lambda pair: (-steps[pair], pair))[:3]
    if ranked and steps[ranked[0]] > 1:
        arrows = ", ".join(f"`{a}` then `{b}`" for a, b in ranked)
        text += f"; the commonest steps were {arrows}"
    return text + "."


def _is_step(call: CallFact) -> bool:
    return not is_trivial(call.tool) and classify_tool(call.tool) != ToolType.META
