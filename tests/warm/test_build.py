"""Cutting a template to a budget."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from support.warming import EXAMPLES, TEMPLATE_ID, TEMPLATES, make_template
from warmstart.model import Kind, Marker, MarkerKind, Role
from warmstart.model.template import Example, Template
from warmstart.model.warmup import WarmUp
from warmstart.warm import FRAME, WarmUpLimits, build_warmup, shorten_line
from warmstart.warm.episodes import shorten, shorten_arguments


def build(template: Template, **fields: object) -> WarmUp:
    return build_warmup(template, template_id=TEMPLATE_ID, **fields)  # type: ignore[arg-type]


def tools_of(warmup: WarmUp) -> list[str]:
    return [request.tool for message in warmup.messages for request in message.requests]


def test_guidance_frame_and_examples_all_go_in_when_there_is_room() -> None:
    warmup = build(make_template())
    assert warmup.system.startswith(FRAME)
    assert "- terminal: Run pytest with -q; give a path." in warmup.system
    assert set(warmup.parts) >= {"guidance:patch", "example:0", "example:2", "recovery:0"}
    assert all(message.kind is Kind.WARMUP for message in warmup.messages)


def test_guidance_on_the_tool_that_failed_most_comes_first() -> None:
    system = build(make_template()).system
    assert system.index("terminal:") < system.index("patch:")


def test_a_recovery_shows_the_failure_and_ends_in_success() -> None:
    warmup = build(make_template(examples=(), guidance=()))
    results = [result for message in warmup.messages for result in message.results]
    assert [result.is_error for result in results] == [True, False]
    assert "quoted exactly" in warmup.messages[-1].text


def test_tools_the_session_lacks_are_left_out_and_named() -> None:
    warmup = build(make_template(), tools=["TERMINAL"])
    assert set(tools_of(warmup)) == {"terminal"}
    assert "guidance:patch: this session has no tool patch" in warmup.left_out
    assert "patch:" not in warmup.system


def test_no_tool_has_more_than_three_examples() -> None:
    examples = tuple(
        Example(tool="terminal", arguments={"command": f"ls {n}"}, result="ok") for n in range(9)
    )
    warmup = build(make_template(examples=examples, recoveries=()), budget=5000)
    assert tools_of(warmup) == ["terminal"] * 3


@pytest.mark.parametrize("budget", [0, 60, 150, 250, 400, 800, 1500])
def test_the_budget_is_kept(budget: int) -> None:
    assert build(make_template(), budget=budget).tokens <= budget


def test_too_small_a_budget_gives_nothing_and_says_why() -> None:
    warmup = build(make_template(), budget=10)
    assert warmup.is_empty
    assert any("no room" in line for line in warmup.left_out)


def test_examples_of_tools_that_fail_are_preferred() -> None:
    examples = (
        Example(tool="read_file", arguments={"path": "a"}, result="text", intent="Read a file."),
        Example(tool="terminal", arguments={"command": "a"}, result="text", intent="Run it once."),
    )
    template = make_template(examples=examples, recoveries=())
    assert tools_of(build(template, limits=WarmUpLimits(examples=1))) == ["terminal"]


def test_what_refers_to_a_file_that_is_gone_is_left_out() -> None:
    template = make_template()
    there = build(template, limits=WarmUpLimits(existing=frozenset({"cart.py"})))
    gone = build(template, limits=WarmUpLimits(existing=frozenset()))
    assert "- cart.py" in there.system
    assert "cart.py" not in gone.system
    assert "example:1: cart.py is gone" in gone.left_out
    assert "- pytest -q" in gone.system


def test_files_are_taken_as_they_are_when_nobody_looked() -> None:
    template = make_template(markers=(Marker(MarkerKind.FILE, "cart.py", 1),))
    assert "- cart.py" in build(template).system


def test_long_results_keep_their_beginning_and_their_end() -> None:
    example = Example(tool="terminal", arguments={}, result="start " + "x" * 5000 + " end")
    template = make_template(examples=(example,), recoveries=())
    text = build(template).messages[2].results[0].text
    assert text.startswith("start")
    assert text.endswith("end")
    assert "characters …]" in text


def test_shortening_is_exact_at_the_limit() -> None:
    assert shorten("abcde", 5) == "abcde"
    assert shorten_line("a  b\nc", 10) == "a b c"
    assert len(shorten_line("word " * 50, 20)) <= 20
    nested = {"b": [{"z": 1, "a": ["x" * 9]}], "a": None}
    assert list(shorten_arguments(nested, 5)) == ["a", "b"]
    assert shorten_arguments(nested, 5)["b"][0]["a"][0] != "x" * 9


def test_deep_arguments_are_cut_off() -> None:
    deep: object = "end"
    for _ in range(30):
        deep = [deep]
    assert "[…]" in str(shorten_arguments({"deep": deep}, 50))


def test_an_empty_template_gives_an_empty_warmup() -> None:
    assert build(Template(name="nothing", system_context="words alone teach nothing")).is_empty


@settings(max_examples=40)
@given(TEMPLATES, st.integers(0, 2000))
def test_any_template_gives_paired_turns_within_the_budget(template: Template, budget: int) -> None:
    warmup = build(template, budget=budget)
    asked = [r.id for message in warmup.messages for r in message.requests]
    answered = [r.call_id for message in warmup.messages for r in message.results]
    assert asked == answered == [f"call_warm_{n + 1}" for n in range(len(asked))]
    assert warmup.tokens <= budget
    if warmup.messages:
        assert warmup.messages[0].role is Role.USER
        assert warmup.messages[-1].role is Role.ASSISTANT
        assert not warmup.messages[-1].requests


@settings(max_examples=20)
@given(TEMPLATES)
def test_the_order_of_arguments_changes_no_byte(template: Template) -> None:
    turned = tuple(
        replace(example, arguments=dict(reversed(example.arguments.items())))
        for example in template.examples
    )
    assert repr(build(template)) == repr(build(replace(template, examples=turned)))


CHILD = """
import hashlib, sys
sys.path.insert(0, "tests")
from support.warming import make_template
from warmstart.warm import RENDERERS, Target, build_warmup, render
target = Target(cwd="/p", session_id="s-1", version="1", now=1767225600.0)
tools = {"terminal", "read_file", "patch", "other", "more"}
warmup = build_warmup(make_template(), template_id="ab" * 32, tools=tools)
data = b"".join(render(warmup, form, target).to_bytes() for form in RENDERERS)
print(hashlib.sha256(data).hexdigest())
"""


def test_every_process_writes_the_same_bytes() -> None:
    root = Path(__file__).resolve().parents[2]
    seen = set()
    for seed in ("0", "1", "4242"):
        environ = {**os.environ, "PYTHONHASHSEED": seed}
        done = subprocess.run(
            [sys.executable, "-c", CHILD],
            cwd=root, env=environ, capture_output=True, text=True, check=True,
        )  # fmt: skip
        seen.add(done.stdout)
    assert len(seen) == 1


def test_a_star_stands_for_every_tool_that_begins_so() -> None:
    example = replace(EXAMPLES[0], tool="mcp__shop__search")
    template = make_template(examples=(example,), recoveries=(), guidance=())
    assert tools_of(build(template, tools=["mcp__*"])) == ["mcp__shop__search"]
    assert tools_of(build(template, tools=["Bash"])) == []


def test_recoveries_come_first_because_the_nearest_example_is_imitated_most() -> None:
    messages = build(make_template()).messages
    failed = [result.is_error for message in messages for result in message.results]
    assert (failed[0], failed.count(True)) == (True, 1)
