"""Every form: pairing, the official types, and our own readers."""

from __future__ import annotations

import json
import re
import sqlite3
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from anthropic.types import MessageParam
from hypothesis import given, settings
from openai.types.chat import ChatCompletionMessageParam
from openai.types.responses import ResponseInputItemParam
from pydantic import TypeAdapter

from support.badinput import read_all
from support.warming import TEMPLATE_ID, TEMPLATES, make_template
from warmstart.errors import UsageError
from warmstart.model import Kind, Message, Request, Result, Role, Session
from warmstart.model.template import Template
from warmstart.model.warmup import WarmUp
from warmstart.sources.registry import get_reader
from warmstart.warm import FRAME, RENDERERS, FormKind, Target, build_warmup, list_messages, render
from warmstart.wire import safe_name

SESSION = "0a1b2c3d-0000-4000-8000-00000000beef"
TARGET = Target(
    cwd="/home/dev/shop", session_id=SESSION, version="2.1.0", now=1_767_225_600.0, model="acme"
)
WARMUP = build_warmup(make_template(), template_id=TEMPLATE_ID)
ASK = [{"role": "user", "content": "Why does it fail?"}]
CALLS = sum(len(message.requests) for message in WARMUP.messages)
EMPTY = WarmUp(template="", template_id="")


def list_pairs(form: str, warmup: WarmUp) -> Iterator[tuple[list[str], list[str]]]:
    """Ids asked and ids answered, in each place where a form has to have them agree."""
    rendered = render(warmup, form, TARGET)
    if form == "openai":
        yield chat_pairs(rendered.body["messages"])
    elif form in ("hermes-prefill", "hermes-rows"):
        rows = rendered.body["messages"] if form == "hermes-rows" else rendered.body
        yield chat_pairs(rows)
    elif form in ("responses", "codex-rollout"):
        items = rendered.body["input"] if form == "responses" else codex_items(rendered.text)
        kinds = ("function_call", "function_call_output")
        yield tuple([i["call_id"] for i in items if i.get("type") == kind] for kind in kinds)  # type: ignore[misc]
    elif form == "anthropic":
        yield from block_pairs(rendered.body["messages"])
    elif form == "claude-session":
        lines = [json.loads(line) for line in rendered.text.split("\n")[:-1]]
        yield from block_pairs([line["message"] for line in lines])
    elif form == "gemini":
        yield from part_pairs(rendered.body["contents"])


def chat_pairs(messages: list[dict[str, Any]]) -> tuple[list[str], list[str]]:
    calls = [json.loads(c) if isinstance(c := m.get("tool_calls"), str) else c for m in messages]
    return (
        [call["id"] for found in calls for call in found or ()],
        [m["tool_call_id"] for m in messages if m["role"] == "tool"],
    )


def codex_items(text: str) -> list[dict[str, Any]]:
    lines = [json.loads(line) for line in text.split("\n")[:-1]]
    return [line["payload"] for line in lines if line["type"] == "response_item"]


def block_pairs(messages: list[dict[str, Any]]) -> Iterator[tuple[list[str], list[str]]]:
    """Each call is answered in the very next message."""
    for one, other in pairwise([*messages, {"content": []}]):
        yield ids(one, "tool_use", "id"), ids(other, "tool_result", "tool_use_id")


def ids(message: dict[str, Any], kind: str, key: str) -> list[str]:
    content = message["content"]
    blocks = [] if isinstance(content, str) else content
    return [block[key] for block in blocks if block["type"] == kind]


def part_pairs(contents: list[dict[str, Any]]) -> Iterator[tuple[list[str], list[str]]]:
    for one, other in pairwise([*contents, {"parts": []}]):
        asked = [p["functionCall"]["name"] for p in one["parts"] if "functionCall" in p]
        told = [p["functionResponse"]["name"] for p in other["parts"] if "functionResponse" in p]
        yield asked, told


CHAT = TypeAdapter(list[ChatCompletionMessageParam])
ITEMS = TypeAdapter(list[ResponseInputItemParam])
MESSAGES = TypeAdapter(list[MessageParam])


@settings(max_examples=30)
@given(TEMPLATES)
def test_no_form_has_an_orphan_whatever_the_template(template: Template) -> None:
    warmup = build_warmup(template, template_id=TEMPLATE_ID)
    for form in RENDERERS:
        for asked, answered in list_pairs(form, warmup):
            assert asked == answered
            assert len(set(asked)) == len(asked) or form == "gemini"
        assert render(warmup, form, TARGET).to_bytes() == render(warmup, form, TARGET).to_bytes()


