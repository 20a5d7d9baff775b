"""When a conversation starts over: after a pause, at an hour of the day, both, or never.

The hour is a wall-clock hour in a named time zone, so a gateway far from its users, or two gateways
that share a database, agree on it. Every comparison is made in UTC.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta, tzinfo
from typing import Annotated, Any, Literal
from zoneinfo import ZoneInfo

from msgspec import Meta

from warmstart.gateway.errors import ConfigError
from warmstart.gateway.settings import ASIDE, check_fields, read_table

Mode = Literal["daily", "idle", "both", "none"]
NOT_NOTIFIED = ("api_server", "webhook")
MAX_IDLE_MINUTES = 10 * 365 * 24 * 60
_MINUTE = timedelta(minutes=1)
_EXACT_YEARS = range(1971, 2200)
"""Years in which the seconds since 1970 hold every microsecond as a float."""


@dataclass(slots=True)
class SessionResetPolicy:
    """When a session is too old to go on with."""

    mode: Mode = "both"
    at_hour: Annotated[int, Meta(ge=0, le=23, description="a whole number from 0 to 23")] = 4
    idle_minutes: Annotated[
        int,
        Meta(ge=1, le=MAX_IDLE_MINUTES, description=f"a whole number from 1 to {MAX_IDLE_MINUTES}"),
    ] = 1440
    timezone: str | None = None
    """An IANA name ("Europe/Berlin"); None is the machine's own zone."""
    notify: bool = True
    """Whether people get a notice that their session was reset."""
    notify_exclude_platforms: tuple[str, ...] = NOT_NOTIFIED
    """Platforms, by name, whose chats get no notice."""
    extra: dict[str, Any] = field(default_factory=dict, repr=False, metadata=ASIDE)
    """Settings this version does not know: not used, not lost."""

    def __post_init__(self) -> None:
        check_fields(self)
        find_zone(self.timezone)

    def notifies(self, platform: str | None) -> bool:
        """Whether a chat of that platform gets a notice of a reset."""
        return self.notify and platform not in self.notify_exclude_platforms

    def to_dict(self) -> dict[str, Any]:
        """The policy as plain JSON; zone and notice only where they differ from the default."""
        data: dict[str, Any] = dict(self.extra)
        data |= {"mode": self.mode, "at_hour": self.at_hour, "idle_minutes": self.idle_minutes}
        if self.timezone is not None:
            data["timezone"] = self.timezone
        if not self.notify:
            data["notify"] = False
        if self.notify_exclude_platforms != NOT_NOTIFIED:
            data["notify_exclude_platforms"] = list(self.notify_exclude_platforms)
        return data

    @classmethod
    def from_dict(cls, data: Any, where: str = "") -> SessionResetPolicy:
        """The policy of a table of settings.

        Raises:
            ConfigError: a value is wrong.
        """
        return read_table(cls, data, where)


def describe_reset(policy: SessionResetPolicy, reason: str | None) -> str:
    """The sentence that says why a chat has a new session."""
    if reason == "daily":
        why = f"sessions start over every day at {policy.at_hour}:00"
    elif reason == "idle":
        why = f"nothing was written here for {_describe_minutes(policy.idle_minutes)}"
    else:
        why = "the last one was interrupted"
    return f"This is a new session: {why}. What was said before is stored, but not in view."


def _describe_minutes(minutes: int) -> str:
    units = ((1440, "day"), (60, "hour"), (1, "minute"))
    size, noun = next(unit for unit in units if minutes % unit[0] == 0)
    number = minutes // size
    return f"{number} {noun}" + ("" if number == 1 else "s")


def find_zone(name: str | None) -> tzinfo | None:
    """The time zone of that name; None stands for the machine's own."""
    if name is None:
        return None
    try:
        return ZoneInfo(name)
    except (OSError, ValueError, KeyError, TypeError) as error:
        hint = "on a system without zone data: pip install tzdata"
        raise ConfigError(
            "timezone", name, "a time zone such as Europe/Berlin", hint=hint
        ) from error


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
