"""Requests on their way to the model: chosen once, the same bytes after."""

from __future__ import annotations

import json
import logging
import os
import sqlite3
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from support.hermes_plugin import SYSTEM, TASK, RecordingContext, ask
from support.warming import make_template
from warmstart.app import Workspace
from warmstart.app.starting import find_start
from warmstart.app.templates import open_library
from warmstart.integrations.hermes.middleware import Middleware
from warmstart.integrations.hermes.sessions import Sessions
from warmstart.integrations.kept import MAX_AGE_SECONDS, find_warmup
from warmstart.model.template import TemplateState
from warmstart.model.warmup import Arm


def roles(request: dict[str, Any]) -> list[str]:
    return [message["role"] for message in request["messages"]]


def is_cold(request: dict[str, Any]) -> bool:
    return "call_warm_" not in json.dumps(request) and "pytest with -q" not in json.dumps(request)


def test_a_first_request_gets_paired_examples_after_the_system_message(
    hermes: RecordingContext,
) -> None:
    sent = hermes.begin()
    assert roles(sent)[0] == "system"
    assert sent["messages"][0]["content"].startswith("You are Hermes.")
    assert "Run pytest with -q" in sent["messages"][0]["content"]
    assert sent["messages"][-1] == {"role": "user", "content": TASK}
    calls = [c["id"] for m in sent["messages"] for c in m.get("tool_calls", ())]
    assert calls
    assert calls == [m["tool_call_id"] for m in sent["messages"] if m["role"] == "tool"]


def test_everything_else_in_the_request_stays_as_it_was(hermes: RecordingContext) -> None:
    request = ask({"role": "user", "content": TASK}) | {"temperature": 0.5, "stream": True}
    sent = hermes.send(request)
    assert {k: v for k, v in sent.items() if k != "messages"} == {
        k: v for k, v in request.items() if k != "messages"
    }


def test_the_prefix_keeps_its_bytes_whatever_the_conversation_says(
    hermes: RecordingContext, workspace: Workspace
) -> None:
    first = hermes.begin()
    prefix = first["messages"][:-1]
    said = [
        {"role": "user", "content": TASK},
        {"role": "assistant", "content": json.dumps(prefix)},  # a quote of the warm-up itself
        {"role": "tool", "tool_call_id": "call_warm_0", "content": prefix[0]["content"]},
    ]
    with open_library(workspace) as library:
        library.save(make_template(guidance=()), state=TemplateState.APPROVED)
    again = hermes.send(ask(*said))
    assert again["messages"] == [*prefix, *said]


def test_a_resumed_session_gets_the_same_bytes_in_another_process(
    hermes: RecordingContext, workspace: Workspace
) -> None:
    prefix = hermes.begin()["messages"][:-1]
    with open_library(workspace) as library:
        library.delete("fix-tests")
    history = [{"role": "user", "content": TASK}, {"role": "assistant", "content": "Done."}]
    later = RecordingContext()
    later.fire("pre_llm_call", session_id="s-1", user_message="More", is_first_turn=False)
    sent = later.send(ask(*history, {"role": "user", "content": "More"}))
    assert sent["messages"][: len(prefix)] == prefix


def test_the_start_is_written_down_once_under_the_sessions_own_id(
    hermes: RecordingContext, workspace: Workspace, tmp_path: Path
) -> None:
    hermes.begin()
    hermes.begin("and another thing", is_first_turn=False)
    RecordingContext().begin()
    with open_library(workspace) as library:
        starts = library.require_db().list_starts()
    assert len(starts) == 1
    start = starts[0]
    assert (start.agent, start.native_id, start.arm) == ("hermes", "s-1", Arm.WARM)
    assert (start.template, start.model, start.cwd) == ("fix-tests", "m", str(tmp_path))


def test_nothing_that_fits_is_a_cold_start_that_is_kept_too(
    hermes: RecordingContext, workspace: Workspace
) -> None:
    assert is_cold(hermes.begin("Write a poem about autumn leaves"))
    start = find_start(workspace, "hermes", "s-1")
    assert start is not None
    assert start.arm is Arm.COLD
    assert is_cold(hermes.begin(TASK, is_first_turn=False))


