"""One slot of the schedule carried out: sandbox, tools, conversation, score."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from hashlib import sha256
from pathlib import Path

from warmstart._version import __version__
from warmstart.experiment import ArmStart, Plan, Slot, Task, draw_seed
from warmstart.runners.endpoint import Endpoint, Job, describe_setup, price
from warmstart.runners.pool import Done
from warmstart.runners.sandbox import Sandbox
from warmstart.runners.scoring import Setting, score_trial
from warmstart.runners.tools import builtin_tools, open_toolbox

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

    def __call__(self, slot: Slot) -> Done:
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
        return Done(trial=replace(trial, cost_usd=cost), conversation=conversation)


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
