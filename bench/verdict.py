"""False-positive rate and power of every test we offer, on worlds whose truth is known.

    python bench/verdict.py [--sims N] [--seed N] [--json] [--check]

Nominal level 5 %. With the default 2,000 simulations per cell the Monte Carlo error (one standard
error) is 0.5 points at 5 % and 1.1 points at 50 %. The naive z-test on pooled calls stands beside
the others; it is not offered. Sign flips use 999 resamples here, 10,000 in the product.
"""

from __future__ import annotations

import argparse
import json
import math
import random
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
from rich.console import Console
from rich.table import Table

import verdict_worlds as worlds
from warmstart.stats.multiple import holm
from warmstart.stats.noninferiority import Preservation, three_way
from warmstart.stats.paired import log_ratio, mcnemar_exact, paired_t, sign_flip, wilcoxon
from warmstart.stats.pilot import error_pilot
from warmstart.stats.planning import (
    cost_scenario,
    error_rate_scenario,
    power,
    success_scenario,
)
from warmstart.stats.proportion import clustered_difference, paired_difference
from warmstart.stats.sequential import StoppingRule, monitor
from warmstart.stats.special import normal_cdf
from warmstart.stats.trend import score_trend

PRESERVED = Preservation.PRESERVED
ALPHA = 0.05
FLIPS = 999
PAIRS = 150
AT_LEVEL = (
    "paired t", "sign flip", "Wilcoxon", "clustered difference", "pass@1, paired t",
    "log ratio, paired t", "Wilcoxon on logs", "fixed",
)  # fmt: skip
"""Tests that should reject a true null in 5 % of cases, neither more nor less."""
PUBLISHED_POWER = {
    "paired t": dict(zip("ABCDEFG", (15, 37, 18, 4, 24, 16, 32), strict=True)),
    "sign flip": dict(zip("ABCDEFG", (16, 38, 21, 1, 25, 17, 33), strict=True)),
}
"""Design values, from a separate simulation of the same worlds."""
PUBLISHED_MONITORING = {"fixed": 79, "e-process": 49}


class Row(NamedTuple):
    """One test in one cell, both in percent."""

    table: str
    cell: str
    test: str
    false_positive: float
    power: float | None = None


class Bar(NamedTuple):
    """A promise and whether this run kept it."""

    name: str
    met: bool


def naive_z(cold: worlds.Arm, warm: worlds.Arm) -> float:
    """What one would do without knowing better: pool all calls."""
    (e0, n0), (e1, n1) = ((a[0].sum(), a[1].sum()) for a in (cold, warm))
    pooled = (e0 + e1) / (n0 + n1)
    error = math.sqrt(max(1e-12, pooled * (1 - pooled) * (1 / n0 + 1 / n1)))
    return 2 * normal_cdf(-abs(e1 / n1 - e0 / n0) / error)


def task_clusters(arm: worlds.Arm) -> list[tuple[int, int]]:
    errors, calls = (values.sum(axis=1).tolist() for values in arm)
    return list(zip(errors, calls, strict=True))


def call_weighted(cold: worlds.Arm, warm: worlds.Arm) -> float:
    """The sensitivity line: ratio of totals, clustered by paired task."""
    pairs = zip(task_clusters(cold), task_clusters(warm), strict=True)
    return paired_difference(list(pairs)).p


def paired_tests(cold: worlds.Arm, warm: worlds.Arm) -> dict[str, float]:
    rates = [(errors / calls).mean(axis=1) for errors, calls in (cold, warm)]
    differences = (rates[1] - rates[0]).tolist()
    t, flip = paired_t(differences).p, sign_flip(differences, 1, FLIPS)
    return {
        "naive z on calls (not offered)": naive_z(cold, warm),
        "paired t": t,
        "sign flip": flip,
        "both agree (the verdict)": max(t, flip),
        "Wilcoxon": wilcoxon(differences),
        "call-weighted by task": call_weighted(cold, warm),
    }


def observed_tests(cold: worlds.Arm, warm: worlds.Arm) -> dict[str, float]:
    return {
        "naive z on calls (not offered)": naive_z(cold, warm),
        "clustered difference": clustered_difference(task_clusters(cold), task_clusters(warm)).p,
    }


def rejections(draw: Callable[[], dict[str, float]], sims: int) -> dict[str, float]:
    counts: Counter[str] = Counter()
    for _ in range(sims):
        counts.update({name: int(p <= ALPHA) for name, p in draw().items()})
    return {name: 100 * hits / sims for name, hits in counts.items()}


def error_rows(rng: np.random.Generator, sims: int) -> Iterator[Row]:
    for cell in worlds.CELLS:
        tests = observed_tests if cell.other_tasks else paired_tests
        null = rejections(lambda c=cell, t=tests: t(*worlds.simulate(rng, c)), sims)
        real = worlds.with_effect(cell)
        found = rejections(lambda c=real, t=tests: t(*worlds.simulate(rng, c)), sims)
        for name, rate in null.items():
            yield Row("error rate", cell.name, name, rate, found[name])


