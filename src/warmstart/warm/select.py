"""Which template a new session should start from, or none, and why.

A template is worth its fit to the message (words of its name, tags and anchors, and the kind of
work), times how its sessions went with this model, times how much of its world still exists. How
they went is not a number but a belief, so it is drawn from (Thompson sampling): a template that is
little tried gets its chance, one that did badly loses it. The draws depend on the session's seed
alone, so that asking twice gives the same answer. A share of the sessions for which a template
was found stays cold on purpose; that is the control group of a later verdict.
"""

from __future__ import annotations

import hashlib
import random
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from warmstart.model import Arm, TemplateState
from warmstart.warm.build import Toolset
from warmstart.warm.search import MIXED, Bm25, guess_task_type, list_terms

DEFAULT_HOLDOUT = 0.1
DEFAULT_THRESHOLD = 0.35
MAX_CANDIDATES = 20
"""How many of the best fits are looked at closely."""
SAME_TYPE, OTHER_TYPE = 1.15, 0.85
MIN_TRIALS = 5
HARMFUL_MEAN = 0.35
"""A template with enough trials and a mean below this is not offered again."""
HALF_AT = 1.0
"""The lexical score that gives a short message a fit of one half."""
WORDS_PER_DOUBT = 10
"""With this many words a message must score twice as high: long messages match by chance."""
STALE_LOSS = 0.3
"""The share of its value a template loses when none of its files exists any more."""


class Policy(StrEnum):
    """How one of several fitting templates is chosen."""

    THOMPSON = "thompson"
    BEST = "best"
    """The highest expected value, without a draw."""
    LEAST_USED = "least_used"
    """The fitting template that was used least, so that they rotate."""


def join_text(name: str, tags: Iterable[str], anchors: Iterable[str]) -> str:
    """The text of a template that is searched: name, tags and anchors, never its body."""
    return " ".join((name, *tags, *anchors))


@dataclass(frozen=True, slots=True, kw_only=True)
class TemplateEntry:
    """What is known of a template without opening it."""

    name: str
    tags: tuple[str, ...] = ()
    anchors: tuple[str, ...] = ()
    description: str = ""
    task_type: str = MIXED
    tools: frozenset[str] = frozenset()
    """Tools it covers; empty if not known."""
    state: TemplateState = TemplateState.APPROVED
    alpha: float = 1.0
    """Beta posterior of its success with this model: one plus successes."""
    beta: float = 1.0
    uses: int = 0
    freshness: float = 1.0
    """Share of its markers that still exist."""

    @property
    def text(self) -> str:
        """The text that is searched."""
        return join_text(self.name, self.tags, self.anchors)

    @property
    def mean(self) -> float:
        """Expected success."""
        return self.alpha / (self.alpha + self.beta)

    @property
    def trials(self) -> float:
        """Sessions behind the posterior."""
        return self.alpha + self.beta - 2.0


@dataclass(frozen=True, slots=True, kw_only=True)
class SelectionRules:
    """How a template is chosen."""

    policy: Policy = Policy.THOMPSON
    holdout: float = DEFAULT_HOLDOUT
    threshold: float = DEFAULT_THRESHOLD
    tools: Collection[str] | None = None
    """Tools the session has; None if not known."""
    task_type: str | None = None
    """None: guessed from the message."""
    history: Mapping[str, int] | None = None
    """Past sessions by kind of work, for messages that do not say."""
    freshness: Callable[[str], float] | None = None
    """The share of a template's markers that still exist, by its name; asked for the best fits
    only. None: the freshness of the entries counts."""


DEFAULT_RULES = SelectionRules()


