"""The page about the experiment: what was asked, how, and what came out, as it came out.

Every figure is read from the verdicts; only ``examples/first-experiment/notes.md`` is written by
hand, and says what was tried on the way.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path

from example.loop import (
    MAX_TOKENS,
    MAX_TURNS,
    OTHER_SEED,
    PROOF,
    REPEAT,
    SAME,
    SEED,
    TASKS,
    TEMPERATURE,
    TEMPLATE,
    TRAINING,
    Loop,
)
from warmstart._version import __version__
from warmstart.app.experiment_arms import find_template
from warmstart.app.experiments import ExperimentState
from warmstart.experiment import Effect, Metric, Trial, Verdict
from warmstart.model import Template

NOTES = TASKS.parent / "notes.md"
INTRO = f"""\
# First experiment: does a template of its own sessions help a small model?

Written by `scripts/run_example_experiment.py` from the recorded trials; do not edit. How this very
run came about is told under "How to read the published run".

## Question
Three tools have a rule that nothing tells but their error message: notes are read under
`vault://…`, payments are in cents, a sensor wants an argument `unit` that its schema does not
mention. A cold session runs into the error and may recover. Does a template mined from such
sessions, on other tasks, make the error rarer, and is it the template or just any text?

## Design
- The model runs cold on the training tasks. Its sessions are stored, mined with
  `Rules(min_messages=4, min_calls=1)` and nothing else changed by hand; the template is approved
  as it came out.
- Test tasks share no name, amount or answer with the training tasks. All arms of a task run side
  by side, in a new random order for each task; they are sent the same seed.
- Arms: `cold`; `warm:{TEMPLATE}`; `token-matched` (as many tokens of neutral text); `placebo`
  (examples of unrelated work).
- Primary metric, registered before the run: share of tool calls that fail, per task, lower is
  better; alpha 0.05 two-sided. The claim is about warm against cold; the other two arms are
  references that warm is compared with as well.
- Temperature {TEMPERATURE}, at most {MAX_TURNS} answers of {MAX_TOKENS} tokens, native tool calls
  under the chat template in `examples/first-experiment/chat.jinja`.
- Repeated with another seed (cold and warm alone). Cold with cold is the A/A comparison: the cold
  sessions of both runs, which differ by their seed alone.
"""


def write_page(loop: Loop, model: Path) -> str:
    """The whole page."""
    parts = [
        INTRO,
        _describe_setup(loop, model),
        _describe_training(loop),
        _describe_template(loop),
        _describe_run("Result", PROOF, SEED, loop),
        _describe_run("The same with another seed", REPEAT, OTHER_SEED, loop),
        _describe_same(loop),
    ]
    if NOTES.is_file():
        parts.append(NOTES.read_text("utf-8"))
    return "\n".join(parts)


def _describe_setup(loop: Loop, model: Path) -> str:
    hashes = "\n".join(
        f"| plan `{name}` | `sha256:{loop.read(name)[0].hash}` |"
        for name in (TRAINING, PROOF, REPEAT, SAME)
    )
    return f"""\
## What ran
| | |
|---|---|
| warmstart | {__version__} |
| model | `{model.name}` |
| its sha256 | `{_hash(model)}` |
| tasks | `{TASKS.name}`, `sha256:{_hash(TASKS)}` |
{hashes}

```console
$ make model
$ make experiment
```
"""


def _describe_training(loop: Loop) -> str:
    standing, verdict = loop.read(TRAINING)
    cold = [trial for trial in standing.trials if trial.arm == "cold"]
    solved = sum(trial.success is True for trial in cold)
    calls = [call for trial in cold for call in trial.calls]
    failed = sum(call.error for call in calls)
    same = _count_equal(standing)
    return f"""\