def success_rows(rng: np.random.Generator, sims: int) -> Iterator[Row]:
    def once(tasks: int, effect: float) -> dict[str, float]:
        cold, warm = worlds.successes(rng, tasks, 1, effect)
        b, c = int((warm > cold).sum()), int((warm < cold).sum())
        return {"McNemar exact": mcnemar_exact(b, c)}

    def often(tasks: int, effect: float) -> dict[str, float]:
        cold, warm = worlds.successes(rng, tasks, 4, effect)
        return {"pass@1, paired t": paired_t(((warm - cold) / 4).tolist()).p}

    for tasks in (20, 50):
        for name, test in ((f"{tasks}x1", once), (f"{tasks}x4", often)):
            null = rejections(lambda f=test, t=tasks: f(t, 0.0), sims)
            real = rejections(lambda f=test, t=tasks: f(t, 0.15), sims)
            for label, rate in null.items():
                yield Row("success .42 -> .57", name, label, rate, real[label])


def cost_rows(rng: np.random.Generator, sims: int) -> Iterator[Row]:
    def draw(tasks: int, ratio: float) -> dict[str, float]:
        cold, warm = worlds.costs(rng, tasks, ratio)
        logs = np.log(warm / cold).tolist()
        pairs = zip(cold.tolist(), warm.tolist(), strict=True)
        return {
            "log ratio, paired t": log_ratio(pairs).p,
            "Wilcoxon on logs": wilcoxon(logs),
            "raw paired t (not offered)": paired_t((warm - cold).tolist()).p,
        }

    for tasks in (20, 50):
        null = rejections(lambda t=tasks: draw(t, 1.0), sims)
        real = rejections(lambda t=tasks: draw(t, 0.8), sims)
        for label, rate in null.items():
            yield Row("cost ratio .8", f"{tasks}x1", label, rate, real[label])


def monitoring_rows(rng: np.random.Generator, sims: int) -> Iterator[Row]:
    cell = worlds.Cell(name="150 pairs", tasks=PAIRS)

    def draw(one: worlds.Cell) -> dict[str, float]:
        cold, warm = worlds.simulate(rng, one)
        differences = (warm[0] / warm[1] - cold[0] / cold[1])[:, 0].tolist()
        found = {rule.value: float(not monitor(differences, PAIRS, rule).significant)
                 for rule in StoppingRule}  # fmt: skip
        peeks = (paired_t(differences[:n]).p for n in range(10, PAIRS + 1, 10))
        found["naive t every 10 pairs (not offered)"] = min(peeks)
        return found

    null = rejections(lambda: draw(cell), sims)
    real = rejections(lambda: draw(worlds.with_effect(cell)), sims)
    for name, rate in null.items():
        yield Row("looking early", cell.name, name, rate, real[name])


def multiple_rows(rng: np.random.Generator, sims: int) -> Iterator[Row]:
    """Five templates that do nothing against one control: how often one of them is claimed."""
    cell = worlds.Cell(name="20x1, 5 arms", tasks=20)

    def draw() -> dict[str, float]:
        difficulty = rng.normal(0.0, worlds.TASK_SD, cell.tasks)
        arms = [worlds.cold_arm(rng, cell, difficulty) for _ in range(6)]
        rates = [(e / n)[:, 0] for e, n in arms]
        ps = [paired_t((rate - rates[0]).tolist()).p for rate in rates[1:]]
        return {"Holm": min(holm(ps)), "unadjusted (not offered)": min(ps)}

    for name, rate in rejections(draw, sims).items():
        yield Row("five templates", cell.name, name, rate)


