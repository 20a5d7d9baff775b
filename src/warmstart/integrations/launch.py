"""The real agent, started warm: ``plan_launch`` decides and writes it down, ``run_plan`` starts it.

The user's command is never lost. Whatever stands in the way of a warm start (no template fits, the
library is broken, a file cannot be written), the agent starts as it would have, and one sentence
says why. Which template and arm the session got is in the store, never in the prompt.
"""

from __future__ import annotations

import os
import shutil
import tempfile
import time
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import IO

from warmstart.errors import NotFoundError, WarmstartError
from warmstart.integrations.agents import find_command
from warmstart.integrations.launch_claude import ClaudeCode
from warmstart.integrations.launch_codex import Codex
from warmstart.integrations.launch_files import clear_leftovers, hold_files
from warmstart.integrations.launch_hermes import Hermes
from warmstart.integrations.launch_other import Other
from warmstart.integrations.launch_parts import Ask, Launch, Launcher, Place
from warmstart.integrations.launch_process import run_command
from warmstart.library import Library
from warmstart.model.warmup import Arm
from warmstart.store.starts import Start
from warmstart.workspace import Workspace
from warmstart.workspace.templates import open_library
from warmstart.workspace.warming import (
    AUTO,
    Bookcase,
    Occasion,
    Prepared,
    WarmConfig,
    hash_message,
    load_config,
    prepare,
)

KNOWN = {"claude": ClaudeCode, "codex": Codex, "hermes": Hermes}
STARTED_VARIABLE = "WARMSTART_STARTED"
"""Names the agent whose session was decided on here, so that its own plugin leaves it alone."""
BUDGET_VARIABLE = "WARMSTART_WARM_BUDGET"


@dataclass(frozen=True, slots=True, kw_only=True)
class Wish:
    """What the user wants of a launch."""

    template: str = AUTO
    budget: int | None = None
    cold: bool = False
    agent: str | None = None
    """Which agent the command is, where its name does not say."""
    message: str = ""
    """What the session is about, where the command does not say."""
    form: str = ""
    """The form for an agent that is not known."""
    dry_run: bool = False
    """Only look: nothing is written, nobody is held out."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What will be started, and why so."""

    program: str
    launch: Launch
    environ: Mapping[str, str] = field(default_factory=dict)
    """All the variables the agent is to have."""
    sentence: str = ""
    """For the person; empty where there is nothing to say."""
    arm: Arm | None = None
    """None where the command starts no session, or its session is decided on later."""
    template: str | None = None
    start: int | None = None
    stdin: IO[bytes] | None = None
    """The message that came on stdin, to be read once more."""
    fallback: Launch | None = None
    """The cold launch, for when a file cannot be written."""

    @property
    def command(self) -> tuple[str, ...]:
        """Program and arguments."""
        return (self.program, *self.launch.arguments)


def this_place(workspace: Workspace) -> Place:
    """Here and now."""
    return Place(
        cwd=str(Path.cwd()),
        environ=os.environ,
        user_home=Path.home(),
        home=workspace.home,
        session_id=str(uuid.uuid4()),
        now=time.time(),
        command=find_command(),
    )


def plan_launch(
    workspace: Workspace,
    command: Sequence[str],
    wish: Wish,
    place: Place | None = None,
    stdin: IO[bytes] | None = None,
) -> Plan:
    """Decide how a command is started, and write the start down.

    Args:
        workspace: whose library is used.
        command: the program and its arguments.
        wish: what the user wants.
        place: where, if not here and now.
        stdin: what the command would read, if that is no terminal.

    Raises:
        NotFoundError: there is no such program.
    """
    place = place or this_place(workspace)
    program = shutil.which(command[0], path=place.environ.get("PATH"))
    if program is None:
        raise NotFoundError(f"there is no command {command[0]!r}", wanted=command[0])
    launcher = find_launcher(command[0], wish)
    ask = launcher.read(command[1:], place)
    plan = Plan(program=program, launch=Launch(arguments=tuple(command[1:])), environ=place.environ)
    if ask is None:
        return plan
    if wish.message:
        ask = replace(ask, message=wish.message)
    elif ask.reads_stdin and stdin is not None:
        plan = replace(plan, stdin=_keep_stdin(stdin))
        ask = replace(ask, message=_peek(plan.stdin))
    plan = replace(plan, launch=launcher.stay_cold(ask, place))
    try:
        plan = _decide(workspace, launcher, replace(ask, message=ask.message.strip()), wish, place, plan)
    except (WarmstartError, OSError) as error:
        plan = replace(plan, sentence=f"cold: {error}")
    added = {**plan.launch.environ, STARTED_VARIABLE: ask.agent}
    return replace(plan, environ={**place.environ, **added})


def find_launcher(program: str, wish: Wish) -> Launcher:
    """The launcher of an agent, by what its command is called."""
    name = wish.agent or Path(program).name.removesuffix(".exe").removesuffix(".cmd")
    return KNOWN[name]() if name in KNOWN else Other(name, wish.form)


def run_plan(workspace: Workspace, plan: Plan) -> int:
    """Start the agent and wait for it; its exit code.

    Raises:
        OSError: it cannot be started.
    """
    clear_leftovers(workspace)
    with hold_files(workspace, plan.launch.seeds):
        return run_command(plan.command, plan.environ, plan.stdin)
