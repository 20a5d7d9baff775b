"""The real agent, started warm: ``plan_launch`` decides and writes it down, ``run_plan`` starts it.

The user's command is never lost. Whatever stands in the way of a warm start (no template fits, the
library is broken, a file cannot be written), the agent starts as it would have, and one sentence
says why. Which template and arm the session got is in the store, never in the prompt.
"""

from __future__ import annotations

import contextlib
import errno
import os
import shutil
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import IO, NamedTuple

from warmstart.app import (
    AUTO,
    Library,
    RecordedStart,
    Start,
    StartRequest,
    TemplateChoice,
    UnapprovedError,
    WarmStart,
    Workspace,
    decide_start,
    find_first_start,
    hash_message,
    load_config,
    open_library,
)
from warmstart.errors import NotFoundError, WarmstartError
from warmstart.integrations.agents import this_host
from warmstart.integrations.kept import find_warmup, keep_warmup, merge_system, name_start
from warmstart.integrations.launch_claude import ClaudeCodeLauncher
from warmstart.integrations.launch_codex import CodexLauncher
from warmstart.integrations.launch_hermes import HermesLauncher
from warmstart.integrations.launch_other import Other
from warmstart.integrations.launch_parts import AgentCommand, Host, Launch, Launcher, without_files
from warmstart.integrations.launch_process import clear_leftovers, hold_files, run_command
from warmstart.model import Arm

KNOWN: dict[str, Callable[[], Launcher]] = {
    "claude": ClaudeCodeLauncher,
    "codex": CodexLauncher,
    "hermes": HermesLauncher,
}
NAMING_FORMS = ("codex-rollout",)
"""Files that become the session and give it their id."""
PREFILL = "hermes-prefill"
OUTSIDE_TRANSCRIPT = (("hermes", PREFILL), ("claude_code", "text"))
"""Agents and forms of which nothing is in the transcript when the session is resumed."""
STARTED_VARIABLE = "WARMSTART_STARTED"
"""Names the agent whose session was decided on here, so that its own plugin leaves it alone."""
MAX_MESSAGE_BYTES = 100_000
"""What of a message on stdin is looked at."""
BUDGET_VARIABLE = "WARMSTART_WARM_BUDGET"


@dataclass(frozen=True, slots=True, kw_only=True)
class LaunchOptions:
    """What the user wants of a launch."""

    template: str = AUTO
    unreviewed: bool = False
    """Whether a draft that is not approved may be used."""
    budget: int | None = None
    cold: bool = False
    agent: str | None = None
    """Which agent the command is, where its name does not say."""
    message: str = ""
    """What the session is about, where the command does not say."""
    form: str = ""
    """The form for an agent that is not known."""
    dry_run: bool = False
    """Whether to plan only: nothing is written, no session is held out."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LaunchPlan:
    """What will be started, and why so."""

    program: str
    launch: Launch
    environ: Mapping[str, str] = field(default_factory=dict)
    """All variables of the agent's environment."""
    sentence: str = ""
    """For the person; empty where there is nothing to say."""
    arm: Arm | None = None
    """None where the command starts no session, or its session is decided on later."""
    template: str | None = None
    unreviewed: str = ""
    """The sentence to print if the template is an unreviewed draft; else empty."""
    start: int | None = None
    stdin: IO[bytes] | None = None
    """The message that came on stdin, to be read once more."""
    cold: Launch
    """The launch without a warm-up or any file, for when none can be written after all."""

    @property
    def command(self) -> tuple[str, ...]:
        """Program and arguments."""
        return (self.program, *self.launch.arguments)


def plan_launch(
    workspace: Workspace,
    command: Sequence[str],
    options: LaunchOptions,
    host: Host | None = None,
    stdin: IO[bytes] | None = None,
) -> LaunchPlan:
    """Decide how a command is started, and write the start down.

    Args:
        workspace: whose library is used.
        command: the program and its arguments.
        options: what the user wants.
        host: where, if not here and now.
        stdin: what the command would read, unless that is a terminal.

    Raises:
        NotFoundError: there is no such program.
    """
    host = host or this_host(workspace.home)
    program = shutil.which(command[0], path=host.environ.get("PATH"))
    if program is None:
        raise NotFoundError(f"there is no command {command[0]!r}", wanted=command[0])
    launcher = find_launcher(command[0], options)
    given = launcher.read(command[1:], host)
    if given is None:
        as_it_is = Launch(arguments=tuple(command[1:]))
        return LaunchPlan(program=program, launch=as_it_is, cold=as_it_is, environ=host.environ)
    given, kept = _complete(given, options, stdin)
    cold = launcher.stay_cold(given, host)
    bare = without_files(cold)
    plan = LaunchPlan(program=program, launch=cold, cold=bare, environ=host.environ, stdin=kept)
    try:
        return _Deciding(workspace, launcher, given, options, host).decide(plan)
    except UnapprovedError as error:
        return replace(plan, sentence=f"cold: {error.message} ({error.hint})")
    except (WarmstartError, OSError) as error:
        return replace(plan, sentence=f"cold: {error}")


