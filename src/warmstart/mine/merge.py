"""Near-identical calls become one example that says how many it stands for.

The clearest of them is shown; which that is depends on its content alone, never on the
order in which sessions were read.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from hashlib import blake2b

from warmstart.mine.abstract import Abstraction, Vocabulary, form_of
from warmstart.mine.episodes import Episode
from warmstart.mine.results import describe_result
from warmstart.model import Certainty, Example, PatternType

TOLD_CHARS = (24, 240)
"""An intent shorter than this is an answer to something ("yes"), a longer one was cut."""
TYPICAL_SHARE, MIN_TYPICAL = 0.2, 2
_EDGES = (PatternType.RETRY, PatternType.INIT, PatternType.FINAL)
_RANK = {Certainty.EXPLICIT: 0, Certainty.STRUCTURAL: 1, Certainty.TEXTUAL: 2}


@dataclass(frozen=True, slots=True, kw_only=True)
class Family:
    """Calls of one form."""

    example: Example
    session: str
    """The session the example shown is from."""
    project: str | None


def merge_episodes(
    episodes: Iterable[Episode], vocabulary: Vocabulary, *, keep_outside: bool = False
) -> list[Family]:
    """One family per form, largest first."""
    groups: dict[str, list[tuple[Episode, Abstraction, dict[str, object]]]] = {}
    for episode in episodes:
        abstraction = Abstraction(vocabulary, episode.project)
        arguments = abstraction.arguments(episode.call.tool, episode.call.request.arguments)
        form = form_of(episode.call.tool, arguments)
        groups.setdefault(form, []).append((episode, abstraction, arguments))
    families = []
    for members in groups.values():
        kind = _main_type([member[0] for member in members])
        episode, abstraction, arguments = min(members, key=lambda member: _order(member[0], kind))
        example = Example(
            tool=episode.call.tool,
            arguments=arguments,
            result=describe_result(
                episode.call.request, episode.result, abstraction, keep_outside=keep_outside
            ),
            intent=abstraction.text(episode.intent),
            closing=abstraction.text(episode.closing),
            pattern_type=kind,
            certainty=episode.call.outcome.certainty,
            count=len(members),
            sessions=len({member[0].session for member in members}),
        )
        families.append(Family(example=example, session=episode.session, project=episode.project))
    return sorted(families, key=lambda family: (-family.example.count, _digest(family.example)))


def _order(episode: Episode, kind: PatternType) -> tuple[object, ...]:
    """The clearest first: verified, with words on both sides, short, then by content."""
    size = len(episode.result) + len(repr(episode.call.request.arguments))
    return (
        _RANK[episode.call.outcome.certainty],
        episode.pattern_type is not kind,
        not episode.closing,
        not TOLD_CHARS[0] <= len(episode.intent) <= TOLD_CHARS[1],
        not episode.result.strip(),
        size // 400,
        # Spread over sessions: the same one must not tell every story because of its id.
        _mix(f"{episode.session}\x1f{episode.call.position}\x1f{episode.call.tool}"),
    )


def _main_type(members: list[Episode]) -> PatternType:
    """What a form is typical of; most calls of a session are in between, so a share is enough."""
    counts = Counter(member.pattern_type for member in members)
    least = max(MIN_TYPICAL, TYPICAL_SHARE * len(members))
    typical = [kind for kind in _EDGES if counts[kind] >= least]
    if not typical and len(members) == 1:
        return members[0].pattern_type
    return max(typical, key=lambda kind: counts[kind], default=PatternType.SEQUENCE)


def _digest(example: Example) -> str:
    text = repr((example.tool, sorted(example.arguments.items(), key=str), example.result))
    return _mix(text)


def _mix(text: str) -> str:
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()
