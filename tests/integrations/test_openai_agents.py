"""The OpenAI Agents SDK, with its own runner and session and a model that answers by script."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path
from typing import Any

import pytest

from support.badinput import read_all
from support.warming import TEMPLATE_ID, make_template

os.environ.setdefault("OPENAI_AGENTS_DISABLE_TRACING", "1")

from agents import Agent, Model, ModelResponse, RunConfig, Runner, SQLiteSession, Usage
from agents.memory.session import Session
from openai.types.responses import ResponseOutputMessage, ResponseOutputText

from warmstart.app import Workspace
from warmstart.app.templates import open_library
from warmstart.integrations.openai_agents import WarmSession
from warmstart.library.gate import UnapprovedError
from warmstart.model.template import TemplateState
from warmstart.sources.registry import get_reader
from warmstart.warm import FRAME, build_warmup

WARMUP = build_warmup(make_template(), template_id=TEMPLATE_ID)
MESSAGE = "fix the failing checkout test"


class Scripted(Model):
    """Keeps what it was sent."""

    def __init__(self) -> None:
        self.seen: list[Any] = []

    async def get_response(self, system_instructions: Any, input: Any, *_: Any, **__: Any) -> Any:  # noqa: A002 - the SDK's name
        self.seen.append((system_instructions, input))
        text = ResponseOutputText(text="Fixed.", type="output_text", annotations=[])
        message = ResponseOutputMessage(
            id=f"m{len(self.seen)}", content=[text], role="assistant", status="completed",
            type="message",
        )  # fmt: skip
        return ModelResponse(output=[message], usage=Usage(), response_id=None)

    def stream_response(self, *_: Any, **__: Any) -> Any:
        raise NotImplementedError


def run_twice(session: Any) -> list[Any]:
    model = Scripted()
    agent = Agent(name="shop", instructions="Be brief.", model=model)

    async def work() -> None:
        for message in (MESSAGE, "thanks"):
            await Runner.run(
                agent, message, session=session, run_config=RunConfig(tracing_disabled=True)
            )

    asyncio.run(work())
    return model.seen


def test_the_model_sees_the_paired_examples_before_the_task(tmp_path: Path) -> None:
    inner = SQLiteSession("s1", tmp_path / "sessions.db")
    seen = run_twice(WarmSession(inner, WARMUP))
    inner.close()
    instructions, items = seen[0]
    assert instructions == "Be brief."
    assert items[0]["content"].startswith(FRAME)
    asked = [item["call_id"] for item in items if item.get("type") == "function_call"]
    answered = [item["call_id"] for item in items if item.get("type") == "function_call_output"]
    assert asked == answered != []
    assert items[-1]["content"] == MESSAGE


def test_the_warmup_stays_the_same_and_is_never_stored(tmp_path: Path) -> None:
    inner = SQLiteSession("s1", tmp_path / "sessions.db")
    first, second = run_twice(WarmSession(inner, WARMUP))
    inner.close()
    length = len(first[1]) - 1
    assert second[1][:length] == first[1][:length]
    (session,), log = read_all(get_reader("openai_agents"), tmp_path / "sessions.db")
    assert not log.counts
    assert [message.text for message in session.messages] == [MESSAGE, "Fixed.", "thanks", "Fixed."]


def test_it_is_a_session_as_the_sdk_defines_one() -> None:
    inner = SQLiteSession("s1")
    warm = WarmSession(inner, WARMUP)
    assert isinstance(warm, Session)
    warm.session_id = "s2"
    assert inner.session_id == "s2"
    asyncio.run(warm.add_items([{"role": "user", "content": "x"}]))
    assert asyncio.run(warm.pop_item()) == {"role": "user", "content": "x"}
    asyncio.run(warm.clear_session())
    assert asyncio.run(inner.get_items()) == []
    inner.close()


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("WARMSTART_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("WARMSTART_WARM_HOLDOUT", "0")
    monkeypatch.delenv("WARMSTART_STORE", raising=False)
    return tmp_path


@pytest.mark.usefixtures("home")
def test_starting_chooses_a_template_and_writes_it_down() -> None:
    with open_library(Workspace.open()) as library:
        library.save(make_template(), state=TemplateState.APPROVED)
    inner = SQLiteSession("s7")
    warm = WarmSession.start(inner, MESSAGE, model="acme")
    inner.close()
    assert warm.warmup.template == "fix-tests"
    with open_library(Workspace.open()) as library:
        assert library.db
        (row,) = library.db.list_starts()
    assert (row.agent, row.native_id, row.model) == ("openai_agents", "s7", "acme")


@pytest.mark.usefixtures("home")
def test_a_draft_is_refused_unless_it_is_asked_for_unreviewed() -> None:
    with open_library(Workspace.open()) as library:
        library.save(make_template(), state=TemplateState.DRAFT)
    inner = SQLiteSession("s8")
    with pytest.raises(UnapprovedError, match="fix-tests@1 is a draft"):
        WarmSession.start(inner, MESSAGE, template="fix-tests")
    warm = WarmSession.start(inner, MESSAGE, template="fix-tests", unreviewed=True)
    inner.close()
    assert not warm.warmup.is_empty