def find_launcher(program: str, options: LaunchOptions) -> Launcher:
    """The launcher of an agent, by what its command is called."""
    name = options.agent or Path(program).name.removesuffix(".exe").removesuffix(".cmd")
    return KNOWN[name]() if name in KNOWN else Other(name, options.form)


def run_plan(workspace: Workspace, plan: LaunchPlan, tell: Callable[[str], None]) -> int:
    """Start the agent and wait for it; its exit code.

    Raises:
        OSError: it cannot be started.
    """
    with contextlib.ExitStack() as stack:
        launch = plan.launch
        if plan.stdin is not None:
            stack.enter_context(plan.stdin)
        try:
            clear_leftovers(workspace)
            stack.enter_context(hold_files(workspace, launch.seeds))
        except (WarmstartError, OSError) as error:
            if not plan.sentence.startswith("cold"):
                tell(f"cold: {error}")
            launch = plan.cold
        environ = {**plan.environ, **launch.environ}
        return run_command((plan.program, *launch.arguments), environ, plan.stdin)


def _complete(
    given: AgentCommand, options: LaunchOptions, stdin: IO[bytes] | None
) -> tuple[AgentCommand, IO[bytes] | None]:
    """The message, wherever it is; what came on stdin is kept for the agent."""
    opening, kept = given.message, None
    if given.reads_stdin and not opening and stdin is not None:
        kept = tempfile.TemporaryFile()  # noqa: SIM115 - the child reads it
        shutil.copyfileobj(stdin, kept)
        kept.seek(0)
        opening = kept.read(MAX_MESSAGE_BYTES).decode("utf-8", "replace")
        kept.seek(0)
    opening = opening.strip()
    return replace(given, message=options.message.strip() or opening, opening=opening), kept


