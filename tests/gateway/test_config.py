"""The gateway's settings as objects."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from warmstart.gateway import (
    ConfigError,
    GatewayConfig,
    HomeChannel,
    Platform,
    PlatformConfig,
    SessionResetPolicy,
)

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=9),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=9), inner, max_size=3)
    ),
    max_leaves=8,
)
FIELDS = st.sampled_from(sorted(GatewayConfig.__dataclass_fields__))


def test_a_policy_is_the_platform_s_then_the_type_s_then_the_default() -> None:
    config = GatewayConfig()
    config.reset_by_type["dm"] = SessionResetPolicy(mode="idle")
    config.reset_by_platform[Platform.SLACK] = SessionResetPolicy(mode="none")
    asked = [
        (Platform.SLACK, "dm"),
        (Platform.SIGNAL, "dm"),
        (Platform.SIGNAL, "group"),
        (None, None),
    ]
    modes = [config.get_reset_policy(platform=p, session_type=t).mode for p, t in asked]
    assert modes == ["none", "idle", "both", "both"]


def test_connected_is_enabled_and_has_credentials() -> None:
    config = GatewayConfig(
        platforms={
            Platform.TELEGRAM: PlatformConfig(enabled=True, token="t"),
            Platform.DISCORD: PlatformConfig(enabled=False, token="t"),
            Platform.SLACK: PlatformConfig(enabled=True),
            Platform.HOMEASSISTANT: PlatformConfig(enabled=True, api_key="k"),
        }
    )
    assert config.get_connected_platforms() == [Platform.TELEGRAM, Platform.HOMEASSISTANT]


@pytest.mark.parametrize(
    ("platform", "extra"),
    [
        (Platform.WHATSAPP, {}), (Platform.SIGNAL, {"http_url": "http://localhost:1"}),
        (Platform.BLUEBUBBLES, {"server_url": "http://mac", "password": "p"}),
    ],
)  # fmt: skip
def test_some_platforms_are_reached_without_a_token(
    platform: Platform, extra: dict[str, Any]
) -> None:
    assert PlatformConfig(enabled=True, extra=extra).is_connected(platform)
    assert not PlatformConfig(enabled=False, extra=extra).is_connected(platform)


def test_a_platform_with_half_of_its_settings_is_not_connected() -> None:
    config = PlatformConfig(enabled=True, extra={"server_url": "http://mac"})
    assert not config.is_connected(Platform.BLUEBUBBLES)


def test_home_channels_are_found_by_platform() -> None:
    home = HomeChannel(Platform.TELEGRAM, "42", "Ops", thread_id="3")
    config = GatewayConfig(platforms={Platform.TELEGRAM: PlatformConfig(home_channel=home)})
    assert config.get_home_channel(Platform.TELEGRAM) == home
    assert config.get_home_channel(Platform.SLACK) is None


def test_everything_survives_a_round_trip() -> None:
    home = HomeChannel(Platform.TELEGRAM, "42", "Ops", thread_id="3")
    config = GatewayConfig(
        platforms={Platform.TELEGRAM: PlatformConfig(True, "t", "k", home, extra={"a": 1})},  # noqa: FBT003 - all in order
        reset_by_type={"dm": SessionResetPolicy(mode="idle", timezone="Asia/Tokyo")},
        reset_by_platform={Platform.SLACK: SessionResetPolicy(mode="none")},
        sessions_dir=Path("elsewhere"), database="postgresql://db", transcripts="db",
        write_sessions_json=True, group_sessions_per_user=False, legacy_dm_keys=True,
    )  # fmt: skip
    assert GatewayConfig.from_dict(config.to_dict()) == config


def test_what_another_version_wrote_is_kept() -> None:
    data = {
        "platforms": {"pager": {"enabled": True, "beep": 3}},
        "reset_by_platform": {"pager": {"mode": "idle"}},
        "streaming": {"enabled": True},
        "reset_triggers": ["/new"],
        "default_reset_policy": {
            "mode": "both",
            "at_hour": 4,
            "idle_minutes": 1440,
            "hibernate": 3,
        },
    }
    written = GatewayConfig.from_dict(data).to_dict()
    assert {name: written[name] for name in data} == data


def test_a_platform_s_own_keys_may_stand_beside_the_others() -> None:
    config = PlatformConfig.from_dict({"enabled": "true", "bridge_port": 3000, "extra": {"a": 1}})
    assert config.enabled
    assert config.extra == {"bridge_port": 3000, "a": 1}


@pytest.mark.parametrize(
    ("data", "key"),
    [
        ({"platforms": {"slack": {"enabled": "perhaps"}}}, "platforms.slack.enabled"),
        ({"platforms": {"slack": []}}, "platforms.slack"),
        ({"platforms": {"slack": {"token": ["x"]}}}, "platforms.slack.token"),
        ({"platforms": {"slack": {"home_channel": {"platform": "slack"}}}}, "platforms.slack.home_channel.chat_id"),
        ({"platforms": {"slack": {"home_channel": {"chat_id": 1}}}}, "platforms.slack.home_channel.platform"),
        ({"platforms": "slack"}, "platforms"),
        ({"reset_by_type": {"dm": {"mode": "x"}}}, "reset_by_type.dm.mode"),
        ({"default_reset_policy": {"at_hour": 99}}, "default_reset_policy.at_hour"),
        ({"transcripts": "paper"}, "transcripts"),
        ({"platforms": {"slack": {"enabled": "yes"}}}, "platforms.slack.enabled"),
        ({"default_reset_policy": {"notify_exclude_platforms": "slack"}}, "default_reset_policy.notify_exclude_platforms"),
        ({"legacy_dm_key": True}, "legacy_dm_key"),
        ({"scope": {}}, "scope"),
        ([], "the configuration"),
    ],
)  # fmt: skip
def test_a_wrong_setting_is_named_by_its_dotted_key(data: Any, key: str) -> None:
    with pytest.raises(ConfigError) as caught:
        GatewayConfig.from_dict(data)
    assert caught.value.key == key
    assert caught.value.exit_code == 2


def test_a_chat_id_written_as_a_number_is_a_text() -> None:
    home = HomeChannel.from_dict({"platform": "telegram", "chat_id": -100123})
    assert (home.chat_id, home.name) == ("-100123", "Home")


def test_secrets_do_not_show() -> None:
    config = GatewayConfig(
        platforms={Platform.SLACK: PlatformConfig(token="xoxb-secret", api_key="key-secret")},
        database="postgresql://u:pw-secret@db",
    )
    assert "secret" not in repr(config)


@given(data=st.dictionaries(FIELDS | st.text(max_size=9), JSON, max_size=4))
def test_any_table_is_a_configuration_or_a_config_error(data: dict[str, Any]) -> None:
    try:
        config = GatewayConfig.from_dict(data)
    except ConfigError:
        return
    assert GatewayConfig.from_dict(config.to_dict()).to_dict() == config.to_dict()
