"""Simulated worlds for ``verdict.py``: agents whose true effect is known.

Sessions are beta-binomial (calls of a session go together), tasks differ in difficulty, lengths
are lognormal with mean 25. The cold error rate is 9.4 %; the effect, where there is one, is the
odds ratio that takes 9.0 % to 5.7 %.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
from numpy.random import Generator  # noqa: TC002 - as the standard library's, harmless

TASK_SD = 0.8
BASE = -2.512
"""Gives 9.4 % on average over tasks."""
EFFECT = math.log(0.057 / 0.943) - math.log(0.09 / 0.91)
LENGTH_SIGMA = 0.7
MEAN_CALLS = 25.0
CV = math.sqrt(math.exp(LENGTH_SIGMA**2) - 1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """One design. ``name`` is how the tables call it."""

    name: str
    tasks: int
    trials: int = 1
    rho: float = 0.10
    effect: float = 0.0
    effect_sd: float = 0.0
    uneven: bool = False
    """Hard tasks are longer, and warm sessions 30 % shorter."""
    other_tasks: bool = False
    """The arms get different tasks."""


CELLS = (
    Cell(name="A 20x1", tasks=20),
    Cell(name="B 50x1", tasks=50),
    Cell(name="C 10x3", tasks=10, trials=3),
    Cell(name="D 6x1", tasks=6),
    Cell(name="E 20x1 rho .02", tasks=20, rho=0.02),
    Cell(name="F 20x1 uneven", tasks=20, uneven=True),
    Cell(name="G 20x5 varying", tasks=20, trials=5, effect_sd=0.8),
    Cell(name="H 20 vs 20 others", tasks=20, other_tasks=True),
)

Arm = tuple[np.ndarray, np.ndarray]
"""Errors and calls, one row per task, one column per trial."""


def with_effect(cell: Cell) -> Cell:
    return replace(cell, effect=EFFECT)


def simulate(rng: Generator, cell: Cell) -> tuple[Arm, Arm]:
    """Cold and warm sessions of one experiment.

    An effect that varies between tasks moves the arms apart by half each: moving only one would
    raise its mean rate and so be no null.
    """
    difficulty = rng.normal(0.0, TASK_SD, cell.tasks)
    half = rng.normal(0.0, 1.0, cell.tasks) * cell.effect_sd / 2
    cold = _arm(rng, cell, difficulty, BASE + difficulty - half, 1.0)
    if cell.other_tasks:
        difficulty = rng.normal(0.0, TASK_SD, cell.tasks)
    logit = BASE + difficulty + half + cell.effect
    return cold, _arm(rng, cell, difficulty, logit, 0.7 if cell.uneven else 1.0)


def cold_arm(rng: Generator, cell: Cell, difficulty: np.ndarray) -> Arm:
    return _arm(rng, cell, difficulty, BASE + difficulty, 1.0)


def _arm(
    rng: Generator, cell: Cell, difficulty: np.ndarray, logit: np.ndarray, shorter: float
) -> Arm:
    shape = (cell.tasks, cell.trials)
    mean = 1.0 / (1.0 + np.exp(-np.broadcast_to(logit[:, None], shape)))
    strength = (1.0 - cell.rho) / cell.rho
    chance = rng.beta(mean * strength, (1.0 - mean) * strength)
    log_mean = math.log(MEAN_CALLS * shorter) - LENGTH_SIGMA**2 / 2
    longer = 0.5 * difficulty[:, None] if cell.uneven else 0.0
    calls = np.maximum(1, np.rint(np.exp(rng.normal(log_mean, LENGTH_SIGMA, shape) + longer)))
    return rng.binomial(calls.astype(int), chance), calls.astype(int)


def true_rates(cell: Cell) -> tuple[float, float, float]:
    """Mean cold and warm rate and sd of the true difference between tasks, for a fixed shift."""
    rng = np.random.default_rng(12345)
    difficulty = rng.normal(0.0, TASK_SD, 400_000)
    cold = 1.0 / (1.0 + np.exp(-(BASE + difficulty)))
    warm = 1.0 / (1.0 + np.exp(-(BASE + difficulty + cell.effect)))
    return float(cold.mean()), float(warm.mean()), float((warm - cold).std())


def cold_pilot(rho: float, tasks: int = 2_000, trials: int = 4) -> dict[str, list[tuple[int, int]]]:
    """Errors and calls of a large pilot without any treatment."""
    rng = np.random.default_rng(54321)
    cell = Cell(name="pilot", tasks=tasks, trials=trials, rho=rho)
    errors, calls = cold_arm(rng, cell, rng.normal(0.0, TASK_SD, tasks))
    return {
        str(task): list(zip(e, n, strict=True))
        for task, (e, n) in enumerate(zip(errors.tolist(), calls.tolist(), strict=True))
    }


def successes(rng: Generator, tasks: int, trials: int, effect: float) -> tuple[np.ndarray, ...]:
    """Trials solved per task in both arms: 42 % cold, trials of one task correlate by .40."""
    mean, icc = 0.42, 0.40
    strength = (1 - icc) / icc
    cold = rng.beta(mean * strength, (1 - mean) * strength, tasks)
    warm = np.clip(
        cold + effect * 4 * cold * (1 - cold) / (1 - icc) / (4 * mean * (1 - mean)), 0, 1
    )
    return rng.binomial(trials, cold), rng.binomial(trials, warm)


def costs(rng: Generator, tasks: int, ratio: float) -> tuple[np.ndarray, np.ndarray]:
    """Tokens per task in both arms, with 3 % runaway sessions of ten times the cost."""
    level = rng.normal(8.0, 0.8, tasks)
    cold, warm = (np.exp(level + rng.normal(0.0, 0.45, tasks)) for _ in range(2))
    cold *= np.where(rng.random(tasks) < 0.03, 10.0, 1.0)
    warm *= np.where(rng.random(tasks) < 0.03, 10.0, 1.0) * ratio
    return cold, warm


TREND_WORLDS = ("no learning", "learning", "tools drift", "stop on error", "end on success")
Calls = list[tuple[str, bool, bool]]


def trend_sessions(rng: Generator, world: str, count: int = 300) -> list[Calls]:
    """Sessions of one corpus. Everywhere, error-prone sessions end sooner."""
    sessions = []
    for _ in range(count):
        frailty = rng.normal(0.0, 0.8)
        length = int(min(400, 5 + rng.exponential(70.0 * math.exp(-0.5 * frailty))))
        position = np.arange(length)
        logit = -2.6 + frailty
        if world == "learning":
            logit = logit - 0.2 * np.log2(1 + position / 10)
        risky = rng.random(length) < (
            0.6 * np.exp(-position / 40.0) if world == "tools drift" else 0.3
        )
        chance = 1.0 / (1.0 + np.exp(-(logit + 1.5 * risky)))
        errors = rng.random(length) < chance
        sessions.append(_cut(rng, world, risky, errors))
    return sessions


def _cut(rng: Generator, world: str, risky: np.ndarray, errors: np.ndarray) -> Calls:
    """Let the session end where its world ends it."""
    end = len(errors)
    if world in ("stop on error", "end on success"):
        stops = errors if world == "stop on error" else ~errors
        hits = np.flatnonzero(
            stops & (rng.random(end) < (0.25 if world == "stop on error" else 0.03))
        )
        end = int(hits[0]) + 1 if len(hits) else end
    return [("risky" if r else "plain", bool(e), False)
            for r, e in zip(risky[:end].tolist(), errors[:end].tolist(), strict=True)]  # fmt: skip


def compressions(rng: Generator, groups: int, before: float, after: float) -> list[float]:
    """After-minus-before error rates over 20 calls each, sessions with ICC .06."""
    strength = (1 - 0.06) / 0.06
    chances = [rng.beta(m * strength, (1 - m) * strength, groups) for m in (before, after)]
    first, second = (rng.binomial(20, chance) / 20 for chance in chances)
    return (second - first).tolist()