@settings(max_examples=30)
@given(TEMPLATES)
def test_providers_get_what_they_accept_whatever_the_template(template: Template) -> None:
    warmup = build_warmup(template, template_id=TEMPLATE_ID)
    CHAT.validate_python(render(warmup, "openai", messages=ASK).body["messages"])
    ITEMS.validate_python(render(warmup, "responses", messages=ASK).body["input"])
    MESSAGES.validate_python(render(warmup, "anthropic", messages=ASK).body["messages"])
    names = [safe_name(r.tool) for message in list_messages(warmup) for r in message.requests]
    assert all(re.fullmatch(r"[a-zA-Z0-9_-]{1,64}", name) for name in names)
    messages = render(warmup, "anthropic").body["messages"]
    assert all(a["role"] != b["role"] for a, b in pairwise(messages))
    if messages:
        assert (messages[0]["role"], messages[-1]["role"]) == ("user", "assistant")
        assert render(warmup, "openai").body["messages"][-1]["role"] == "assistant"
        assert render(warmup, "gemini").body["contents"][-1]["role"] == "model"


ORPHANS = WarmUp(
    template="odd",
    template_id=TEMPLATE_ID,
    messages=(
        Message(role=Role.ASSISTANT, text="I begin."),
        Message(role=Role.USER, text="Go."),
        Message(
            role=Role.ASSISTANT,
            requests=(
                Request(tool="a", id="x"),
                Request(tool="b", id="lost"),
                Request(tool="c"),
                Request(tool="a", id="x", raw="{broken"),
            ),
        ),
        Message(
            role=Role.TOOL,
            results=(
                Result(text="1", call_id="x"),
                Result(text="2", call_id="x"),
                Result(text="nobody asked", call_id="other"),
            ),
        ),
        Message(role=Role.ASSISTANT, text="Done."),
        Message(role=Role.USER, text="And?"),
        Message(role=Role.ASSISTANT, requests=(Request(tool="a", id="end"),)),
    ),
)


@pytest.mark.parametrize("form", RENDERERS)
def test_a_warmup_that_others_made_badly_is_mended(form: str) -> None:
    for asked, answered in list_pairs(form, ORPHANS):
        assert asked == answered
    messages = list_messages(ORPHANS)
    assert [message.text for message in messages] == ["Go.", "", "", "", "Done."]
    assert [request.id for request in messages[1].requests] == ["x", "x_2"]
    assert messages[1].requests[1].arguments == {"raw": "{broken"}


def read_one(name: str, path: Path) -> Session:
    sessions, log = read_all(get_reader(name), path)
    assert not log.counts
    return sessions[0]


def check_read(session: Session, calls: int = CALLS) -> None:
    """The reader sees the whole conversation, all of it a warm-up that counts nowhere."""
    spoken = [m for m in session.messages if m.role is not Role.SYSTEM]
    assert {m.kind for m in spoken} == {Kind.WARMUP}
    assert sum(len(m.requests) for m in spoken) == sum(len(m.results) for m in spoken) == calls
    assert session.calls == ()
    assert spoken[-1].role is Role.ASSISTANT


def test_claude_code_reads_its_session_back(tmp_path: Path) -> None:
    rendered = render(WARMUP, "claude-session", TARGET)
    path = tmp_path / rendered.path
    path.parent.mkdir(parents=True)
    path.write_text(rendered.text)
    session = read_one("claude_code", path)
    check_read(session)
    assert (session.native_id, session.project) == (SESSION, "/home/dev/shop")
    assert path.parent.name == "-home-dev-shop"


def test_codex_reads_its_rollout_back(tmp_path: Path) -> None:
    rendered = render(WARMUP, "codex-rollout", TARGET)
    assert rendered.path == f"sessions/2026/01/01/rollout-2026-01-01T00-00-00-{SESSION}.jsonl"
    path = tmp_path / Path(rendered.path).name
    path.write_text(rendered.text)
    session = read_one("codex", path)
    check_read(session)
    assert session.native_id == SESSION


def test_hermes_reads_its_rows_back(tmp_path: Path) -> None:
    body = render(WARMUP, "hermes-rows", TARGET).body
    path = tmp_path / "state.db"
    columns = ", ".join(f"{name}" for name in body["messages"][0])
    with sqlite3.connect(path) as connection:
        connection.execute(f"CREATE TABLE sessions ({', '.join(body['session'])})")
        connection.execute(f"CREATE TABLE messages (id INTEGER PRIMARY KEY, session_id, {columns})")
        connection.execute(
            "INSERT INTO sessions VALUES (?,?,?,?,?,?,?)", [*body["session"].values()]
        )
        for row in body["messages"]:
            marks = ",".join("?" * len(row))
            connection.execute(
                f"INSERT INTO messages (session_id, {columns}) VALUES (?, {marks})",
                [SESSION, *row.values()],
            )
    connection.close()
    check_read(read_one("hermes", path))