def trend_rows(rng: np.random.Generator, sims: int) -> Iterator[Row]:
    runs = max(50, sims // 10)
    for world in worlds.TREND_WORLDS:
        found: Counter[str] = Counter()
        for _ in range(runs):
            sessions = worlds.trend_sessions(rng, world)
            for guard in (0, 1):
                result = score_trend(sessions, guard)
                found[f"score trend, guard {guard}"] += result.p <= ALPHA
            gap = _early_late(sessions)
            found["early/late 20 % gap (not offered)"] += paired_t(gap).p <= ALPHA
        for name, hits in sorted(found.items()):
            rate = 100 * hits / runs
            truth = world == "learning"
            yield Row("learning", world, name, math.nan if truth else rate, rate if truth else None)


def _early_late(sessions: list[worlds.Calls]) -> list[float]:
    gaps = []
    for calls in sessions:
        size = max(1, len(calls) // 5)
        early, late = calls[:size], calls[-size:]
        gaps.append((sum(e for _, e, _ in late) - sum(e for _, e, _ in early)) / size)
    return gaps


def compression_rows(rng: np.random.Generator, sims: int) -> Iterator[Row]:
    """At the margin "preserved" is wrong; with no change "degraded" is."""
    worse = (Preservation.DEGRADED, Preservation.WORSE_INSIDE_MARGIN)
    for before, margin in ((0.09, 0.03), (0.03, 0.02)):
        for groups in (10, 20, 50, 100):
            said: Counter[str] = Counter()
            for _ in range(sims):
                changed = worlds.compressions(rng, groups, before, before + margin)
                same = worlds.compressions(rng, groups, before, before)
                answer = three_way(same, margin).answer
                said["false preserved"] += three_way(changed, margin).answer is PRESERVED
                said["right preserved"] += answer is PRESERVED
                said["false degraded"] += answer in worse
            share = {name: 100 * hits / sims for name, hits in said.items()}
            name = f"{groups} sessions at {100 * before:.0f} %, margin {100 * margin:.0f} pp"
            right = share["right preserved"]
            yield Row("compression", name, "preserved", share["false preserved"], right)
            yield Row("compression", name, "degraded", share["false degraded"])


class Planned(NamedTuple):
    """Power as planned and as simulated, in percent."""

    design: str
    planner: float
    simulated: float


def planner_rows(rng: np.random.Generator, sims: int) -> Iterator[Planned]:
    designs = [(20, 1, 0.10), (60, 1, 0.10), (150, 1, 0.10), (20, 3, 0.10), (61, 3, 0.10),
               (40, 5, 0.10), (91, 1, 0.02), (36, 3, 0.02)]  # fmt: skip
    for tasks, trials, rho in designs:
        cell = worlds.Cell(name="", tasks=tasks, trials=trials, rho=rho, effect=worlds.EFFECT)
        cold, warm, tau = worlds.true_rates(cell)
        pilot = error_pilot(worlds.cold_pilot(rho))
        scenario = error_rate_scenario(
            cold, warm, calls=pilot.calls, cv=pilot.cv, rho=pilot.rho, tau=tau
        )
        hits = rejections(lambda c=cell: {"t": _rate_t(rng, c)}, sims)["t"]
        planned = 100 * power(scenario, tasks, trials)
        yield Planned(f"errors {tasks}x{trials} rho {rho:.2f}", planned, hits)
    for tasks, trials in ((26, 5), (40, 3), (60, 1)):
        yield _planned_success(rng, sims, tasks, trials)
    for tasks, sd in ((42, 0.5), (60, 0.9)):
        scenario = cost_scenario(0.8, sd)
        hits = rejections(
            lambda t=tasks, s=sd: {"t": paired_t(rng.normal(math.log(0.8), s, t).tolist()).p}, sims
        )["t"]
        yield Planned(f"cost ratio .8 {tasks}x1 sd {sd}", 100 * power(scenario, tasks), hits)


def _rate_t(rng: np.random.Generator, cell: worlds.Cell) -> float:
    rates = [(errors / calls).mean(axis=1) for errors, calls in worlds.simulate(rng, cell)]
    return paired_t((rates[1] - rates[0]).tolist()).p


def _planned_success(rng: np.random.Generator, sims: int, tasks: int, trials: int) -> Planned:
    cold, warm = worlds.successes(np.random.default_rng(5), 200_000, 400, 0.15)
    difference = (warm - cold) / 400
    p0, p1 = float(cold.mean()) / 400, float(warm.mean()) / 400
    inside = [float((a / 400 * (1 - a / 400)).mean()) for a in (cold, warm)]
    icc = 1 - sum(inside) / (p0 * (1 - p0) + p1 * (1 - p1))
    scenario = success_scenario(p0, p1, icc=icc, tau=float(difference.std()))

    def draw() -> dict[str, float]:
        a, b = worlds.successes(rng, tasks, trials, 0.15)
        return {"t": paired_t(((b - a) / trials).tolist()).p}

    hits = rejections(draw, sims)["t"]
    return Planned(f"success {tasks}x{trials}", 100 * power(scenario, tasks, trials), hits)


def flip_seconds() -> float:
    rng = random.Random(1)  # noqa: S311 - simulated data
    values = [rng.gauss(0.1, 1.0) for _ in range(500)]
    best = math.inf
    for _ in range(5):
        start = time.process_time()
        sign_flip(values, 1, 10_000)
        best = min(best, time.process_time() - start)
    return best


def check_bars(rows: list[Row], planned: list[Planned], seconds: float) -> list[Bar]:
    bars = [*_level_bars(rows), *_power_bars(rows)]
    worst = max(abs(p.planner - p.simulated) for p in planned)
    bars.append(Bar(f"planner within 4 points of simulated power: {worst:.1f}", worst <= 4.0))
    bars.append(Bar(f"10,000 sign flips of 500 in <= 1.5 s: {seconds:.2f}", seconds <= 1.5))
    return bars


def _level_bars(rows: list[Row]) -> Iterator[Bar]:
    offered = [r for r in rows if "not offered" not in r.test and not math.isnan(r.false_positive)]
    many = [r for r in offered if not r.cell.startswith(("C", "D"))]
    level = [r for r in many if r.test in AT_LEVEL]
    low, high = (f(r.false_positive for r in level) for f in (min, max))
    yield Bar(f"5 % tests at 20+ tasks within 3.5-6.5 %: {low:.1f}-{high:.1f}",
              low >= 3.5 and high <= 6.5)  # fmt: skip
    few = max(r.false_positive for r in offered if r.cell.startswith(("C", "D")))
    yield Bar(f"never above 8 % at 6 and 10 tasks: {few:.1f}", few <= 8.0)
    rest = max(r.false_positive for r in many if r.test not in AT_LEVEL and "guard 0" not in r.test)
    yield Bar(f"conservative and sensitivity tests at most 8 %: {rest:.1f}", rest <= 8.0)
    naive = [r.false_positive for r in rows if r.test.startswith("naive z")]
    yield Bar(f"naive z is wrong {min(naive):.0f}-{max(naive):.0f} % of the time", min(naive) > 15)


def _power_bars(rows: list[Row]) -> Iterator[Bar]:
    for test, wanted in PUBLISHED_POWER.items():
        gaps = {r.cell[0]: abs((r.power or 0.0) - wanted[r.cell[0]])
                for r in rows if r.test == test and r.cell[0] in wanted}  # fmt: skip
        worst = max(gaps, key=lambda cell: gaps[cell])
        gap = gaps[worst]
        name = f"power of {test} within 3 points of the design: {gap:.1f} (cell {worst})"
        yield Bar(name, gap <= 3.0)
    found = {r.test: r.power or 0.0 for r in rows if r.table == "looking early"}
    gaps = {rule: abs(found[rule] - wanted) for rule, wanted in PUBLISHED_MONITORING.items()}
    worst = max(gaps, key=lambda rule: gaps[rule])
    gap = gaps[worst]
    yield Bar(f"power of stopping rules within 3 points: {gap:.1f} ({worst})", gap <= 3.0)
    learning = [r.power or 0.0 for r in rows if r.test == "score trend, guard 1" and r.power]
    yield Bar(f"real learning is found in {min(learning):.0f} %", min(learning) >= 95.0)


def simulate_all(seed: int, sims: int) -> tuple[list[Row], list[Planned]]:
    rng = np.random.default_rng(seed)
    rows: list[Row] = []
    for table in (error_rows, success_rows, cost_rows, monitoring_rows, multiple_rows,
                  trend_rows, compression_rows):  # fmt: skip
        rows += table(rng, sims)
    return rows, list(planner_rows(rng, sims))


def show(rows: list[Row], planned: list[Planned], console: Console) -> None:
    for name in dict.fromkeys(row.table for row in rows):
        table = Table("design", "test", "false positives %", "power %", title=name)
        for row in (r for r in rows if r.table == name):
            table.add_row(row.cell, row.test, _figure(row.false_positive), _figure(row.power))
        console.print(table)
    table = Table("design", "planner %", "simulated %", title="planner")
    for one in planned:
        table.add_row(one.design, _figure(one.planner), _figure(one.simulated))
    console.print(table)


def _figure(value: float | None) -> str:
    return "" if value is None or math.isnan(value) else f"{value:.1f}"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sims", type=int, default=2_000, help="per cell")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--check", action="store_true", help="exit 1 where a bar is missed")
    options = parser.parse_args()
    start = time.process_time()
    rows, planned = simulate_all(options.seed, options.sims)
    bars = check_bars(rows, planned, flip_seconds())
    spent = time.process_time() - start
    if options.json:
        data: dict[str, Any] = {
            "schema_version": 1,
            "sims": options.sims,
            "seed": options.seed,
            "cpu_seconds": round(spent, 1),
            "rows": [{k: None if isinstance(v, float) and math.isnan(v) else v
                      for k, v in row._asdict().items()} for row in rows],
            "planner": [one._asdict() for one in planned],
            "bars": {bar.name: bar.met for bar in bars},
        }  # fmt: skip
        print(json.dumps(data, indent=1))
    else:
        console = Console(width=110)
        show(rows, planned, console)
        error = 100 * math.sqrt(0.05 * 0.95 / options.sims)
        console.print(
            f"{options.sims} simulations per cell, {error:.2f} points at 5 %, {spent:.0f} s"
        )
        for bar in bars:
            console.print(f"{'ok  ' if bar.met else 'MISS'} {bar.name}")
    return int(options.check and not all(bar.met for bar in bars))


if __name__ == "__main__":
    sys.exit(main())
