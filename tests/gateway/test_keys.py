"""Which messages share a session."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from warmstart.gateway import (
    Platform,
    SessionSource,
    SessionStore,
    UnsafeNameError,
    build_session_key,
)
from warmstart.gateway.keys import check_session_id, check_session_key
from warmstart.store import MAX_KEY_LENGTH

NAMES = st.none() | st.text(max_size=12)


def at(platform: str = "telegram", chat_id: str = "99", **fields: Any) -> SessionSource:
    return SessionSource(platform=Platform(platform), chat_id=chat_id, **fields)


def group(**fields: Any) -> SessionSource:
    return at("discord", "g1", chat_type="group", user_id="u1", **fields)


def test_direct_messages_are_keyed_by_chat() -> None:
    assert build_session_key(at()) == "agent:main:telegram:dm:99"
    assert build_session_key(at(chat_id="100")) != build_session_key(at())


def test_a_thread_in_a_direct_message_is_its_own_session() -> None:
    assert build_session_key(at(thread_id="5")) == "agent:main:telegram:dm:99:5"


@pytest.mark.parametrize(
    ("fields", "key"),
    [
        ({"user_id": "7"}, "agent:main:signal:dm:7"),
        ({"user_id": "7", "user_id_alt": "uuid"}, "agent:main:signal:dm:uuid"),
        ({"thread_id": "5"}, "agent:main:signal:dm:5"),
        ({}, "agent:main:signal:dm"),
    ],
)
def test_without_a_chat_the_person_or_the_thread_stands_in(
    fields: dict[str, str], key: str
) -> None:
    assert build_session_key(at("signal", "", **fields)) == key


def test_legacy_keys_are_one_per_platform_and_one_per_whatsapp_chat() -> None:
    keys = [
        build_session_key(source, legacy_dm_keys=True)
        for source in (
            at(thread_id="5"),
            at("whatsapp", "491701@s.whatsapp.net"),
            at("local", "cli"),
        )
    ]
    whatsapp = "agent:main:whatsapp:dm:491701@s.whatsapp.net"
    assert keys == ["agent:main:telegram:dm", whatsapp, "agent:main:local:dm"]


def test_each_person_in_a_group_has_a_session_unless_told_otherwise() -> None:
    assert build_session_key(group()) == "agent:main:discord:group:g1:u1"
    shared = build_session_key(group(), group_sessions_per_user=False)
    assert shared == "agent:main:discord:group:g1"


def test_people_share_a_thread_unless_told_otherwise() -> None:
    assert build_session_key(group(thread_id="t")) == "agent:main:discord:group:g1:t"
    own = build_session_key(group(thread_id="t"), thread_sessions_per_user=True)
    assert own == "agent:main:discord:group:g1:t:u1"


def test_the_stabler_id_of_a_person_is_preferred() -> None:
    assert build_session_key(group(user_id_alt="uuid")) == "agent:main:discord:group:g1:uuid"


def test_a_profile_has_its_own_keys() -> None:
    assert build_session_key(at(), profile="work") == "agent:work:telegram:dm:99"


@pytest.mark.parametrize(
    "spelling",
    ["+491701", "491701", "491701@s.whatsapp.net", "491701:12@s.whatsapp.net", "491701@lid"],
)
def test_one_whatsapp_number_is_one_session_however_it_is_spelled(spelling: str) -> None:
    assert build_session_key(at("whatsapp", spelling)) == "agent:main:whatsapp:dm:491701"


def test_a_whatsapp_group_keeps_its_domain_and_people_their_number() -> None:
    source = at("whatsapp", "120363@g.us", chat_type="group", user_id="491701:3@s.whatsapp.net")
    assert build_session_key(source) == "agent:main:whatsapp:group:120363@g.us:491701"


@pytest.mark.parametrize(
    "chat_id", ["../../etc", "a/../../b", "..", "x\0y", "line\nbreak", "..\\up"]
)
def test_a_chat_id_that_climbs_is_refused(chat_id: str) -> None:
    with pytest.raises(UnsafeNameError, match="session key"):
        build_session_key(at(chat_id=chat_id))


def test_a_slash_inside_a_chat_id_is_fine() -> None:
    assert build_session_key(at("matrix", "spaces/AAA")) == "agent:main:matrix:dm:spaces/AAA"


@pytest.mark.parametrize(
    "key", ["", None, 3, "/etc/passwd", "\\\\host", "C:\\x", "a:..:b", "k" * 2000, "\ud800"]
)
def test_a_key_that_is_a_path_is_refused(key: object) -> None:
    with pytest.raises(UnsafeNameError):
        check_session_key(key)


@pytest.mark.parametrize(
    "session_id", ["", None, 3, "..", ".", "a/b", "a\\b", "a..b", "C:x", "x\0", "\n", "é" * 150]
)
def test_an_id_that_is_no_file_name_is_refused(session_id: object) -> None:
    with pytest.raises(UnsafeNameError, match="session id"):
        check_session_id(session_id)


@pytest.mark.parametrize("session_id", ["20260410_120000_ab12cd34", "cron-1.2", "näme", "a b"])
def test_an_ordinary_id_is_taken_as_it_is(session_id: str) -> None:
    assert check_session_id(session_id) == session_id


@given(
    chat_id=st.text(max_size=12),
    thread_id=NAMES,
    user_id=NAMES,
    kind=st.sampled_from(["dm", "group"]),
)
def test_any_source_has_a_stable_key_or_is_refused(
    chat_id: str, thread_id: str | None, user_id: str | None, kind: str
) -> None:
    source = at(chat_id=chat_id, thread_id=thread_id, user_id=user_id, chat_type=kind)
    try:
        key = build_session_key(source)
    except UnsafeNameError:
        return
    assert key == build_session_key(SessionSource.from_dict(source.to_dict()))
    assert key.startswith(f"agent:main:telegram:{kind}")


def test_a_key_is_as_long_as_the_store_takes_and_no_longer(
    store: SessionStore, source: SessionSource
) -> None:
    room = MAX_KEY_LENGTH - len(build_session_key(source)) + len(source.chat_id)
    longest = store.get_or_create_session(replace(source, chat_id="c" * room))
    assert len(longest.session_key) == MAX_KEY_LENGTH
    with pytest.raises(UnsafeNameError, match=f"longer than {MAX_KEY_LENGTH} characters"):
        store.get_or_create_session(replace(source, chat_id="c" * (room + 1)))
