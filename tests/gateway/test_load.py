"""Settings from files and the environment."""

from __future__ import annotations

import contextlib
import importlib.util
import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from warmstart.errors import NotFoundError, WarmstartError
from warmstart.gateway import ConfigError, Platform, load_gateway_config
from warmstart.home import find_home

TOML = """
[gateway]
transcripts = "db"
group_sessions_per_user = false
[gateway.default_reset_policy]
mode = "idle"
idle_minutes = 90
[gateway.platforms.telegram]
enabled = true
token = "123:abc"
"""


def write(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def test_toml_under_its_own_table(tmp_path: Path) -> None:
    config = load_gateway_config(write(tmp_path / "gateway.toml", TOML), {})
    assert (config.transcripts, config.default_reset_policy.idle_minutes) == ("db", 90)
    assert config.get_connected_platforms() == [Platform.TELEGRAM]


def test_json_at_the_top(tmp_path: Path) -> None:
    path = write(tmp_path / "c.json", json.dumps({"scope": "shop"}))
    assert load_gateway_config(str(path), {}).scope == "shop"


def test_yaml_is_read_where_it_can_be_and_else_says_what_to_do(tmp_path: Path) -> None:
    path = write(tmp_path / "c.yaml", "gateway:\n  transcripts: db\n")
    if importlib.util.find_spec("yaml"):
        assert load_gateway_config(path, {}).transcripts == "db"
    else:
        with pytest.raises(ConfigError) as caught:
            load_gateway_config(path, {})
        assert "pip install pyyaml" in str(caught.value.hint)


@pytest.fixture(autouse=True)
def user_home(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty home of the user, without ``WARMSTART_HOME``."""
    folder = tmp_path_factory.mktemp("user")
    monkeypatch.setenv("HOME", str(folder))
    monkeypatch.setenv("XDG_DATA_HOME", str(folder / "data"))
    monkeypatch.delenv("WARMSTART_HOME", raising=False)
    return folder


def test_the_file_in_the_home_named_by_the_environment_is_found(tmp_path: Path) -> None:
    write(tmp_path / "gateway.toml", TOML)
    config = load_gateway_config(environ={"WARMSTART_HOME": str(tmp_path)})
    assert (config.transcripts, config.sessions_dir) == ("db", tmp_path / "gateway")
    assert load_gateway_config(environ={}).transcripts == "jsonl+db"


@pytest.mark.parametrize("environ", [None, {}])
def test_the_file_in_the_default_home_is_found(environ: dict[str, str] | None) -> None:
    write(find_home() / "gateway.toml", TOML)
    config = load_gateway_config(environ=environ)
    assert (config.transcripts, config.sessions_dir) == ("db", find_home() / "gateway")


def test_the_default_home_is_the_user_s(user_home: Path) -> None:
    assert user_home in find_home().parents


def test_the_environment_wins_over_the_file(tmp_path: Path) -> None:
    environ = {
        "TELEGRAM_BOT_TOKEN": "999:new",
        "SESSION_IDLE_MINUTES": "15",
        "SESSION_RESET_HOUR": "6",
        "WARMSTART_GATEWAY_RESET_MODE": "both",
        "WARMSTART_GATEWAY_TIMEZONE": "Asia/Tokyo",
        "WARMSTART_GATEWAY_TRANSCRIPTS": "jsonl+db",
        "WARMSTART_GATEWAY_LEGACY_DM_KEYS": "true",
    }
    config = load_gateway_config(write(tmp_path / "gateway.toml", TOML), environ)
    policy = config.default_reset_policy
    assert (policy.mode, policy.at_hour, policy.idle_minutes) == ("both", 6, 15)
    assert (policy.timezone, config.transcripts) == ("Asia/Tokyo", "jsonl+db")
    assert config.platforms[Platform.TELEGRAM].token == "999:new"
    assert config.legacy_dm_keys
    assert not config.group_sessions_per_user


def test_credentials_switch_their_platform_on() -> None:
    environ = {
        "DISCORD_BOT_TOKEN": "d", "SIGNAL_HTTP_URL": "http://localhost:8080",
        "SIGNAL_ACCOUNT": "+49170",         "WHATSAPP_ENABLED": "true", "HASS_TOKEN": "h", "SLACK_BOT_TOKEN": " ",
    }  # fmt: skip
    connected = load_gateway_config(environ=environ).get_connected_platforms()
    expected = {Platform.DISCORD, Platform.SIGNAL, Platform.WHATSAPP, Platform.HOMEASSISTANT}
    assert set(connected) == expected


@pytest.mark.parametrize("name", ["SIGNAL_HTTP_URL", "SIGNAL_ACCOUNT"])
def test_signal_needs_both_of_its_variables(name: str) -> None:
    config = load_gateway_config(environ={name: "http://localhost:8080"})
    assert not config.platforms[Platform.SIGNAL].enabled


@pytest.mark.parametrize("table", ["platforms.signal", "platforms.signal.extra"])
def test_signal_may_have_one_setting_in_the_file_and_one_in_a_variable(
    tmp_path: Path, table: str
) -> None:
    path = write(tmp_path / "c.toml", f'[{table}]\naccount = "+49170"\n')
    config = load_gateway_config(path, {"SIGNAL_HTTP_URL": "http://localhost:8080"})
    assert config.get_connected_platforms() == [Platform.SIGNAL]


@pytest.mark.parametrize(
    ("variable", "platform"),
    [
        ("SLACK_HOME_CHANNEL", Platform.SLACK), ("SIGNAL_HOME_CHANNEL", Platform.SIGNAL),
        ("MATRIX_HOME_ROOM", Platform.MATRIX), ("EMAIL_HOME_ADDRESS", Platform.EMAIL),
        ("SMS_HOME_CHANNEL", Platform.SMS),
    ],
)  # fmt: skip
def test_a_home_channel_from_the_environment(variable: str, platform: Platform) -> None:
    environ = {variable: "C042", f"{variable}_NAME": "Ops"}
    home = load_gateway_config(environ=environ).get_home_channel(platform)
    assert home is not None
    assert (home.chat_id, home.name) == ("C042", "Ops")


def test_an_error_says_which_file_the_setting_may_be_from(tmp_path: Path) -> None:
    path = write(tmp_path / "c.toml", "[default_reset_policy]\nidle_minute = 5\n")
    with pytest.raises(ConfigError, match="spelled 'idle_minutes'") as caught:
        load_gateway_config(path, {})
    assert str(path) in str(caught.value.hint)


def test_a_wrong_variable_is_named_by_its_setting() -> None:
    with pytest.raises(ConfigError, match=r"default_reset_policy\.idle_minutes is 'soon'"):
        load_gateway_config(environ={"SESSION_IDLE_MINUTES": "soon"})


def test_a_variable_under_our_prefix_that_says_nothing_is_refused() -> None:
    with pytest.raises(ConfigError, match="WARMSTART_GATEWAY_TRANSCRIPT is 'db'"):
        load_gateway_config(environ={"WARMSTART_GATEWAY_TRANSCRIPT": "db"})


@pytest.mark.parametrize(
    ("name", "text"), [("c.toml", "a = "), ("c.json", "{"), ("c.json", "[1]"), ("c.ini", "")]
)
def test_a_file_that_is_no_table_is_refused(tmp_path: Path, name: str, text: str) -> None:
    with pytest.raises(ConfigError):
        load_gateway_config(write(tmp_path / name, text), {})


def test_a_file_that_is_not_there_is_said(tmp_path: Path) -> None:
    with pytest.raises(NotFoundError, match="no configuration"):
        load_gateway_config(tmp_path / "none.toml", {})


def test_tables_are_not_taken_for_values(tmp_path: Path) -> None:
    path = write(tmp_path / "c.json", json.dumps({"platforms": {"telegram": "on"}}))
    with pytest.raises(ConfigError, match="telegram is 'on'"):
        load_gateway_config(path, {"TELEGRAM_BOT_TOKEN": "t"})


@given(data=st.binary(max_size=80), suffix=st.sampled_from([".toml", ".json"]))
def test_any_bytes_are_settings_or_an_error(
    tmp_path_factory: pytest.TempPathFactory, data: bytes, suffix: str
) -> None:
    path = tmp_path_factory.mktemp("any") / f"c{suffix}"
    path.write_bytes(data)
    with contextlib.suppress(WarmstartError):
        assert load_gateway_config(path, {}).transcripts
