"""Trials by any command: a real agent, or a script, in a folder laid out for its task.

The command is words, not a shell line; placeholders are filled in each word, and refused in a word
that a shell or an interpreter would read as code. It keeps the user's environment, because an agent
needs its own keys and settings. Afterwards the session is looked for where agents keep theirs, by
its folder; where none is found, what it printed is kept.
"""

from __future__ import annotations

import json
import os
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from warmstart.errors import UsageError
from warmstart.experiment import ArmStart, Plan, Slot, Task, TrialStatus
from warmstart.model import Message, Role, Session
from warmstart.placeholders import fill_words, refuse_in_code
from warmstart.redact import redact
from warmstart.runners.endpoint import TrialTranscript, price
from warmstart.runners.pool import FinishedTrial, PrepareStart
from warmstart.runners.process import Finished, ProcessLimits, run_process
from warmstart.runners.scoring import Setting, score_trial
from warmstart.runners.tools import Sandbox
from warmstart.sources import Machine, ReadLog, find_stores, list_units, read_unit

MAX_OUTPUT_BYTES = 1_000_000
MAX_LAST_CHARS = 4000
MAX_UNITS = 40
"""Newest sessions of a store that are looked at."""
CLOCK_SLACK_SECONDS = 5.0
OWN_READERS = ("live_store", "warmstart")
START_WORD = "{start}"
PLACEHOLDERS = ("prompt", "prompt_file", "warmup_file", "system_file", "workdir", "template")


@dataclass(frozen=True, slots=True, kw_only=True)
class CommandWorker:
    """Runs trials of one experiment by its command; threads may share it."""

    plan: Plan
    tasks: Mapping[str, Task]
    prepare: PrepareStart
    folder: Path
    """Where sandboxes are made."""
    home: Path
    """warmstart's home."""
    setup: str = ""
    stop: threading.Event = field(default_factory=threading.Event)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def __post_init__(self) -> None:
        """Refuse a stored plan that ``experiment new`` would not have written."""
        check_command(self.plan.runner.command)

    def __call__(self, slot: Slot) -> FinishedTrial:
        """Carry out one trial."""
        task = self.tasks[slot.task]
        with self.lock:
            start = self.prepare(task, slot.arm)
        with Sandbox(task.files, self.folder) as sandbox, Sandbox(parent=self.folder) as aside:
            conversation, session = self._run(task, start, sandbox, aside)
            setting = Setting(experiment=self.plan.name, setup=self.setup, slot=slot, start=start)
            trial = score_trial(setting, task, conversation, sandbox)
        cost = price(conversation.tokens, self.plan.runner)
        if session is not None:
            cost = session.cost_usd if session.cost_usd is not None else cost
            trial = replace(trial, session=session.id)
        return FinishedTrial(
            trial=replace(trial, cost_usd=cost),
            conversation=conversation,
            is_elsewhere=session is not None,
        )

    def _run(
        self, task: Task, start: ArmStart, sandbox: Sandbox, aside: Sandbox
    ) -> tuple[TrialTranscript, Session | None]:
        runner = self.plan.runner
        values = _lay_out(task, start, sandbox, aside, self.plan.design.preamble)
        words = fill_command(runner.command, values, start)
        limits = ProcessLimits(
            seconds=runner.trial_timeout,
            output_bytes=MAX_OUTPUT_BYTES,
            environ={**os.environ, "PWD": str(sandbox.root)},
            stop=self.stop,
        )
        began, clock = time.time(), time.monotonic()
        ended = run_process(words, sandbox.root, limits)
        seconds = time.monotonic() - clock
        machine = Machine(environ=os.environ, user_home=Path.home(), warmstart_home=self.home)
        session = find_session(machine, sandbox.root, began)
        conversation = _describe(task, ended, session)
        return replace(conversation, started_at=began, seconds=seconds), session


