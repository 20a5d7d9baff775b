"""Platform names: closed where used, tolerant where read."""

from __future__ import annotations

import pytest

from warmstart.gateway import ConfigError, Platform, find_platform


def test_the_names_of_april_2026_are_there() -> None:
    names = ["local", "telegram", "discord", "whatsapp", "slack", "signal", "homeassistant"]
    assert [Platform(name).value for name in names] == names


def test_a_name_is_found_whatever_its_case() -> None:
    assert Platform(" Telegram ") is Platform.TELEGRAM


@pytest.mark.parametrize("name", ["pager", "", None, 3, ["telegram"]])
def test_an_unknown_name_is_refused_where_it_is_used_and_none_where_it_is_read(
    name: object,
) -> None:
    with pytest.raises(ConfigError, match="platform is"):
        Platform(name)
    assert find_platform(name) is None


def test_refusals_are_value_errors_too() -> None:
    with pytest.raises(ValueError, match="one of local, telegram"):
        Platform("pager")
