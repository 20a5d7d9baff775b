from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from warmstart.experiment.arms import COLD_START, ArmStart, neutral_template, start_warm
from warmstart.experiment.plan import Runner
from warmstart.experiment.tasks import Task
from warmstart.experiment.trial import TrialStatus
from warmstart.model import Kind, Role
from warmstart.runners.endpoint import INVALID_CALL, Endpoint, Job, TrialTranscript, price
from warmstart.runners.tools import Sandbox, open_toolbox
from warmstart.runners.transport import UNREADABLE_CALL, EndpointError, EndpointFailure
from warmstart.testing import (
    Fault,
    Policy,
    Prompt,
    Reply,
    Script,
    ScriptedEndpoint,
    ToolCall,
    by_turn,
)
from warmstart.warm import build_warmup

READ = Reply("Reading.", (ToolCall("read_file", {"path": "a.txt"}),))
TASK = Task(id="t", prompt="What is in a.txt?", files={"a.txt": "hello"})
Run = Callable[..., tuple[TrialTranscript, ScriptedEndpoint]]


@pytest.fixture
def run(tmp_path: Path) -> Run:
    def go(
        policy: Policy, start: ArmStart = COLD_START, key: str = "", **runner: object
    ) -> tuple[TrialTranscript, ScriptedEndpoint]:
        with ScriptedEndpoint(policy) as served, Sandbox(TASK.files, tmp_path) as sandbox:
            described = Runner(url=served.url, model="m", retries=1)
            endpoint = Endpoint(replace(described, **runner), key)  # type: ignore[arg-type] # fields of every kind
            endpoint.pause_seconds = 0.001
            job = Job(prompt=TASK.prompt, system="Be brief.", start=start, seed=5)
            return endpoint.run(job, open_toolbox(TASK, sandbox)), served

    return go


@pytest.mark.parametrize("api", ["openai", "anthropic"])
def test_a_trial_is_prompt_calls_results_and_answer(run: Run, api: str) -> None:
    done, served = run(by_turn(READ, Reply("It says hello.")), api=api, key="k")
    assert done.status is TrialStatus.FINISHED
    assert done.answer == "It says hello."
    assert [m.role for m in done.messages] == [
        Role.USER, Role.ASSISTANT, Role.TOOL, Role.ASSISTANT,
    ]  # fmt: skip
    assert done.messages[2].results[0].text == "hello"
    assert done.turns == 2
    assert done.tokens.output > 0
    assert served.requests[0].prompt.system == "Be brief."
    assert "read_file" in served.requests[0].prompt.tool_names
    assert {"authorization", "x-api-key"} & set(served.requests[0].headers)


def test_examples_stand_in_front_and_are_marked(run: Run) -> None:
    warmup = build_warmup(neutral_template(), template_id="0" * 64)
    done, served = run(by_turn(READ, Reply("x")), start_warm(warmup))
    prompt = served.requests[0].prompt
    assert prompt.asked == TASK.prompt
    assert len(prompt.examples) == len(neutral_template().examples)
    assert prompt.system.startswith("Be brief.\n\n")
    kinds = [message.kind for message in done.messages]
    assert kinds == [Kind.WARMUP] * len(warmup.messages) + [Kind.TURN] * 4
    ids = [r.id for m in done.messages for r in m.requests]
    assert len(set(ids)) == len(ids)


def test_the_json_protocol_needs_no_tool_calls(run: Run) -> None:
    script = Script(
        Reply('{"tool": "read_file", "arguments": {"path": "a.txt"}}'),
        Reply('{"tool": broken'),
        Reply('{"answer": "hello"}'),
    )
    warmup = start_warm(build_warmup(neutral_template(), template_id="0" * 64))
    done, served = run(script, warmup, protocol="json")
    assert done.answer == "hello"
    assert [r.tool for m in done.messages[-6:] for r in m.requests] == ["read_file", INVALID_CALL]
    last = served.requests[-1].prompt
    assert last.tools == ()
    assert "read_file(path: string)" in last.system
    assert any('{"tool": "play_music"' in turn.text for turn in last.messages)
    assert all(turn.role in ("user", "assistant") for turn in last.messages)


def test_a_call_its_server_cannot_read_is_an_error_of_the_model(run: Run) -> None:
    fault = Fault(status=500, body=UNREADABLE_CALL)
    done, served = run(Script(fault, Reply("Never mind.")))
    assert done.status is TrialStatus.FINISHED
    assert done.messages[1].requests[0].tool == INVALID_CALL
    assert done.messages[2].results[0].is_error
    assert [message.role for message in served.requests[1].prompt.messages] == ["user", "user"]
    assert UNREADABLE_CALL not in str(served.requests[1].body)


def test_a_model_that_wants_the_limit_by_another_name_gets_it(run: Run) -> None:
    fault = Fault(status=400, body="Unsupported: use 'max_completion_tokens' instead.")

    def policy(prompt: Prompt) -> Reply | Fault:
        return fault if "max_tokens" in prompt.body else by_turn(READ, Reply("ok"))(prompt)

    done, served = run(policy)
    assert done.answer == "ok"
    assert [("max_tokens" in one.body) for one in served.requests] == [True, False, False]


def test_turns_are_limited(run: Run) -> None:
    done, _ = run(Script(READ), max_turns=3)
    assert (done.status, done.turns, done.answer) == (TrialStatus.FINISHED, 3, "")
    assert "3 turns" in done.detail


def test_time_is_limited(run: Run) -> None:
    slow = Reply(calls=(ToolCall("terminal", {"command": "sleep 0.3"}),))
    done, _ = run(Script(slow), trial_timeout=0.2)
    assert done.status is TrialStatus.TIMEOUT


def test_a_refused_prompt_is_a_crash_and_a_missing_endpoint_is_none(run: Run) -> None:
    done, _ = run(Script(Fault(status=400, body="context too long")))
    assert (done.status, "context too long" in done.detail) == (TrialStatus.CRASHED, True)
    done, _ = run(Script(Fault(status=200, body="{}")))
    assert done.status is TrialStatus.CRASHED
    with pytest.raises(EndpointError) as raised:
        run(Script(Fault(status=401)))
    assert raised.value.failure is EndpointFailure.DENIED


def test_ids_that_repeat_are_made_unique(run: Run) -> None:
    twice = Reply(calls=(ToolCall("list_dir"), ToolCall("search_files", {"pattern": "x"})))
    done, _ = run(Script(twice, twice, Reply("done")))
    ids = [r.id for m in done.messages for r in m.requests]
    assert len(ids) == len(set(ids)) == 4


def test_prices_make_a_cost() -> None:
    from warmstart.model import Tokens

    tokens = Tokens(input=1_000_000, output=100_000, cache_read=1_000_000)
    runner = Runner(input_price=3.0, output_price=15.0)
    assert price(tokens, runner) == pytest.approx(7.5)
    assert price(tokens, Runner(input_price=3.0)) is None