## Training sessions
{len(cold)} of {standing.plan.tasks.count} tasks, cold: {solved} solved, {failed} of {len(calls)}
calls failed. Every task ran a second time with the same seed (`cold:again`): {same} of {len(cold)}
pairs have the same calls and the same outcome. Verdict of that pair of arms:
**{verdict.conclusion.value}**.
"""


def _count_equal(standing: ExperimentState) -> int:
    by_task: dict[str, list[Trial]] = {}
    for trial in standing.trials:
        by_task.setdefault(trial.task, []).append(trial)
    return sum(
        len({(trial.calls, trial.success) for trial in pair}) == 1 for pair in by_task.values()
    )


def _describe_template(loop: Loop) -> str:
    template = find_template(loop.workspace, TEMPLATE).template
    lines = ["## What was learned", *_list_lessons(template), ""]
    solved = len(template.provenance.tasks)
    lines += [f"Built from {template.provenance.sessions} sessions of {solved} tasks.", ""]
    return "\n".join(lines)


def _list_lessons(template: Template) -> Iterator[str]:
    for example in template.examples:
        yield (
            f"- example ({example.count} calls): {example.intent!r} →"
            f" `{example.tool} {json.dumps(dict(example.arguments))}`"
        )
    for recovery in template.recoveries:
        yield (
            f"- recovery ({recovery.count} of {recovery.tries}):"
            f" `{json.dumps(dict(recovery.failed_arguments))}` failed with"
            f" `{recovery.error}`; what worked: {recovery.change}"
        )
    for line in template.guidance:
        yield f"- guidance: {line.text}"


def _describe_run(title: str, name: str, seed: int, loop: Loop) -> str:
    standing, verdict = loop.read(name)
    lines = [
        f"## {title}",
        _describe_size(standing, seed),
        "",
        f"**{verdict.headline}**",
        "",
        *_arm_table(verdict),
        "",
        *_effect_table(verdict),
        "",
        *_kind_table(standing),
        "",
    ]
    for arm in verdict.arms:
        lines += [f"- `{arm.arm}` {sentence}" for sentence in arm.against_references]
    return "\n".join([*lines, ""])


def _describe_size(standing: ExperimentState, seed: int) -> str:
    plan = standing.plan
    return (
        f"Seed {seed}, {plan.tasks.count} tasks, {plan.design.trials} x in each arm,"
        f" {standing.done} of {plan.total} sessions,"
        f" {len(plan.tasks.excluded)} tasks left out."
    )


def _arm_table(verdict: Verdict) -> Iterator[str]:
    yield "| arm | sessions | solved | calls | failed calls | without calls | tokens per solved |"
    yield "|---|---|---|---|---|---|---|"
    for arm in verdict.analysis.arms:
        tokens = "" if arm.tokens_per_solved is None else f"{arm.tokens_per_solved:,.0f}"
        yield (
            f"| {arm.arm} | {arm.sessions} | {arm.solved} | {arm.calls}"
            f" | {arm.error_rate.errors:.0f} | {arm.without_calls} | {tokens} |"
        )


def _effect_table(verdict: Verdict) -> Iterator[str]:
    yield "| arm against cold | metric | cold | arm | difference (95 %) | p | MDE at 80 % |"
    yield "|---|---|---|---|---|---|---|"
    for comparison in verdict.analysis.comparisons:
        for effect in comparison.effects:
            if effect.metric in (Metric.ERROR_RATE, Metric.SUCCESS, Metric.TURNS, Metric.TOKENS):
                yield _effect_row(effect)


def _effect_row(effect: Effect) -> str:
    low, high = effect.interval
    if effect.is_ratio:
        values = f"{effect.control_value:,.1f} | {effect.treatment_value:,.1f}"
        change = f"x {effect.estimate:.2f} ({low:.2f} to {high:.2f})"
        mde = f"x {effect.mde80:.2f}"
    else:
        values = f"{effect.control_value:.1%} | {effect.treatment_value:.1%}"
        change = f"{100 * effect.estimate:+.1f} points ({100 * low:+.1f} to {100 * high:+.1f})"
        mde = f"{100 * effect.mde80:.1f} points"
    p = "< 0.001" if effect.p < 0.001 else f"{effect.p:.3f}"
    return f"| {effect.treatment} | {effect.metric.value} | {values} | {change} | {p} | {mde} |"


def _kind_table(standing: ExperimentState) -> Iterator[str]:
    """Solved tasks and failed calls by kind of task, for those who want to look closer."""
    kinds = sorted({trial.task.partition("-")[0] for trial in standing.trials})
    yield f"| arm | {' | '.join(f'{kind}: solved, failed calls' for kind in kinds)} |"
    yield "|---" * (len(kinds) + 1) + "|"
    for arm in standing.plan.design.arms:
        cells = []
        for kind in kinds:
            own = [t for t in standing.trials if t.arm == arm and t.task.startswith(f"{kind}-")]
            calls = [call.error for trial in own for call in trial.calls]
            solved = sum(trial.success is True for trial in own)
            cells.append(f"{solved} of {len(own)}, {sum(calls)} of {len(calls)}")
        yield f"| {arm} | {' | '.join(cells)} |"


def _describe_same(loop: Loop) -> str:
    _, verdict = loop.read(SAME)
    return "\n".join(
        ["## Cold with cold", f"**{verdict.headline}**", "", *_effect_table(verdict), ""]
    )


def _hash(path: Path) -> str:
    digest = sha256()
    with path.open("rb") as file:
        for chunk in iter(lambda: file.read(1 << 20), b""):
            digest.update(chunk)
    return digest.hexdigest()