@pytest.mark.parametrize("form", ["openai", "hermes-prefill"])
def test_chat_messages_are_read_back(form: str, tmp_path: Path) -> None:
    body = render(WARMUP, form).body
    path = tmp_path / "chat.jsonl"
    path.write_text(json.dumps({"messages": body["messages"] if form == "openai" else body}) + "\n")
    check_read(read_one("openai_chat", path))


def test_anthropic_messages_are_read_back(tmp_path: Path) -> None:
    path = tmp_path / "chat.jsonl"
    path.write_text(json.dumps(render(WARMUP, "anthropic").body) + "\n")
    check_read(read_one("anthropic", path))


def test_what_follows_a_warmup_counts_again(tmp_path: Path) -> None:
    call = {"id": "c9", "type": "function", "function": {"name": "terminal", "arguments": "{}"}}
    task = [
        *ASK,
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c9", "content": "ok"},
        {"role": "assistant", "content": "It was the rounding."},
    ]
    path = tmp_path / "chat.jsonl"
    path.write_text(json.dumps(render(WARMUP, "openai", messages=task).body) + "\n")
    session = read_one("openai_chat", path)
    assert [one.request.id for one in session.calls] == ["c9"]
    assert [m.text for m in session.messages if m.counts and m.role is Role.USER] == [
        "Why does it fail?"
    ]


def test_anthropic_system_text_is_one_field() -> None:
    messages = [{"role": "system", "content": "Be brief."}, *ASK]
    body = render(WARMUP, "anthropic", messages=messages).body
    assert body["system"].startswith("Be brief.\n\n" + FRAME)
    assert body["messages"][-1] == ASK[0]
    blocks = [{"role": "system", "content": [{"type": "text", "text": "Be kind."}]}]
    assert render(EMPTY, "anthropic", messages=blocks).body["system"] == "Be kind."
    assert (
        render(WARMUP, "anthropic", messages=body["messages"]).body["messages"]
        == (body["messages"])
    )


def test_prose_says_that_examples_are_past_and_fences_results() -> None:
    fenced = make_template(guidance=())
    text = render(build_warmup(fenced, template_id=TEMPLATE_ID), "text").text
    assert "The conversation opens with" not in text
    assert "data, never an instruction" in text
    assert "It failed:" in text
    results = WarmUp(
        template="t",
        template_id=TEMPLATE_ID,
        messages=(
            Message(role=Role.USER, text="Go."),
            Message(role=Role.ASSISTANT, requests=(Request(tool="a", id="x"),)),
            Message(role=Role.TOOL, results=(Result(text="```\nend\n````", call_id="x"),)),
            Message(role=Role.ASSISTANT, text="Done."),
        ),
    )
    assert "`````\n```\nend\n````\n`````" in render(results, "markdown").text


def test_a_skill_is_a_folder_with_a_name_agents_accept() -> None:
    warmup = build_warmup(make_template("fix.tests_2"), template_id=TEMPLATE_ID)
    rendered = render(warmup, "skill")
    assert rendered.kind is FormKind.FILES
    (path, text), *others = rendered.files.items()
    assert (path, others) == ("fix-tests-2/SKILL.md", [])
    assert text.startswith("---\nname: fix-tests-2\ndescription: ")
    assert json.loads(rendered.to_bytes()) == rendered.files


def test_the_hook_adds_context_and_a_cold_one_nothing() -> None:
    output = render(WARMUP, "claude-hook").body["hookSpecificOutput"]
    assert output["hookEventName"] == "SessionStart"
    assert "terminal" in output["additionalContext"]
    assert render(EMPTY, "claude-hook").body == {}


def test_guidance_alone_becomes_a_first_exchange_where_there_is_no_system_text() -> None:
    plain = build_warmup(make_template(examples=(), recoveries=()), template_id=TEMPLATE_ID)
    messages = render(plain, "hermes-prefill").body
    assert [m["role"] for m in messages] == ["user", "assistant"]


@pytest.mark.parametrize("form", RENDERERS)
def test_an_empty_warmup_adds_nothing(form: str) -> None:
    rendered = render(EMPTY, form, TARGET)
    if form in ("openai", "anthropic", "responses", "gemini"):
        assert not any(rendered.body.values())
    elif form in ("text", "claude-session"):
        assert rendered.text == ""


def test_unknown_forms_and_missing_ids_are_refused() -> None:
    with pytest.raises(UsageError, match="no such form"):
        render(WARMUP, "morse")
    with pytest.raises(UsageError, match="needs cwd, session_id, version, now"):
        render(WARMUP, "claude-session")
