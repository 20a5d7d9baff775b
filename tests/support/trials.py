"""Trials of a simulated experiment, for tests of the analysis."""

from __future__ import annotations

import math
import random
from collections.abc import Mapping
from dataclasses import replace

from warmstart.experiment.trial import Trial, TrialCall


def simulate_trials(
    tasks: int, trials: int, effects: Mapping[str, float], *, seed: int = 1, calls: int = 20
) -> list[Trial]:
    """Every arm on every task; an effect is a shift of the log odds of an error."""
    rng = random.Random(seed)  # noqa: S311 - simulated data
    rows = []
    for task in range(tasks):
        difficulty = rng.gauss(-2.0, 0.5)
        for number in range(trials):
            for arm, effect in effects.items():
                trial = _trial(rng, difficulty + effect, calls)
                rows.append(
                    replace(trial, task=f"task-{task:03}", arm=arm, number=number, order=len(rows))
                )
    return rows


def _trial(rng: random.Random, logit: float, calls: int) -> Trial:
    mean = 1 / (1 + math.exp(-logit))
    chance = rng.betavariate(mean * 15, (1 - mean) * 15)
    made = tuple(
        TrialCall(rng.choice(("read", "run")), rng.random() < chance, retry=False)
        for _ in range(max(1, round(rng.gauss(calls, 3))))
    )
    return Trial(
        experiment="x",
        task="",
        arm="",
        number=0,
        success=rng.random() < 0.9 - 3 * mean,
        calls=made,
        turns=len(made) + 1,
        tokens=round(300 * len(made) * (1 + 3 * mean) * rng.lognormvariate(0, 0.2)),
        seconds=len(made) * rng.lognormvariate(0, 0.3),
        cost_usd=0.001 * len(made),
        model="m",
        setup="s",
    )
