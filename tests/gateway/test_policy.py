"""Reset policies: what they accept and when they say a session is over."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import get_args
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from warmstart.gateway import ConfigError, SessionResetPolicy, find_expiry
from warmstart.gateway.policy import Mode, last_boundary, to_utc

NOON = datetime(2026, 4, 10, 12, 0, tzinfo=UTC)
MOMENTS = st.datetimes(datetime(2000, 1, 1), datetime(2060, 1, 1), timezones=st.just(UTC))  # noqa: DTZ001 - bounds have none
ZONES = st.sampled_from(["UTC", "Europe/Berlin", "America/St_Johns", "Pacific/Apia", None])


def test_the_default_is_both_at_four_or_after_a_day() -> None:
    policy = SessionResetPolicy()
    assert (policy.mode, policy.at_hour, policy.idle_minutes) == ("both", 4, 1440)
    assert SessionResetPolicy.from_dict({}) == policy


def test_null_is_the_default() -> None:
    read = SessionResetPolicy.from_dict({"mode": None, "at_hour": None, "idle_minutes": None})
    assert read == SessionResetPolicy()


def test_a_policy_survives_a_round_trip() -> None:
    policy = SessionResetPolicy("daily", 6, 30, "Asia/Tokyo", notify=False)
    assert SessionResetPolicy.from_dict(policy.to_dict()) == policy


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("mode", "weekly"), ("at_hour", 24), ("at_hour", -1), ("at_hour", "four"),
        ("idle_minutes", 0), ("idle_minutes", True), ("idle_minutes", 1.5), ("timezone", "Mars/Base"),
        ("timezone", "../etc/passwd"), ("notify", "maybe"), ("mode", ["idle"]), ("timezone", ""),
    ],
)  # fmt: skip
def test_a_wrong_value_is_named_with_its_key(key: str, value: object) -> None:
    with pytest.raises(ConfigError) as caught:
        SessionResetPolicy.from_dict({key: value}, "reset_by_type.dm")
    assert caught.value.key == f"reset_by_type.dm.{key}"
    assert repr(value) in caught.value.message


def test_a_slip_in_a_key_is_refused() -> None:
    with pytest.raises(ConfigError, match="spelled 'idle_minutes'"):
        SessionResetPolicy.from_dict({"idle_minute": 5})


def test_a_policy_made_by_hand_is_checked_too() -> None:
    with pytest.raises(ConfigError, match="mode is 'sometimes'"):
        SessionResetPolicy(mode="sometimes")


def test_idle_counts_from_the_last_activity() -> None:
    policy = SessionResetPolicy(mode="idle", idle_minutes=30)
    assert find_expiry(policy, NOON, NOON + timedelta(minutes=30)) is None
    assert find_expiry(policy, NOON, NOON + timedelta(minutes=31)) == "idle"


def test_daily_is_the_hour_on_the_wall_of_the_named_zone() -> None:
    policy = SessionResetPolicy(mode="daily", at_hour=4, timezone="Asia/Tokyo")
    before, after = (datetime(2026, 4, 10, 18, m, tzinfo=UTC) for m in (59, 59))
    assert find_expiry(policy, before, after) is None
    assert find_expiry(policy, before, after + timedelta(minutes=2)) == "daily"


def test_none_never_ends() -> None:
    assert find_expiry(SessionResetPolicy(mode="none"), NOON, NOON + timedelta(days=999)) is None


def test_both_ends_at_whichever_comes_first() -> None:
    policy = SessionResetPolicy(mode="both", at_hour=13, idle_minutes=600, timezone="UTC")
    assert find_expiry(policy, NOON, NOON + timedelta(hours=2)) == "daily"
    assert find_expiry(policy, NOON + timedelta(hours=1), NOON + timedelta(hours=12)) == "idle"


def test_times_without_a_zone_are_the_machine_s() -> None:
    policy = SessionResetPolicy(mode="idle", idle_minutes=30)
    wall = NOON.astimezone().replace(tzinfo=None)
    assert find_expiry(policy, wall, NOON + timedelta(minutes=31)) == "idle"


def test_the_hour_holds_through_a_change_of_the_clocks() -> None:
    policy = SessionResetPolicy(mode="daily", at_hour=4, timezone="Europe/Berlin")
    now = datetime(2026, 3, 30, 1, 0, tzinfo=UTC)  # 03:00 on the day after the clocks went forward
    assert last_boundary(policy, now) == datetime(2026, 3, 29, 2, 0, tzinfo=UTC)


@given(now=MOMENTS, hour=st.integers(0, 23), zone=ZONES)
def test_the_last_boundary_is_never_ahead_and_at_most_two_days_back(
    now: datetime, hour: int, zone: str | None
) -> None:
    boundary = last_boundary(SessionResetPolicy("daily", hour, timezone=zone), now)
    assert now - timedelta(days=2) < boundary <= now


@given(
    updated=MOMENTS,
    later=st.timedeltas(timedelta(0), timedelta(days=9)),
    mode=st.sampled_from(get_args(Mode)),
)
def test_once_over_a_session_stays_over(updated: datetime, later: timedelta, mode: str) -> None:
    policy = SessionResetPolicy(mode=mode, timezone="Europe/Berlin")
    first = updated + timedelta(days=3)
    if find_expiry(policy, updated, first) is not None:
        assert find_expiry(policy, updated, first + later) is not None


def test_a_moment_in_another_zone_is_the_same_moment() -> None:
    policy = SessionResetPolicy(mode="idle", idle_minutes=5)
    there = NOON.astimezone(ZoneInfo("Asia/Tokyo"))
    assert find_expiry(policy, there, NOON + timedelta(minutes=4)) is None


@given(first=MOMENTS, second=MOMENTS, hour=st.integers(0, 23), zone=ZONES)
def test_a_boundary_does_not_depend_on_what_was_asked_before(
    first: datetime, second: datetime, hour: int, zone: str | None
) -> None:
    policy = SessionResetPolicy("daily", hour, timezone=zone)
    fresh = last_boundary(policy, first)
    last_boundary(policy, second)
    last_boundary(policy, first.replace(second=0, microsecond=0))
    assert last_boundary(policy, first) == fresh


@given(st.datetimes(datetime(1971, 1, 2), datetime(2300, 1, 1)))  # noqa: DTZ001 - the machine's own
def test_a_wall_clock_time_is_the_same_moment_in_utc(moment: datetime) -> None:
    assert to_utc(moment) == moment.astimezone(UTC)
