"""A real Codex, started warm, with a scripted model on loopback."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from support.agents import Computer, find_agent
from support.launching import MESSAGE, RESULT
from warmstart.model.template import Guidance, Template
from warmstart.model.warmup import CALL_ID_PREFIX
from warmstart.testing import Reply, ScriptedEndpoint, ToolCall, by_turn

pytestmark = pytest.mark.agents
EXEC = ("codex", "exec", "--skip-git-repo-check", "-s", "danger-full-access")
ADVICE = "Give cmd a path."


@pytest.fixture
def codex(tmp_path: Path) -> Iterator[Computer]:
    program = find_agent("codex")
    call = ToolCall("exec_command", {"cmd": "echo hi"})
    with ScriptedEndpoint(by_turn(Reply(calls=(call,)), Reply("All done."))) as endpoint:
        computer = Computer(tmp_path, endpoint, program)
        (computer.user / ".codex" / "config.toml").write_text(
            'model = "scripted"\nmodel_provider = "here"\ndeveloper_instructions = "Be brief."\n'
            f'[model_providers.here]\nname = "here"\nbase_url = "{endpoint.url}/v1"\n'
            'wire_api = "responses"\nenv_key = "OPENAI_API_KEY"\n'
        )
        yield computer


def find_pairs(body: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Each example call that reached the model with the result that answers it."""
    calls = {item["call_id"]: item["name"] for item in body["input"] if "name" in item}
    return [
        (calls.pop(item["call_id"]), item["output"])
        for item in body["input"]
        if item.get("type") == "function_call_output" and item["call_id"].startswith(CALL_ID_PREFIX)
    ]


def list_rollouts(computer: Computer) -> list[Path]:
    return sorted((computer.user / ".codex" / "sessions").rglob("*.jsonl"))


def test_the_model_is_shown_the_paired_example_before_the_task(codex: Computer) -> None:
    said = codex.warmstart("run", "--", *EXEC, MESSAGE)
    assert "All done." in said
    for request in codex.endpoint.requests:
        assert find_pairs(request.body) == [("exec_command", RESULT)]
    assert codex.endpoint.requests[0].prompt.asked == MESSAGE


def test_the_rollout_becomes_the_session_and_its_examples_count_for_nothing(
    codex: Computer,
) -> None:
    codex.warmstart("run", "--", "codex", "exec", MESSAGE, *EXEC[2:])
    (start,) = codex.starts()
    (rollout,) = list_rollouts(codex)
    assert start.native_id is not None
    assert start.native_id in rollout.name
    row = codex.sync()
    assert (row["session"], row["calls"]) == (f"codex:{start.native_id}", 1)


def test_a_held_out_session_is_found_though_codex_named_it(codex: Computer) -> None:
    codex.warmstart("run", "--", *EXEC, MESSAGE, WARMSTART_WARM_HOLDOUT="1")
    assert find_pairs(codex.endpoint.requests[0].body) == []
    row = codex.sync()
    assert (row["arm"], row["result"], row["calls"]) == ("holdout", "settled", 1)


def test_a_message_on_stdin_chooses_and_arrives(codex: Computer) -> None:
    codex.warmstart("run", "--", *EXEC, "-", given=MESSAGE)
    request = codex.endpoint.requests[0]
    assert find_pairs(request.body) == [("exec_command", RESULT)]
    assert request.prompt.asked == MESSAGE


def test_advice_alone_is_text_beside_the_users_own(codex: Computer) -> None:
    line = Guidance(tool="exec_command", text=ADVICE, calls=9, errors=3)
    codex.save(Template(name="advice", guidance=(line,)))
    codex.warmstart("run", "--template", "advice", "--", *EXEC, MESSAGE)
    system = codex.endpoint.requests[0].prompt.system
    assert ADVICE in system
    assert "Be brief." in system
    assert codex.sync()["result"] == "settled"


def test_a_session_of_the_users_own_goes_on_as_it_is(codex: Computer) -> None:
    codex.run(*EXEC, "hello")
    (rollout,) = list_rollouts(codex)
    said = codex.warmstart("run", "--", *EXEC, "resume", rollout.stem[-36:], MESSAGE)
    assert "this session began without warmstart" in said
    assert codex.endpoint.requests[-1].prompt.asked == MESSAGE
    assert list_rollouts(codex) == [rollout]
    assert codex.starts() == []