@dataclass(frozen=True, slots=True, kw_only=True)
class Ranked:
    """A template with everything its rank is based on."""

    name: str
    fit: float
    """0 to 1: words and kind of work."""
    mean: float
    draw: float
    freshness: float
    uses: int
    value: float
    """Fit, freshness and expected success together; compared with the threshold."""
    score: float
    """The value with the drawn success in place of the expected one; the ranking's order."""
    note: str = ""
    """Why it cannot be chosen; empty if it can."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TemplateChoice:
    """The template to start from, or None."""

    template: str | None
    """For a holdout, the template that would have been used."""
    arm: Arm
    reason: str
    task_type: str = MIXED
    ranking: tuple[Ranked, ...] = ()


class TemplateIndex:
    """Approved templates, indexed for search; build it once for a library."""

    __slots__ = ("_bm25", "_get", "names", "texts", "unapproved")

    def __init__(self, entries: Iterable[TemplateEntry]) -> None:
        known = sorted(entries, key=lambda entry: entry.name)
        approved = [entry for entry in known if entry.state is TemplateState.APPROVED]
        self._set([entry.name for entry in approved], [e.text for e in approved])
        self._get: Callable[[int], TemplateEntry] = approved.__getitem__
        self.unapproved = len(known) - len(approved)

    @classmethod
    def of_texts(
        cls,
        names: Sequence[str],
        texts: Sequence[str],
        get: Callable[[int], TemplateEntry],
        *,
        unapproved: int = 0,
        searcher: Bm25 | None = None,
    ) -> TemplateIndex:
        """Approved templates by their words, in the order of their names.

        Args:
            names: all of them.
            texts: what is searched, ``TemplateEntry.text`` of each.
            get: gives the entry at a place; asked for the few that fit.
            unapproved: how many more there are that may not be chosen.
            searcher: the search over the same texts, if there is one already.
        """
        index = cls(())
        index._set(list(names), list(texts), searcher)
        index._get = get
        index.unapproved = unapproved
        return index

    def _set(self, names: list[str], texts: list[str], searcher: Bm25 | None = None) -> None:
        self.names = names
        self.texts = texts
        self._bm25 = searcher or Bm25(texts)

    def get(self, place: int) -> TemplateEntry:
        """The entry at a place."""
        return self._get(place)

    def match(self, message: str) -> dict[int, float]:
        """How well entries fit the message by their words, 0 to 1, by place."""
        terms = list_terms(message)
        doubt = HALF_AT * (1 + len(set(terms)) / WORDS_PER_DOUBT)
        return {place: s / (s + doubt) for place, s in self._bm25.score(terms).items()}


def choose(
    message: str,
    entries: TemplateIndex | Iterable[TemplateEntry],
    *,
    session_seed: str = "",
    rules: SelectionRules = DEFAULT_RULES,
) -> TemplateChoice:
    """The template for a session; the same seed and library always give the same answer."""
    index = entries if isinstance(entries, TemplateIndex) else TemplateIndex(entries)
    kind = rules.task_type or guess_task_type(message, rules.history)
    if not index.names:
        return TemplateChoice(template=None, arm=Arm.COLD, reason=_why_empty(index), task_type=kind)
    ranking = _rank(message, index, kind, session_seed, rules)
    fitting = [one for one in ranking if not one.note and one.value >= rules.threshold]
    if not fitting:
        reason = _why_cold(ranking, rules.threshold)
        return TemplateChoice(
            template=None, arm=Arm.COLD, reason=reason, task_type=kind, ranking=ranking
        )
    best = _take(fitting, rules.policy)
    held_out = draw_share(session_seed, "holdout") < rules.holdout
    return TemplateChoice(
        template=best.name,
        arm=Arm.HOLDOUT if held_out else Arm.WARM,
        reason=_why_chosen(best, rules) if not held_out else _why_held_out(best, rules),
        task_type=kind,
        ranking=ranking,
    )


def draw_share(*names: str) -> float:
    """A number from 0 to 1 that depends on the names alone."""
    digest = hashlib.sha256("\x1f".join(names).encode("utf-8", "replace")).digest()
    return int.from_bytes(digest[:8], "big") / 2**64


def _rank(
    message: str, index: TemplateIndex, kind: str, session_seed: str, rules: SelectionRules
) -> tuple[Ranked, ...]:
    """The best fits, highest score first."""
    fits = index.match(message)
    nearest = sorted(fits, key=lambda place: (-fits[place], place))[:MAX_CANDIDATES]
    present = None if rules.tools is None else Toolset(rules.tools)
    candidates = [(_freshen(index.get(place), rules), fits[place]) for place in nearest]
    ranked = [_weigh(entry, fit, kind, session_seed, present) for entry, fit in candidates]
    ranked.sort(key=lambda one: (bool(one.note), -_order(one, rules.policy), one.name))
    return tuple(ranked)


def _freshen(entry: TemplateEntry, rules: SelectionRules) -> TemplateEntry:
    return replace(entry, freshness=rules.freshness(entry.name)) if rules.freshness else entry


def _order(one: Ranked, policy: Policy) -> float:
    return one.score if policy is Policy.THOMPSON else one.value


def _weigh(
    entry: TemplateEntry, fit: float, kind: str, session_seed: str, present: Toolset | None
) -> Ranked:
    if MIXED not in (kind, entry.task_type):
        fit = min(fit * (SAME_TYPE if kind == entry.task_type else OTHER_TYPE), 1.0)
    draw = _draw_belief(entry, session_seed)
    world = 1.0 - STALE_LOSS * (1.0 - entry.freshness)
    return Ranked(
        name=entry.name,
        fit=fit,
        mean=entry.mean,
        draw=draw,
        freshness=entry.freshness,
        uses=entry.uses,
        value=fit * world * (0.5 + entry.mean),
        score=fit * world * (0.5 + draw),
        note=_why_not(entry, present),
    )


def _draw_belief(entry: TemplateEntry, session_seed: str) -> float:
    chance = random.Random(f"{session_seed}\x1f{entry.name}")  # noqa: S311 - repeatable on purpose
    return chance.betavariate(max(entry.alpha, 0.01), max(entry.beta, 0.01))


def _why_not(entry: TemplateEntry, present: Toolset | None) -> str:
    if entry.trials >= MIN_TRIALS and entry.mean < HARMFUL_MEAN:
        return f"did badly: {entry.mean:.0%} of {entry.trials:.0f} sessions went well"
    if present is not None and entry.tools and not any(tool in present for tool in entry.tools):
        return "the session has none of its tools"
    return ""


def _take(fitting: Sequence[Ranked], policy: Policy) -> Ranked:
    if policy is Policy.LEAST_USED:
        return min(fitting, key=lambda one: (one.uses, one.name))
    return fitting[0]


def _why_empty(index: TemplateIndex) -> str:
    if index.unapproved:
        return f"no template is approved ({index.unapproved} wait for a review)"
    return "the library is empty"


def _why_cold(ranking: Sequence[Ranked], threshold: float) -> str:
    if not ranking:
        return "no template shares a word with the message"
    best = ranking[0]
    if best.note:
        return f"{best.name} would fit, but {best.note}"
    return f"nothing fits well enough: {best.name} reaches {best.value:.2f} of {threshold:.2f}"


def _why_chosen(best: Ranked, rules: SelectionRules) -> str:
    words = {
        Policy.THOMPSON: f"fits best (fit {best.fit:.2f}, drawn success {best.draw:.2f})",
        Policy.BEST: f"fits best (fit {best.fit:.2f}, expected success {best.mean:.2f})",
        Policy.LEAST_USED: f"fits and was used least (fit {best.fit:.2f}, {best.uses} uses)",
    }
    return f"{best.name} {words[rules.policy]}"


def _why_held_out(best: Ranked, rules: SelectionRules) -> str:
    return f"{best.name} fits, but {rules.holdout:.0%} of sessions stay cold as the control group"
