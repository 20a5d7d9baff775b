"""A place to start agents from, and what a warm start has to put in front of them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from warmstart.app.warm_start import WarmStart
from warmstart.integrations.launch_parts import Host
from warmstart.model.template import Example, Guidance, Template
from warmstart.model.warmup import Arm, WarmUp
from warmstart.warm import TemplateChoice, build_warmup

SESSION_ID = "11111111-2222-4333-8444-555555555555"
MESSAGE = "fix the failing cart test"
RESULT = "1 failed, 3 passed"
TOOLS = {"Bash": "command", "exec_command": "cmd", "terminal": "command"}
"""One tool of each agent, and the argument that holds its command."""


def make_template(name: str = "fix-cart", **fields: Any) -> Template:
    """One example for each agent that can be started."""
    examples = tuple(
        Example(tool=tool, arguments={key: "pytest -q"}, result=RESULT, intent="Why does it fail?",
                closing="The rounding.", sessions=4)
        for tool, key in TOOLS.items()
    )  # fmt: skip
    values: dict[str, Any] = {"anchors": (MESSAGE,), "tags": ("cart",), "examples": examples}
    return Template(name=name, **(values | fields))


def make_advice() -> Template:
    """A template without a call to show."""
    line = Guidance(tool="Bash", text="Run pytest -q first.", calls=9, errors=3)
    return make_template("advice", examples=(), guidance=(line,))


def make_warmup(template: Template | None = None, **fields: Any) -> WarmUp:
    return build_warmup(template or make_template(), template_id="ab" * 32, **fields)


def make_prepared(template: Template | None = None, **fields: Any) -> WarmStart:
    choice = TemplateChoice(template="fix-cart", arm=Arm.WARM, reason="it fits", task_type="mixed")
    return WarmStart(choice=choice, warmup=make_warmup(template, **fields), version=1)


def make_host(folder: Path, **fields: Any) -> Host:
    values: dict[str, Any] = {
        "cwd": str(folder / "project"),
        "environ": {},
        "user_home": folder / "user",
        "home": folder / "ws",
        "session_id": SESSION_ID,
        "now": 1_800_000_000.0,
        "command": ("/opt/my apps/warmstart",),
    }
    return Host(**(values | fields))
