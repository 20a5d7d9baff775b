from __future__ import annotations

from warmstart.testing import LearningModel, Prompt, Reply, ToolCall, Turn
from warmstart.testing.apis import read_chat, read_messages, read_responses, write_chat

EXAMPLE = Turn("assistant", "", (ToolCall("read_file", {"path": "docs/x.txt"}),))


def _ask(seed: int, *, warm: bool, task: int = 0) -> Reply:
    shown = (Turn("user", "Earlier."), EXAMPLE, Turn("tool", "x")) if warm else ()
    asked = Turn("user", f"Read notes/a{task}.txt and notes/b.txt.")
    return LearningModel()(Prompt(api="chat", turns=(*shown, asked), seed=seed))


def _slips(*, warm: bool) -> int:
    replies = [_ask(seed, warm=warm, task=task) for seed in range(20) for task in range(20)]
    return sum(str(reply.calls[0].arguments["path"]).startswith("/") for reply in replies)


def test_examples_of_the_tool_make_it_slip_less() -> None:
    assert 20 < _slips(warm=True) < 100
    assert 150 < _slips(warm=False) < 250


def test_examples_of_another_tool_change_nothing() -> None:
    other = Turn("assistant", "", (ToolCall("play_music", {"album": "x"}),))
    asked = Turn("user", "Read notes/a.txt.")
    for seed in range(30):
        cold = LearningModel()(Prompt(api="chat", turns=(asked,), seed=seed))
        placebo = LearningModel()(Prompt(api="chat", turns=(other, asked), seed=seed))
        assert cold == placebo


def test_the_same_request_gets_the_same_answer() -> None:
    assert [_ask(s, warm=False) for s in range(9)] == [_ask(s, warm=False) for s in range(9)]


def test_it_repairs_a_slip_and_tells_what_it_read() -> None:
    asked = Turn("user", "Read a.txt.")
    failed = Turn("tool", '{"error": "outside"}')
    repaired = LearningModel(cold_slips=1.0)(Prompt(api="chat", turns=(asked, EXAMPLE, failed)))
    assert repaired.calls[0].arguments == {"path": "a.txt"}
    done = LearningModel()(Prompt(api="chat", turns=(asked, EXAMPLE, Turn("tool", "hello\n"))))
    assert done == Reply("I read: hello")


def test_requests_of_every_api_become_the_same_prompt() -> None:
    chat = read_chat({
        "messages": [
            {"role": "system", "content": [{"type": "text", "text": "S"}]},
            {"role": "user", "content": "U"},
            {"role": "assistant", "content": None,
             "tool_calls": [{"function": {"name": "f", "arguments": '{"a": 1}'}}]},
            {"role": "tool", "content": "R"},
        ],
        "tools": [{"type": "function", "function": {"name": "f"}}],
    })  # fmt: skip
    responses = read_responses({
        "instructions": "S",
        "input": [
            {"role": "user", "content": [{"type": "input_text", "text": "U"}]},
            {"type": "function_call", "name": "f", "arguments": '{"a": 1}'},
            {"type": "function_call_output", "output": "R"},
            {"type": "reasoning", "summary": []},
        ],
        "tools": [{"type": "function", "name": "f"}],
    })  # fmt: skip
    messages = read_messages({
        "system": [{"type": "text", "text": "S"}],
        "messages": [
            {"role": "user", "content": "U"},
            {"role": "assistant", "content": [{"type": "tool_use", "name": "f",
                                               "input": {"a": 1}}]},
            {"role": "user", "content": [{"type": "tool_result", "content": "R"}]},
        ],
        "tools": [{"name": "f"}],
    })  # fmt: skip
    for other in (responses, messages):
        assert (other.system, other.turns, other.tools) == (chat.system, chat.turns, chat.tools)


def test_a_model_that_writes_no_json_is_played() -> None:
    reply = Reply(calls=(ToolCall("f", raw="{not json"),))
    whole = write_chat(Prompt(api="chat"), reply)
    assert whole["choices"][0]["message"]["tool_calls"][0]["function"]["arguments"] == "{not json"
    turn = {"role": "assistant", **whole["choices"][0]["message"]}
    assert read_chat({"messages": [turn]}).turns[0].calls[0].raw == "{not json"
