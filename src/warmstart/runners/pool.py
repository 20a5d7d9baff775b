"""Trials side by side in threads, recorded one after another by the thread that asked.

A worker carries out one slot of the schedule: sandbox, tools, conversation, score.
Trials start in the order of the schedule. Whatever ends the run early (an answer, an interrupt, an
endpoint that is gone) lets no finished trial go unrecorded and starts no further one.
"""

from __future__ import annotations

import json
import queue
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from hashlib import sha256
from pathlib import Path

from warmstart._version import __version__
from warmstart.errors import InternalError, WarmstartError
from warmstart.experiment import ArmStart, Plan, Slot, Task, Trial, draw_seed
from warmstart.runners.endpoint import (
    Endpoint,
    Job,
    TrialTranscript,
    describe_setup,
    price,
)
from warmstart.runners.scoring import Setting, score_trial
from warmstart.runners.tools import Sandbox, builtin_tools, open_toolbox
from warmstart.runners.transport import EndpointError, EndpointFailure

GRACE_SECONDS = 2.0


@dataclass(frozen=True, slots=True, kw_only=True)
class FinishedTrial:
    """A trial that ended, with its transcript."""

    trial: Trial
    conversation: TrialTranscript
    is_elsewhere: bool = False
    """Its session is in the agent's own store already."""


Work = Callable[[Slot], FinishedTrial]
_Ended = FinishedTrial | WarmstartError | OSError | None


class Pool:
    """A few worker threads; iterate over ``run`` to get trials as they end."""

    def __init__(self, work: Work, jobs: int, stop: threading.Event) -> None:
        self._work = work
        self._jobs = max(jobs, 1)
        self._stop = stop
        self._waiting: queue.Queue[Slot | None] = queue.Queue()
        self._ended: queue.Queue[_Ended] = queue.Queue()
        self._halted = False

    def halt(self) -> None:
        """Start no further trials; those that run are finished."""
        self._halted = True

    def run(self, slots: Iterable[Slot]) -> Iterator[FinishedTrial]:
        """Trials in the order they end.

        Raises:
            WarmstartError: the first that a trial raised, after the others have ended.
        """
        upcoming = iter(slots)
        workers = [threading.Thread(target=self._serve, daemon=True) for _ in range(self._jobs)]
        for worker in workers:
            worker.start()
        try:
            yield from self._follow(upcoming)
        except BaseException:
            self._stop.set()
            raise
        finally:
            for _ in workers:
                self._waiting.put(None)
            for worker in workers:
                # A worker in mid-request is left behind; it records nothing.
                worker.join(GRACE_SECONDS)

    def _follow(self, upcoming: Iterator[Slot]) -> Iterator[FinishedTrial]:
        running = sum(self._start(upcoming) for _ in range(self._jobs))
        problem: WarmstartError | OSError | None = None
        while running:
            ended = self._ended.get()
            running -= 1
            if isinstance(ended, FinishedTrial):
                yield ended
            elif problem is None or _is_stop(problem):
                problem = ended or InternalError("a trial ended without a result or an error")
                self._stop.set()
            if problem is None and not self._halted:
                running += self._start(upcoming)
        if problem is not None:
            raise problem

    def _start(self, upcoming: Iterator[Slot]) -> bool:
        slot = next(upcoming, None)
        if slot is None:
            return False
        self._waiting.put(slot)
        return True

    def _serve(self) -> None:
        while (slot := self._waiting.get()) is not None:
            ended: _Ended = None
            try:
                ended = self._work(slot)
            except (WarmstartError, OSError) as error:
                ended = error
            finally:
                self._ended.put(ended)


def _is_stop(error: WarmstartError | OSError) -> bool:
    return isinstance(error, EndpointError) and error.failure is EndpointFailure.STOPPED


PrepareStart = Callable[[Task, str], ArmStart]


@dataclass(frozen=True, slots=True, kw_only=True)
class EndpointWorker:
    """Runs trials of one experiment against its endpoint; threads may share it."""

    plan: Plan
    tasks: Mapping[str, Task]
    prepare: PrepareStart
    endpoint: Endpoint
    folder: Path
    """Where sandboxes are made."""
    setup: str = ""
    lock: threading.Lock = field(default_factory=threading.Lock)

    def __call__(self, slot: Slot) -> FinishedTrial:
        """Carry out one trial."""
        task = self.tasks[slot.task]
        with self.lock:
            start = self.prepare(task, slot.arm)
        job = Job(
            prompt=task.prompt,
            system=self.plan.design.preamble,
            start=start,
            seed=draw_seed(self.plan.design.seed, slot.task, slot.number),
        )
        with Sandbox(task.files, self.folder) as sandbox:
            toolbox = open_toolbox(task, sandbox, self.endpoint.stop)
            conversation = self.endpoint.run(job, toolbox)
            setting = Setting(experiment=self.plan.name, setup=self.setup, slot=slot, start=start)
            trial = score_trial(setting, task, conversation, sandbox)
        cost = price(conversation.tokens, self.plan.runner)
        return FinishedTrial(trial=replace(trial, cost_usd=cost), conversation=conversation)


def hash_setup(plan: Plan) -> str:
    """What must not change between the trials of one experiment: model, limits, tools, version."""
    tools = [(tool.name, tool.description, dict(tool.parameters)) for tool in builtin_tools()]
    seen = {
        "runner": describe_setup(plan.runner),
        "command": plan.runner.command,
        "preamble": plan.design.preamble,
        "tools": tools,
        "version": __version__,
    }
    return sha256(json.dumps(seen, sort_keys=True).encode()).hexdigest()[:16]
