"""A trial's row from its conversation: calls judged as everywhere else, the task checked.

Calls of the warm-up are never among those counted; the crash of an agent is a failure of its
trial, not a missing value.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from warmstart.experiment import (
    ArmStart,
    CheckResult,
    CommandResult,
    Left,
    Slot,
    Task,
    Trial,
    TrialCall,
    TrialStatus,
    judge_task,
)
from warmstart.model import Call, Status
from warmstart.runners.endpoint import TrialTranscript
from warmstart.runners.process import ProcessLimits, run_process, search_guarded
from warmstart.runners.searching import EXIT_FOUND, EXIT_NOT_FOUND
from warmstart.runners.tools import Sandbox
from warmstart.sources import join_calls

ORIGIN = "live_store"
CHECK_SECONDS = 60.0
MIN_COPIED_LENGTH = 4
MAX_DETAIL = 300


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """What an experiment gives each of its trials."""

    experiment: str
    setup: str
    slot: Slot
    start: ArmStart


def score_trial(
    setting: Setting, task: Task, conversation: TrialTranscript, sandbox: Sandbox
) -> Trial:
    """The row of a trial; its cost is filled in where the prices are known."""
    calls = join_calls(conversation.messages, conversation.origin)
    checked = check_task(task, conversation, calls, sandbox)
    slot = setting.slot
    return Trial(
        experiment=setting.experiment,
        task=slot.task,
        arm=slot.arm,
        number=slot.number,
        order=slot.order,
        status=conversation.status,
        success=checked.passed,
        calls=list_calls(calls),
        turns=conversation.turns,
        tokens=conversation.tokens.total,
        seconds=round(conversation.seconds, 3),
        model=conversation.model,
        setup=setting.setup,
        warmup_tokens=setting.start.tokens,
        warmup_calls=setting.start.calls,
        copied=count_copied(setting.start, task, calls),
        detail=(conversation.detail or checked.detail)[:MAX_DETAIL],
    )


def check_task(
    task: Task, conversation: TrialTranscript, calls: Sequence[Call], sandbox: Sandbox
) -> CheckResult:
    """Whether the task was done; a trial that crashed or ran out of time did not do it."""
    if conversation.status is not TrialStatus.FINISHED:
        return CheckResult(False if task.checks else None, conversation.detail)

    def run(line: str) -> CommandResult:
        ended = run_process(["sh", "-c", line], sandbox.root, ProcessLimits(seconds=CHECK_SECONDS))
        return CommandResult(ended.exit_code, ended.output)

    def search(pattern: str, text: str) -> bool | None:
        limits = ProcessLimits(seconds=sandbox.pattern_seconds)
        ended = search_guarded({"pattern": pattern, "text": text}, sandbox.root, limits)
        # Anything else means that it was cut off: by time, CPU or memory.
        return {EXIT_FOUND: True, EXIT_NOT_FOUND: False}.get(ended.exit_code)

    worked = [call.request for call in calls if call.outcome.status is Status.OK]
    left = Left(answer=conversation.answer, calls=worked, read=sandbox.find, run=run, search=search)
    return judge_task(task.checks, left)


def list_calls(calls: Sequence[Call]) -> tuple[TrialCall, ...]:
    """Each call with whether it failed, and whether it retries one that just failed."""
    rows: list[TrialCall] = []
    for call in calls:
        before = rows[-1] if rows else None
        rows.append(
            TrialCall(
                tool=call.tool,
                error=call.outcome.status is Status.ERROR,
                retry=before is not None and before.error and before.tool == call.tool,
            )
        )
    return tuple(rows)


def count_copied(start: ArmStart, task: Task, calls: Sequence[Call]) -> int:
    """Values of the examples in the trial's own arguments that the task itself does not mention.

    Copying the form of an example is the point of it; copying its values is an error to come.
    """
    shown = {
        value
        for message in start.messages
        for request in message.requests
        for value in _texts(request.arguments)
    }
    known = "\n".join([task.prompt, *task.files, *task.files.values()])
    used = {value for call in calls for value in _texts(call.request.arguments)}
    return sum(len(value) >= MIN_COPIED_LENGTH and value not in known for value in shown & used)


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for item in value.values():
            yield from _texts(item)
    elif isinstance(value, list | tuple):
        for item in value:
            yield from _texts(item)
