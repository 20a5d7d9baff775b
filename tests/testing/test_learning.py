from __future__ import annotations

from warmstart.model import Message, Request, Result, Role
from warmstart.testing import LearningModel, Prompt, Reply


def user(text: str) -> Message:
    return Message(role=Role.USER, text=text)


def asking(tool: str, **arguments: str) -> Message:
    return Message(role=Role.ASSISTANT, requests=(Request(tool=tool, arguments=arguments),))


def told(text: str) -> Message:
    return Message(role=Role.TOOL, results=(Result(text=text),))


EXAMPLE = asking("read_file", path="docs/x.txt")


def _ask(seed: int, *, warm: bool, task: int = 0) -> Reply:
    shown = (user("Earlier."), EXAMPLE, told("x")) if warm else ()
    asked = user(f"Read notes/a{task}.txt and notes/b.txt.")
    return LearningModel()(Prompt(messages=(*shown, asked), seed=seed))


def _slips(*, warm: bool) -> int:
    replies = [_ask(seed, warm=warm, task=task) for seed in range(20) for task in range(20)]
    return sum(str(reply.calls[0].arguments["path"]).startswith("/") for reply in replies)


def test_examples_of_the_tool_make_it_slip_less() -> None:
    assert 20 < _slips(warm=True) < 100
    assert 150 < _slips(warm=False) < 250


def test_examples_of_another_tool_change_nothing() -> None:
    other = asking("play_music", album="x")
    asked = user("Read notes/a.txt.")
    for seed in range(30):
        cold = LearningModel()(Prompt(messages=(asked,), seed=seed))
        placebo = LearningModel()(Prompt(messages=(other, asked), seed=seed))
        assert cold == placebo


def test_the_same_request_gets_the_same_answer() -> None:
    assert [_ask(s, warm=False) for s in range(9)] == [_ask(s, warm=False) for s in range(9)]


def test_it_repairs_a_slip_and_tells_what_it_read() -> None:
    asked = user("Read a.txt.")
    failed = told('{"error": "outside"}')
    repaired = LearningModel(cold_slips=1.0)(Prompt(messages=(asked, EXAMPLE, failed)))
    assert repaired.calls[0].arguments == {"path": "a.txt"}
    done = LearningModel()(Prompt(messages=(asked, EXAMPLE, told("hello\n"))))
    assert done == Reply("I read: hello")
