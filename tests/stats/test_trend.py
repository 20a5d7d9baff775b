"""The within-session trend: what it must and must not be fooled by."""

from __future__ import annotations

import math
import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from statsmodels.discrete.conditional_models import ConditionalLogit

from warmstart.stats.trend import score_trend

Calls = list[tuple[str, bool, bool]]


def _sessions(
    seed: int, slope: float = 0.0, *, stop: bool = False, count: int = 150
) -> list[Calls]:
    rng = random.Random(seed)  # noqa: S311 - simulated data
    sessions = []
    for _ in range(count):
        frailty = rng.gauss(-2.0, 0.8)
        calls: Calls = []
        for i in range(rng.randint(10, 90)):
            risky = rng.random() < 0.4
            logit = frailty + 1.5 * risky + slope * math.log2(1 + i / 10)
            error = rng.random() < 1 / (1 + math.exp(-logit))
            calls.append(("risky" if risky else "plain", error, False))
            if stop and error and rng.random() < 0.3:
                break
        sessions.append(calls)
    return sessions


def test_score_and_estimate_agree_with_a_conditional_logit_fit() -> None:
    sessions = _sessions(1, slope=-0.3, count=25)
    rows = [(f"{s}-{tool}", math.log2(1 + i / 10), error)
            for s, calls in enumerate(sessions) for i, (tool, error, _) in enumerate(calls)]  # fmt: skip
    mixed = {g for g, _, e in rows if e} & {g for g, _, e in rows if not e}
    rows = [row for row in rows if row[0] in mixed]
    groups = np.array([g for g, _, _ in rows])
    x = np.array([[v] for _, v, _ in rows])
    y = np.array([int(e) for _, _, e in rows])
    model = ConditionalLogit(y, x, groups=groups)
    result = score_trend(sessions, guard=0)
    score_at_zero = float(model.score(np.array([0.0]))[0])
    fitted = float(model.fit(disp=False).params[0])
    information = -float(model.hessian(np.array([0.0]))[0, 0])
    assert result.log_odds == pytest.approx(score_at_zero / information, rel=1e-4)
    assert result.log_odds == pytest.approx(fitted, abs=0.08)
    assert result.interval.low < fitted < result.interval.high


def test_learning_is_found_and_has_the_sign_of_falling_errors() -> None:
    result = score_trend(_sessions(2, slope=-0.4))
    assert result.z < -3
    assert result.p_sign_flip < 0.01
    assert result.interval.high < 0


def test_no_learning_is_not_found_when_sessions_stop_on_errors() -> None:
    sessions = _sessions(3, stop=True, count=300)
    assert score_trend(sessions, guard=0).z > 4
    assert abs(score_trend(sessions, guard=1).z) < 2.5


def test_a_tool_mix_that_drifts_is_no_trend() -> None:
    rng = random.Random(5)  # noqa: S311 - simulated data
    sessions = []
    for _ in range(200):
        tools = ["risky"] * 15 + ["plain"] * 15
        sessions.append([(t, rng.random() < (0.4 if t == "risky" else 0.05), False) for t in tools])
    assert abs(score_trend(sessions).z) < 2.5
    pooled = [[("one", e, r) for _, e, r in calls] for calls in sessions]
    assert score_trend(pooled).z < -5


def test_retries_can_be_left_out_and_are_always_counted() -> None:
    calls: Calls = [("t", True, False), ("t", True, True), ("t", False, True), ("t", False, False)]
    assert score_trend([calls], guard=0).retries == 2
    assert score_trend([calls], guard=0, keep_retries=False).calls == 2
    assert score_trend([calls], guard=0).calls == 4


def test_sessions_without_contrast_say_nothing() -> None:
    calm: Calls = [("t", False, False)] * 5
    broken: Calls = [("t", True, False)] * 5
    result = score_trend([calm, broken, []])
    assert (result.z, result.p, result.p_sign_flip, result.informative) == (0.0, 1.0, 1.0, 0)
    assert result.interval == (-math.inf, math.inf)
    assert (result.sessions, result.calls, result.errors) == (3, 8, 4)


def test_one_informative_session_has_no_finite_interval() -> None:
    calls: Calls = [("t", True, False), ("t", False, False), ("t", False, False)]
    assert math.isinf(score_trend([calls], guard=0).interval.high)


@given(st.lists(st.lists(st.tuples(st.sampled_from("ab"), st.booleans(), st.booleans()), max_size=12),
                max_size=6), st.integers(0, 3))  # fmt: skip
def test_any_sessions_are_answered(sessions: list[Calls], guard: int) -> None:
    result = score_trend(sessions, guard)
    assert 0.0 <= result.p <= 1.0
    assert result.informative <= result.sessions == len(sessions)
    assert result.errors <= result.calls <= sum(map(len, sessions))
