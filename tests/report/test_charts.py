from __future__ import annotations

import math
from xml.etree import ElementTree as ET

import pytest
from hypothesis import given
from hypothesis import strategies as st

from warmstart.report.canvas import WIDE, WIDTH
from warmstart.report.charts import (
    EffectMark,
    Pair,
    PathPoint,
    draw_amounts,
    draw_effects,
    draw_evidence,
    draw_pairs,
    draw_path,
)
from warmstart.report.curves import draw_curves
from warmstart.report.page import Html
from warmstart.report.svg import Mark

SVG = "{http://www.w3.org/2000/svg}"
finite = st.floats(-5, 5)


def show(value: float) -> str:
    return f"{value:.2f}"


def places(plot: Html, tag: str, name: str) -> list[float]:
    root = ET.fromstring(plot)  # noqa: S314 - our own text
    return [float(one.attrib[name]) for one in root.iter(f"{SVG}{tag}")]


def test_an_interval_off_the_paper_ends_in_an_arrow() -> None:
    marks = [EffectMark("a", 0.01, -math.inf, math.inf, 0.02)]
    plot = draw_effects(marks, "effects", show, ends=("less", "more"), ratio=False)
    assert plot.count("<polygon") == 2
    assert "inf" not in "".join(map(str, places(plot, "line", "x1")))


@given(st.lists(st.tuples(finite, finite, finite, st.floats(0, 1)), min_size=1, max_size=6))
def test_effects_stay_on_the_paper(rows: list[tuple[float, float, float, float]]) -> None:
    marks = [EffectMark("x", v, min(a, v), max(b, v), m) for v, a, b, m in rows]
    for ratio in (True, False):
        plot = draw_effects(marks, "effects", show, ends=("", ""), ratio=ratio)
        assert all(0 <= x <= WIDE for x in places(plot, "circle", "cx"))


def test_a_task_that_gained_is_green_whichever_way_is_better() -> None:
    pair = [Pair("t", 0.5, 0.2)]
    assert 'class="gain"' in draw_pairs(pair, "p", show, lower_is_better=True)
    assert 'class="loss"' in draw_pairs(pair, "p", show, lower_is_better=False)
    assert 'class="same"' in draw_pairs([Pair("t", 1, 1)], "p", show, lower_is_better=True)


@given(st.lists(st.tuples(finite, finite, finite), max_size=30), st.floats(0.001, 1))
def test_paths_stay_on_the_paper(rows: list[tuple[float, float, float]], margin: float) -> None:
    points = [PathPoint(n, v, v - abs(a), v + abs(b)) for n, (v, a, b) in enumerate(rows, 1)]
    points = [p._replace(low=-math.inf) if p.n < 4 else p for p in points]
    for ratio in (True, False):
        plot = draw_path(points, "p", show, margin=margin, planned=10, ratio=ratio)
        assert all(0 <= x <= WIDTH for x in places(plot, "circle", "cx"))


@pytest.mark.parametrize("values", [[], [1.0], [0.0, 1e-9, 1e300, math.inf], [2.0] * 90])
def test_evidence_of_any_size_can_be_drawn(values: list[float]) -> None:
    plot = draw_evidence(values, 20.0, "e", planned=5)
    ET.fromstring(plot)  # noqa: S314 - our own text
    assert "nan" not in plot


def test_arms_that_solved_nothing_have_no_bar() -> None:
    plot = draw_amounts([("a", None, "none"), ("b", 3.0, "3")], "amounts")
    assert plot.count("<rect") == 1
    assert ">none</text>" in plot


def test_curves_share_their_steps() -> None:
    def mark(label: str, value: float | None) -> Mark:
        return Mark(label=label, value=value, low=0.0, high=0.4)

    series = [("a", [mark("1", 0.1), mark("2", 0.2)]), ("b", [mark("2", 0.3), mark("3", None)])]
    plot = draw_curves(series, "curves")
    assert plot.count("<circle") == 3
    assert plot.count("<polygon") == 2
    assert draw_curves([*series, *series], "curves").count("<polygon") == 0
    assert "<circle" not in draw_curves([("a", [])], "none")
