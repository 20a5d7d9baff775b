"""What the pages of a corpus and of one session share: words, marks, the lines under a title."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from warmstart.profile.sums import Rate
from warmstart.report.svg import Mark

__all__ = ["FOOTER", "About", "mark_rate", "percent", "shorten"]

UUID_LENGTH = 36
FOOTER = (
    "Made by warmstart profile. Error rate: failed calls among calls judged ok or failed;"
    " rejected, cancelled, unanswered and undecidable calls count neither way, and so do"
    " housekeeping tools and messages a warm start put in. Intervals are 95 %"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class About:
    """What a profile does not know of itself; a page says what it is given."""

    made: str = ""
    """The day the page is made."""
    period: tuple[str, str] | None = None
    """First and last day of the sessions."""
    filters: tuple[str, ...] = ()
    """In words."""
    ids: Mapping[str, str] = field(default_factory=dict)
    """Ids of sessions with what is enough to find them by."""

    @property
    def lines(self) -> list[str]:
        """Filters and the day, where they are known."""
        made = [f"Filters: {', '.join(self.filters)}."] if self.filters else []
        return [*made, f"Made on {self.made}."] if self.made else made

    @property
    def days(self) -> str:
        """The period in words; empty where it is not known."""
        if self.period is None:
            return ""
        first, last = self.period
        return first if first == last else f"{first} to {last}"


def percent(value: float | None) -> str:
    """A rate with one digit."""
    return "-" if value is None else f"{100 * value:.1f} %"


def mark_rate(label: str, rate: Rate, note: str = "") -> Mark:
    """A rate as it is plotted."""
    return Mark(label=label, value=rate.rate, low=rate.low, high=rate.high, note=note)


def shorten(session: str, ids: Mapping[str, str]) -> str:
    """An id that still finds its session: of a UUID, the first eight digits do."""
    if session in ids:
        return ids[session]
    origin, _, native = session.partition(":")
    is_uuid = len(native) == UUID_LENGTH and native.count("-") == 4
    return f"{origin}:{native[:8]}" if is_uuid else session
