"""When a conversation starts over: after a pause, at an hour of the day, both, or never.

The hour is a wall-clock hour in a named time zone, so a gateway far from its users, or two gateways
that share a database, agree on it. Every comparison is made in UTC.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, tzinfo
from typing import Any
from zoneinfo import ZoneInfo

from warmstart.gateway.errors import ConfigError
from warmstart.gateway.section import Section, parse_integer

MODES = ("daily", "idle", "both", "none")
MAX_IDLE_MINUTES = 10 * 365 * 24 * 60
_MINUTE = timedelta(minutes=1)
_EXACT_YEARS = range(1971, 2200)
"""Years in which the seconds since 1970 hold every microsecond as a float."""


@dataclass(slots=True)
class SessionResetPolicy:
    """When a session is too old to go on with."""

    mode: str = "both"
    at_hour: int = 4
    idle_minutes: int = 1440
    timezone: str | None = None
    """An IANA name ("Europe/Berlin"); None is the machine's own zone."""
    notify: bool = True
    """Whether people are told that their session was reset."""

    def __post_init__(self) -> None:
        if self.mode not in MODES:
            raise ConfigError("mode", self.mode, "one of " + ", ".join(MODES))
        self.at_hour = parse_integer("at_hour", self.at_hour, 0, 23)
        self.idle_minutes = parse_integer("idle_minutes", self.idle_minutes, 1, MAX_IDLE_MINUTES)
        find_zone(self.timezone)

    def to_dict(self) -> dict[str, Any]:
        """As plain JSON; the zone and the notice only where they differ from the default."""
        data: dict[str, Any] = {
            "mode": self.mode,
            "at_hour": self.at_hour,
            "idle_minutes": self.idle_minutes,
        }
        if self.timezone is not None:
            data["timezone"] = self.timezone
        if not self.notify:
            data["notify"] = False
        return data

    @classmethod
    def from_dict(cls, data: Any, where: str = "") -> SessionResetPolicy:
        """A policy from a table of settings.

        Raises:
            ConfigError: a value cannot be right.
        """
        section = Section.of(data, where)
        section.others(("mode", "at_hour", "idle_minutes", "timezone", "notify"))
        zone = section.text("timezone")
        find_zone(zone, section.name("timezone"))
        return cls(
            mode=section.choice("mode", MODES, "both"),
            at_hour=section.integer("at_hour", 4, low=0, high=23),
            idle_minutes=section.integer("idle_minutes", 1440, low=1, high=MAX_IDLE_MINUTES),
            timezone=zone,
            notify=section.flag("notify", default=True),
        )


def find_zone(name: str | None, key: str = "timezone") -> tzinfo | None:
    """The time zone of that name; None stands for the machine's own."""
    if name is None:
        return None
    try:
        return ZoneInfo(name)
    except (OSError, ValueError, KeyError, TypeError) as error:
        hint = "on a system without zone data: pip install tzdata"
        raise ConfigError(key, name, "a time zone such as Europe/Berlin", hint=hint) from error


def to_utc(moment: datetime) -> datetime:
    """A moment in UTC; one without a zone is the machine's own wall clock."""
    if moment.tzinfo is None and moment.year in _EXACT_YEARS:
        # The same in half the time.
        return datetime.fromtimestamp(moment.timestamp(), UTC)
    return moment.astimezone(UTC)


def find_expiry(policy: SessionResetPolicy, updated_at: datetime, now: datetime) -> str | None:
    """Why a session last active at ``updated_at`` is over: "idle" or "daily"; None if it is not."""
    last, moment = to_utc(updated_at), to_utc(now)
    if policy.mode in ("idle", "both") and moment - last > _MINUTE * policy.idle_minutes:
        return "idle"
    if policy.mode in ("daily", "both") and last < last_boundary(policy, moment):
        return "daily"
    return None


def last_boundary(policy: SessionResetPolicy, now: datetime) -> datetime:
    """The latest daily reset at or before ``now``, in UTC."""
    asked = (policy.at_hour, policy.timezone, time.tzname)
    minute, boundary = _found.get(asked, _NEVER)
    if not minute <= now < minute + _MINUTE:
        minute = to_utc(now).replace(second=0, microsecond=0)
        boundary = _find_boundary(policy, minute)
        _found[asked] = (minute, boundary)
    return boundary


_NEVER = (datetime.min.replace(tzinfo=UTC),) * 2
_found: dict[tuple[int, str | None, tuple[str, str]], tuple[datetime, datetime]] = {}
"""For each hour and zone the minute asked for last, and its boundary: the same for all of the
minute, for every zone is whole minutes away from UTC. The machine's own zone may be changed."""


def _find_boundary(policy: SessionResetPolicy, now: datetime) -> datetime:
    zone = find_zone(policy.timezone)
    wall = now.astimezone(zone).replace(hour=policy.at_hour, minute=0, second=0, microsecond=0)
    boundary = _settle(wall, zone)
    return boundary if boundary <= now else _settle(wall - timedelta(days=1), zone)


def _settle(wall: datetime, zone: tzinfo | None) -> datetime:
    """A wall-clock time as a moment, by the offset the zone has on that very day."""
    return wall.replace(tzinfo=zone).astimezone(UTC)