def test_a_held_out_session_stays_cold_in_every_process(
    hermes: RecordingContext, workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WARMSTART_WARM_HOLDOUT", "1")
    assert is_cold(hermes.begin())
    start = find_start(workspace, "hermes", "s-1")
    assert start is not None
    assert start.arm is Arm.HOLDOUT
    monkeypatch.setenv("WARMSTART_WARM_HOLDOUT", "0")
    assert is_cold(RecordingContext().begin())


def test_a_session_that_began_without_the_plugin_stays_as_it_is(
    hermes: RecordingContext, workspace: Workspace
) -> None:
    history = [{"role": "user", "content": TASK}, {"role": "assistant", "content": "Done."}]
    assert is_cold(hermes.send(ask(*history, {"role": "user", "content": TASK})))
    assert is_cold(hermes.begin(session_id="s-2", is_first_turn=False))
    with open_library(workspace) as library:
        assert library.require_db().list_starts() == []


def test_a_users_own_prefill_is_no_history(hermes: RecordingContext) -> None:
    hermes.fire("pre_llm_call", session_id="s-1", user_message=TASK, is_first_turn=True)
    prefill = [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Hello"}]
    sent = hermes.send(ask(*prefill, {"role": "user", "content": TASK}))
    assert sent["messages"][-3:] == [*prefill, {"role": "user", "content": TASK}]
    assert not is_cold(sent)


def test_a_session_that_warmstart_run_started_gets_nothing_twice(
    hermes: RecordingContext, workspace: Workspace
) -> None:
    warm = hermes.begin(session_id="other")
    other = RecordingContext()
    other.fire("pre_llm_call", session_id="s-2", user_message=TASK, is_first_turn=True)
    assert other.send(warm, "s-2") == warm
    assert find_start(workspace, "hermes", "s-2") is None


def test_what_warmstart_run_decided_is_not_decided_again(
    hermes: RecordingContext, workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WARMSTART_STARTED", "hermes")
    assert is_cold(hermes.begin())
    assert find_start(workspace, "hermes", "s-1") is None


def test_requests_of_one_session_at_the_same_time_decide_it_once(
    hermes: RecordingContext, workspace: Workspace
) -> None:
    request = ask({"role": "user", "content": TASK})
    with ThreadPoolExecutor(8) as pool:
        sent = list(pool.map(lambda _: json.dumps(hermes.send(dict(request))), range(16)))
    assert len(set(sent)) == 1
    with open_library(workspace) as library:
        assert len(library.require_db().list_starts()) == 1


@pytest.mark.parametrize("platform", ["subagent", "cron"])
def test_subagents_and_jobs_stay_cold_unless_configured(
    hermes: RecordingContext, monkeypatch: pytest.MonkeyPatch, platform: str
) -> None:
    assert is_cold(hermes.begin(platform=platform))
    monkeypatch.setenv("WARMSTART_HERMES_COLD", "telegram")
    assert not is_cold(hermes.begin(session_id="s-2", platform=platform))
    assert is_cold(hermes.begin(session_id="s-3", platform="telegram"))


def test_the_source_a_session_was_started_with_counts_too(
    hermes: RecordingContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HERMES_SESSION_SOURCE", "tool")
    assert is_cold(hermes.begin())


def test_the_plugin_can_be_told_to_start_nothing_or_one_template(
    hermes: RecordingContext, workspace: Workspace
) -> None:
    (workspace.home / "config.toml").write_text("[hermes]\nenabled = false\n")
    assert is_cold(hermes.begin())
    (workspace.home / "config.toml").write_text('[hermes]\ntemplate = "fix-tests"\n')
    assert not is_cold(hermes.begin("Write a poem", session_id="s-2"))


def test_a_draft_that_the_settings_name_is_not_sent(
    hermes: RecordingContext, workspace: Workspace, caplog: pytest.LogCaptureFixture
) -> None:
    with open_library(workspace) as library:
        library.save(make_template("mine"), state=TemplateState.DRAFT)
    (workspace.home / "config.toml").write_text('[hermes]\ntemplate = "mine"\n')
    assert is_cold(hermes.begin("Write a poem"))
    assert "warmstart template approve mine@1" in caplog.text


def test_tools_the_session_lacks_are_left_out(hermes: RecordingContext) -> None:
    request = ask({"role": "user", "content": TASK})
    request["tools"] = [{"type": "function", "function": {"name": "read_file"}}, "odd", {}]
    sent = hermes.send(request)
    names = {c["function"]["name"] for m in sent["messages"] for c in m.get("tool_calls", ())}
    assert names <= {"read_file"}


def test_anthropic_requests_get_alternating_turns(hermes: RecordingContext) -> None:
    request = {
        "system": "You are Hermes.",
        "messages": [{"role": "user", "content": [{"type": "text", "text": TASK}]}],
        "tools": [{"name": "terminal"}, {"name": "patch"}],
    }
    sent = hermes.send(request, api_mode="anthropic_messages")
    turns = roles(sent)
    assert turns == ["user", "assistant"] * (len(turns) // 2) + ["user"]
    assert len(turns) > 1
    assert sent["system"] == "You are Hermes."


def test_responses_requests_keep_system_text_in_the_instructions(hermes: RecordingContext) -> None:
    request = {"instructions": "You are Hermes.", "input": [{"role": "user", "content": TASK}]}
    sent = hermes.send(request, api_mode="codex_responses")
    assert sent["instructions"].startswith("You are Hermes.\n\n")
    assert all(item.get("role") != "system" for item in sent["input"])
    calls = [i["call_id"] for i in sent["input"] if i.get("type") == "function_call"]
    outputs = [i["call_id"] for i in sent["input"] if i.get("type") == "function_call_output"]
    assert calls == outputs != []


def test_an_api_of_unknown_form_is_left_alone_and_said_once(
    hermes: RecordingContext, workspace: Workspace, caplog: pytest.LogCaptureFixture
) -> None:
    request = ask({"role": "user", "content": TASK})
    with caplog.at_level(logging.WARNING):
        for session in ("s-1", "s-2"):
            assert hermes.send(request, session, api_mode="bedrock_converse") == request
    assert len(caplog.records) == 1
    assert find_start(workspace, "hermes", "s-1") is None


@pytest.mark.parametrize(
    "fields",
    [
        {"request": None, "session_id": "s-1"},
        {"request": {"messages": "x"}, "session_id": "s-1"},
        {"request": {"messages": [None, 3]}, "session_id": "s-1"},
        {"request": {"messages": []}, "session_id": "s-1", "model": 7, "platform": None},
        {"request": ask({"role": "user", "content": TASK}), "session_id": ""},
        {"request": ask({"role": "user", "content": TASK}), "session_id": None},
        {"request": ask({"role": "user", "content": None}), "session_id": "s-1"},
        {"request": ask({"role": "user", "content": 3}), "session_id": "s-1", "api_mode": 3},
        {},
    ],
)
def test_odd_requests_pass_as_they_are(hermes: RecordingContext, fields: dict[str, Any]) -> None:
    assert hermes.middleware["llm_request"](**fields) is None


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["role", "content", "type", "text", "tool_calls", "name", "function"]),
            inner,
            max_size=4,
        )
    ),
    max_leaves=8,
)


@given(
    messages=st.lists(JSON, max_size=4),
    tools=JSON,
    mode=st.sampled_from(["chat_completions", "codex_responses", "anthropic_messages", "x", ""]),
)
def test_no_request_of_any_shape_raises(
    workspace: Workspace, messages: list[Any], tools: Any, mode: str
) -> None:
    del workspace
    request = {"messages": messages, "input": messages, "tools": tools}
    sent = Middleware(Sessions()).rewrite(request=request, session_id="s", api_mode=mode)
    key = "input" if mode == "codex_responses" else "messages"
    assert sent is None or sent["request"][key][-1] == messages[-1]


def test_a_home_that_cannot_be_used_leaves_sessions_cold_and_is_said_once(
    hermes: RecordingContext,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("WARMSTART_HOME", str(tmp_path / "file" / "ws"))
    with caplog.at_level(logging.WARNING):
        assert is_cold(hermes.begin())
        assert is_cold(hermes.begin(session_id="s-2"))
    assert len(caplog.records) == 1


def test_a_store_that_another_process_holds_leaves_the_session_cold(
    hermes: RecordingContext, workspace: Workspace, caplog: pytest.LogCaptureFixture
) -> None:
    store = sqlite3.connect(workspace.home / "store.db", isolation_level=None)
    with closing(store), caplog.at_level(logging.WARNING):
        store.execute("BEGIN IMMEDIATE")
        assert is_cold(hermes.begin())
    assert "was held by" in caplog.text
    assert not is_cold(hermes.begin(session_id="s-2"))


def test_a_damaged_store_leaves_the_session_cold(
    hermes: RecordingContext, workspace: Workspace, caplog: pytest.LogCaptureFixture
) -> None:
    for path in workspace.home.glob("store.db*"):
        path.unlink()
    (workspace.home / "store.db").write_bytes(b"garbage" * 1000)
    with caplog.at_level(logging.WARNING):
        assert is_cold(hermes.begin())
    assert len(caplog.records) == 1


def test_wrong_settings_leave_sessions_cold(
    hermes: RecordingContext, workspace: Workspace, caplog: pytest.LogCaptureFixture
) -> None:
    (workspace.home / "config.toml").write_text("[hermes]\nwarm = 3\n")
    with caplog.at_level(logging.WARNING):
        assert is_cold(hermes.begin())
    assert "no setting 'warm'" in caplog.text


def test_forgotten_sessions_are_found_again(hermes: RecordingContext, workspace: Workspace) -> None:
    del hermes, workspace
    small = Middleware(Sessions(limit=2))
    request = ask({"role": "user", "content": TASK})
    first = small.rewrite(request=request, session_id="a")
    for other in "bcd":
        small.rewrite(request=request, session_id=other)
    assert small.rewrite(request=request, session_id="a") == first is not None


def test_kept_warm_ups_are_private_and_do_not_pile_up(
    hermes: RecordingContext, workspace: Workspace
) -> None:
    hermes.begin()
    (path,) = (workspace.home / "hermes").iterdir()
    assert path.stat().st_mode & 0o077 == 0
    assert b"s-1" not in path.read_bytes()
    long_ago = path.stat().st_mtime - MAX_AGE_SECONDS - 60
    os.utime(path, (long_ago, long_ago))
    hermes.begin(session_id="s-2")
    assert find_warmup(workspace, "hermes", "s-1") is None
    assert find_warmup(workspace, "hermes", "s-2") is not None


@pytest.mark.parametrize(
    "text", ["", "{", "[]", "3", '{"schema_version": 9}', '{"schema_version": 1, "template": 3}']
)
def test_a_damaged_file_leaves_its_session_cold(
    hermes: RecordingContext, workspace: Workspace, text: str
) -> None:
    hermes.begin()
    (path,) = (workspace.home / "hermes").iterdir()
    path.write_text(text)
    assert is_cold(RecordingContext().begin())


def test_the_first_words_are_those_of_the_user_alone(
    hermes: RecordingContext, workspace: Workspace
) -> None:
    from warmstart.app.warming import hash_message

    hermes.fire("pre_llm_call", session_id="s-1", user_message=TASK, is_first_turn=True)
    hermes.send(ask({"role": "user", "content": f"{TASK}\n\n[memory] something recalled"}))
    start = find_start(workspace, "hermes", "s-1")
    assert start is not None
    assert start.message_hash == hash_message(TASK)


def test_a_leading_system_message_of_blocks_is_added_to(hermes: RecordingContext) -> None:
    block = {"type": "text", "text": "You are Hermes.", "cache_control": {"type": "ephemeral"}}
    request = {"messages": [{"role": "system", "content": [block]},
                            {"role": "user", "content": TASK}]}  # fmt: skip
    content = hermes.send(request)["messages"][0]["content"]
    assert content[0] == block
    assert "Run pytest with -q" in content[1]["text"]
    assert SYSTEM["content"] == "You are Hermes."