def check_command(words: Sequence[str]) -> None:
    """Refuse a command that would run a task's text as code.

    Raises:
        UsageError: a placeholder stands where it would be, or where it would not be filled.
    """
    refuse_in_code(words, [*PLACEHOLDERS, START_WORD.strip("{}")])
    for word in words:
        if START_WORD in word and word != START_WORD:
            raise UsageError(
                f"{START_WORD} becomes several words and cannot be part of one: {word!r:.200}",
                hint=f"write it as a word of its own: warmstart run {START_WORD} -- my-agent",
            )


def fill_command(words: Sequence[str], values: Mapping[str, str], start: ArmStart) -> list[str]:
    """The command with its placeholders filled; ``{start}`` becomes options of ``run``."""
    options = ["--template", start.template] if start.template else ["--cold"]
    options += ["--unreviewed"] if start.unreviewed else []
    filled: list[str] = []
    for word in words:
        filled += options if word == START_WORD else fill_words([word], values)
    return filled


def _lay_out(
    task: Task, start: ArmStart, sandbox: Sandbox, aside: Sandbox, preamble: str
) -> dict[str, str]:
    """Files for the command, beside its working folder, and the values of its placeholders."""
    warmup = {"system": start.system, "messages": [_plain(m) for m in start.messages]}
    return {
        "prompt": task.prompt,
        "prompt_file": str(aside.write("prompt.txt", task.prompt)),
        "warmup_file": str(aside.write("warmup.json", json.dumps(warmup))),
        "system_file": str(
            aside.write("system.txt", "\n\n".join(filter(None, (preamble, start.system))))
        ),
        "workdir": str(sandbox.root),
        "template": start.template,
    }


def _plain(message: Message) -> dict[str, Any]:
    calls = [{"id": r.id, "tool": r.tool, "arguments": dict(r.arguments)} for r in message.requests]
    results = [{"id": r.call_id, "tool": r.tool, "text": r.text} for r in message.results]
    shown = {"text": message.text, "calls": calls, "results": results}
    return {"role": message.role.value, **{name: value for name, value in shown.items() if value}}


def _last_line(output: str) -> str:
    """How the output ends, masked: the command ran with the user's own keys, and may print one."""
    end = output[-MAX_LAST_CHARS:]
    if len(output) > MAX_LAST_CHARS:  # the first word may be the end of a key
        end = "".join(end.split(None, 1)[1:])
    return redact(end).text.rpartition("\n")[2]


def _describe(task: Task, ended: Finished, session: Session | None) -> TrialTranscript:
    status, detail = TrialStatus.FINISHED, ""
    if ended.timed_out:
        status, detail = TrialStatus.TIMEOUT, "the command ran out of time"
    elif ended.exit_code != 0:
        last = _last_line(ended.output.strip())
        status, detail = TrialStatus.CRASHED, f"the command exited {ended.exit_code}: {last}"
    if session is None:
        messages = (
            Message(role=Role.USER, text=task.prompt),
            Message(role=Role.ASSISTANT, text=ended.output),
        )
        return TrialTranscript(
            messages=messages, status=status, answer=ended.output, turns=1, detail=detail
        )  # fmt: skip
    own = [m for m in session.messages if m.counts]
    spoken = [m.text for m in own if m.role is Role.ASSISTANT and m.text]
    return TrialTranscript(
        messages=session.messages,
        status=status,
        answer="\n".join([*spoken[-1:], ended.output]),
        turns=sum(m.role is Role.ASSISTANT for m in own),
        tokens=session.tokens,
        model=session.model or "",
        detail=detail,
        origin=session.origin,
    )


def find_session(machine: Machine, folder: Path, since: float) -> Session | None:
    """The newest session that any agent recorded in a folder since a moment."""
    log = ReadLog()
    for store in find_stores(machine):
        if store.reader in OWN_READERS:
            continue
        units = [found for found in list_units(store, log) if _is_recent(found.unit.path, since)]
        for found in reversed(units[-MAX_UNITS:]):
            for session in read_unit(found, log):
                if session.project and Path(session.project) == folder:
                    return session
    return None


def _is_recent(path: Path, since: float) -> bool:
    beside = (path, path.with_name(path.name + "-wal"))
    return any(
        one.exists() and one.stat().st_mtime >= since - CLOCK_SLACK_SECONDS for one in beside
    )