class _Deciding(NamedTuple):
    """One decision: everything it depends on."""

    workspace: Workspace
    launcher: Launcher
    given: AgentCommand
    options: LaunchOptions
    host: Host

    def decide(self, plan: LaunchPlan) -> LaunchPlan:
        given, options = self.given, self.options
        if given.continues:
            return self._go_on(plan)
        if options.cold:
            return self._go_cold(plan)
        if given.obstacle:
            return replace(plan, sentence=f"cold: {given.obstacle}")
        if options.template == AUTO and not given.message:
            return self._wait(plan)
        with open_library(self.workspace, read_only=options.dry_run) as library:
            return self._choose(library, plan)

    def _choose(self, library: Library, plan: LaunchPlan) -> LaunchPlan:
        """Only what can really be given to the agent is recorded as given."""
        holdout = 0.0 if self.options.dry_run else None
        config = load_config(self.workspace, {"budget": self.options.budget, "holdout": holdout})
        prepared = decide_start(self.workspace, library, self._request(), config)
        given = replace(prepared, warmup=prepared.withheld or prepared.warmup)
        form = self.launcher.name_form(self.given, given.warmup) if given.is_warm else ""
        if given.is_warm and not form:
            return replace(plan, sentence="cold: this command cannot be given a warm-up")
        warm = self.launcher.put(self.given, given, form, self.host) if form else plan.launch
        if not self.options.dry_run:
            _check_places(warm)
            prepared = prepared.record(library, form=form, native_id=self._name_session(form))
            self._keep(prepared, form)
        return replace(
            plan,
            launch=warm if prepared.is_warm else plan.launch,
            environ={**plan.environ, STARTED_VARIABLE: self.given.agent},
            sentence=str(prepared),
            arm=prepared.choice.arm,
            template=prepared.choice.template,
            unreviewed=prepared.unreviewed if prepared.is_warm else "",
            start=prepared.start,
        )

    def _name_session(self, form: str) -> str | None:
        """The id the session will have, if that is known."""
        return self.host.session_id if form in NAMING_FORMS else self.given.native_id

    def _request(self) -> StartRequest:
        return StartRequest(
            message=self.given.message,
            opening=self.given.opening,
            agent=self.given.agent,
            model=self.given.model,
            tools=self.given.tools,
            template=self.options.template,
            unreviewed=self.options.unreviewed,
            cwd=self.given.cwd,
            seed=self.host.session_id,
        )

    def _go_cold(self, plan: LaunchPlan) -> LaunchPlan:
        """Asked for: a start like any other, only without a template."""
        sentence = "cold: as asked"
        environ = {**plan.environ, STARTED_VARIABLE: self.given.agent}
        plan = replace(plan, sentence=sentence, arm=Arm.COLD, environ=environ)
        if self.options.dry_run:
            return plan
        start = Start(
            agent=self.given.agent,
            arm=Arm.COLD,
            model=self.given.model,
            message_hash=hash_message(self.given.opening),
            started_at=time.time(),
            cwd=self.given.cwd or None,
            native_id=self.given.native_id,
        )
        with open_library(self.workspace) as library:
            return replace(plan, start=library.require_db().record_start(start))

    def _wait(self, plan: LaunchPlan) -> LaunchPlan:
        later = self.launcher.defer(self.given, self.host)
        if later is None:
            return replace(
                plan, sentence="cold: no message to choose by; --template NAME needs none"
            )
        budget = {} if self.options.budget is None else {BUDGET_VARIABLE: str(self.options.budget)}
        later = replace(later, environ={**later.environ, **budget})
        return replace(plan, launch=later, sentence="the first message will choose the template")

    def _keep(self, prepared: WarmStart, form: str) -> None:
        """Keep what the session gets for when it is resumed, unless its transcript does."""
        if not prepared.is_warm or (self.given.agent, form) not in OUTSIDE_TRANSCRIPT:
            return
        key = self.given.native_id or name_start(prepared.start or 0)
        warmup = merge_system(prepared.warmup) if form == PREFILL else prepared.warmup
        with contextlib.suppress(WarmstartError, OSError):
            keep_warmup(self.workspace, self.given.agent, key, warmup)

    def _go_on(self, plan: LaunchPlan) -> LaunchPlan:
        """A session that is there already: it goes on as it began and is not a start."""
        own = {**plan.environ, STARTED_VARIABLE: self.given.agent}
        if self.options.cold:
            return replace(plan, sentence="cold: as asked", environ=own)
        start = self._find_first_start()
        if start is None and self.options.template == AUTO:
            return replace(plan, sentence="this session began without warmstart and goes on so")
        look = self._look_again(start)
        if look is None or not look.is_warm:
            return replace(plan, sentence="this session has its start already")
        if self.given.obstacle:
            return replace(plan, sentence=f"cold: {self.given.obstacle}")
        form = self.launcher.name_form(self.given, look.warmup)
        if not form:
            return replace(plan, sentence="cold: this command cannot be given a warm-up")
        launch = self.launcher.put(self.given, look, form, self.host)
        if not self.options.dry_run:
            _check_places(launch)
        return replace(
            plan,
            launch=launch,
            environ=own,
            sentence=f"{look}, for a session that goes on",
            template=look.choice.template,
            unreviewed=look.unreviewed,
        )

    def _find_first_start(self) -> RecordedStart | None:
        if not self.given.native_id:
            return None
        return find_first_start(self.workspace, self.given.agent, self.given.native_id)

    def _look_again(self, start: RecordedStart | None) -> WarmStart | None:
        """What the session began with; of one that began elsewhere, the template named."""
        if start is None:
            with open_library(self.workspace, read_only=True) as library:
                flags = {"budget": self.options.budget, "holdout": 0.0}
                config = load_config(self.workspace, flags)
                return decide_start(self.workspace, library, self._request(), config)
        keys = (self.given.native_id or "", name_start(start.id))
        found = (find_warmup(self.workspace, self.given.agent, key) for key in keys)
        warmup = next((one for one in found if one is not None), None)
        if warmup is None:
            return None
        choice = TemplateChoice(
            template=start.template, arm=Arm.WARM, reason="as it began", task_type="mixed"
        )
        return WarmStart(choice=choice, warmup=warmup, version=start.version)


def _check_places(launch: Launch) -> None:
    """Make the folders of the files; what cannot be written is better known before than after.

    Raises:
        PermissionError: a folder may not be written to.
    """
    for seed in launch.seeds:
        folder = seed.path.parent
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        if not os.access(folder, os.W_OK):
            raise PermissionError(errno.EACCES, "may not be written to", str(folder))


__all__ = [
    "KNOWN",
    "LaunchOptions",
    "LaunchPlan",
    "find_launcher",
    "plan_launch",
    "run_plan",
]
