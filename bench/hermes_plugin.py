"""What the Hermes plugin costs: at Hermes' start, at a session's first request, at every other one.

    python bench/hermes_plugin.py [--messages N] [--templates N] [--rounds R] [--json] [--check]

Start: CPU of a process that imports what Hermes has loaded by then anyway, without and with the
plugin registered. A process's first session loads the rest of warmstart, which registering does
not. First request: choosing, building and writing down, in a process that has done it before. Other
requests: putting the same warm-up in, beside ``json.dumps`` of the request, which every agent pays
to send it. A session's end is its transcript looked for and the start settled. A call's judgement
is measured beside it too. Goals: the start at most 1.25 times, every other request at most 0.5
times the other side.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from warmstart.app import Workspace, open_library
from warmstart.integrations.hermes import register
from warmstart.model import Example, Guidance, Template, TemplateState
from warmstart.samples import samples_path

MAX_START_RATIO = 1.25
MAX_REQUEST_RATIO = 0.5
BARE = "import argparse, functools, json, logging, os, re, threading, typing, collections.abc\n"
PLUGIN = (
    BARE + "from warmstart.integrations.hermes import register\n"
    "class Context:\n    def __getattr__(self, name): return lambda *a, **k: None\n"
    "register(Context())\n"
)
TASK = "fix the failing test of the parser"
FIRST = f"""{BARE}import sqlite3
from warmstart.integrations.hermes import register
class Context:
    def register_middleware(self, kind, callback): self.rewrite = callback
    def __getattr__(self, name): return lambda *a, **k: None
context = Context()
register(context)
request = {{"messages": [{{"role": "user", "content": {TASK!r}}}]}}
assert context.rewrite(request=request, session_id=os.urandom(8).hex())
"""


class Registered:
    """Keeps the callbacks; a plugin's context with nothing behind it."""

    def __init__(self) -> None:
        self.callbacks: dict[str, Callable[..., Any]] = {}
        register(self)

    def register_tool(self, **fields: Any) -> None:
        del fields

    def register_cli_command(self, **fields: Any) -> None:
        del fields

    def register_hook(self, hook_name: str, callback: Callable[..., Any]) -> None:
        self.callbacks[hook_name] = callback

    def register_middleware(self, kind: str, callback: Callable[..., Any]) -> None:
        self.callbacks[kind] = callback


def fill(home: Path, number: int) -> None:
    """Approved templates; the first one fits the task."""
    with open_library(Workspace(home)) as library:
        for place in range(number):
            about = TASK if place == 0 else f"deploy service number {place} to the cluster"
            template = Template(
                name=f"template-{place:05}",
                anchors=(about,),
                guidance=(Guidance(tool="terminal", text="Run it first.", calls=9, errors=3),),
                examples=tuple(
                    Example(tool="terminal", arguments={"command": f"pytest -q {n}"},
                            result="3 passed " * 20, intent="Run the tests.", closing="All pass.")
                    for n in range(5)
                ),
            )  # fmt: skip
            library.save(template, state=TemplateState.APPROVED)


def make_request(messages: int) -> dict[str, Any]:
    """A conversation in the middle of its work, with a system prompt and tools of Hermes' size."""
    tool = {"name": "terminal", "description": "d" * 800, "parameters": {"type": "object"}}
    said: list[dict[str, Any]] = [
        {"role": "system", "content": "s" * 20_000},
        {"role": "user", "content": TASK},
    ]
    for number in range(messages // 2):
        call = {"name": "terminal", "arguments": '{"command": "pytest -q"}'}
        asked = {"id": f"call_{number}", "type": "function", "function": call}
        said.append({"role": "assistant", "content": "", "tool_calls": [asked]})
        said.append({"role": "tool", "tool_call_id": f"call_{number}", "content": "r" * 1500})
    return {"model": "m", "messages": said, "tools": [{"type": "function", "function": tool}] * 28}


def measure_process(code: str) -> float:
    """CPU seconds of one start."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, "-c", code], check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def measure(work: Callable[[], Any], times: int) -> float:
    """CPU seconds of one go."""
    started = time.process_time()
    for _ in range(times):
        work()
    return (time.process_time() - started) / times


def measure_requests(messages: int, rounds: int) -> dict[str, float]:
    """Seconds for each kind of event, the best of the rounds."""
    hermes = Registered()
    rewrite = hermes.callbacks["llm_request"]
    count = hermes.callbacks["post_tool_call"]
    finalize = hermes.callbacks["on_session_finalize"]
    first, later = make_request(0), make_request(messages)
    result = json.dumps({"output": "x" * 1500, "exit_code": 0, "error": None})
    number, ended = 0, 1

    def begin() -> None:
        nonlocal number
        number += 1
        sent = rewrite(request=first, session_id=f"s{number}", api_mode="chat_completions")
        if sent is None or len(sent["request"]["messages"]) < 4:
            raise SystemExit("the session did not start warm")

    def call() -> None:
        count(session_id="s1", tool_name="terminal", args={"command": "pytest -q"}, result=result)

    def end() -> None:
        nonlocal ended
        ended += 1
        finalize(session_id=f"s{ended}", platform="cli", reason="shutdown")

    begin()
    works: dict[str, tuple[Callable[[], Any], int]] = {
        "first request": (begin, 10),
        "a session's end": (end, 10),
        "json.dumps of a request": (lambda: json.dumps(later), 50),
        "every other request": (lambda: rewrite(request=later, session_id="s1"), 200),
        "a call judged": (call, 200),
    }
    best = dict.fromkeys(works, float("inf"))
    for _ in range(rounds):
        for name, (work, times) in works.items():
            best[name] = min(best[name], measure(work, times))
    return best


def run(messages: int, templates: int, rounds: int) -> dict[str, Any]:
    """All figures."""
    starts = {"start without": BARE, "start with the plugin": PLUGIN}
    best = dict.fromkeys(starts, float("inf"))
    for _ in range(rounds):
        for name, code in starts.items():
            best[name] = min(best[name], measure_process(code))
    with tempfile.TemporaryDirectory() as folder:
        os.environ.update(WARMSTART_HOME=folder, WARMSTART_WARM_HOLDOUT="0", WARMSTART_STORE="")
        os.environ["HERMES_HOME"] = str(samples_path() / "hermes")
        fill(Path(folder), templates)
        warm = min(measure_process(FIRST) for _ in range(rounds))
        best["a process's first session"] = warm - best["start with the plugin"]
        best |= measure_requests(messages, rounds)
    return {
        "messages": messages,
        "templates": templates,
        "microseconds": {name: round(seconds * 1e6, 1) for name, seconds in best.items()},
        "start_ratio": round(best["start with the plugin"] / best["start without"], 3),
        "request_ratio": round(best["every other request"] / best["json.dumps of a request"], 3),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--messages", type=int, default=100)
    parser.add_argument("--templates", type=int, default=100)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--check", action="store_true")
    options = parser.parse_args()
    figures = run(options.messages, options.templates, options.rounds)
    if options.json:
        print(json.dumps(figures))
    else:
        title = f"{options.messages:,} messages, {options.templates:,} templates"
        table = Table("what", "CPU microseconds", title=title)
        for name, value in figures["microseconds"].items():
            table.add_row(name, f"{value:,.0f}")
        Console().print(table)
        print(f"start {figures['start_ratio']}x, request {figures['request_ratio']}x")
    is_slow = (
        figures["start_ratio"] > MAX_START_RATIO or figures["request_ratio"] > MAX_REQUEST_RATIO
    )
    if options.check and is_slow:
        sys.exit(1)


if __name__ == "__main__":
    main()
