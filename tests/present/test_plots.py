"""Plots: well formed whatever the data, on the paper at every width, readable without color."""

from __future__ import annotations

import math
from xml.etree import ElementTree as ET

import pytest
from hypothesis import given
from hypothesis import strategies as st

from warmstart.present.plots import (
    MAX_TICKS,
    NARROW,
    WIDE,
    PathPoint,
    PlotMark,
    TaskPair,
    Tick,
    draw_amounts,
    draw_bars,
    draw_evidence,
    draw_forest,
    draw_lines,
    draw_pairs,
    draw_path,
    draw_strip,
)
from warmstart.present.svg import find_ticks

SVG = "{http://www.w3.org/2000/svg}"
NUMBER = st.floats(0, 1)
FINITE = st.floats(-5, 5)
MARKS = st.lists(
    st.builds(
        PlotMark, label=st.text(max_size=50), value=st.none() | NUMBER, low=NUMBER, high=NUMBER,
        note=st.text(max_size=5), tone=st.sampled_from(["dot", "faint"])),
    max_size=8,
)  # fmt: skip
WIDTHS = (WIDE, NARROW)


def show(value: float) -> str:
    return f"{value:.2f}"


def parse(plot: str) -> ET.Element:
    return ET.fromstring(plot)  # noqa: S314 - our own text


def places(plot: str, tag: str, name: str) -> list[float]:
    return [float(one.attrib[name]) for one in parse(plot).iter(f"{SVG}{tag}")]


def mark(label: str, value: float | None, low: float = 0.0, high: float = 0.4) -> PlotMark:
    return PlotMark(label=label, value=value, low=low, high=high)


@given(MARKS)
def test_every_plot_is_well_formed_whatever_the_data(marks: list[PlotMark]) -> None:
    for width in WIDTHS:
        for svg in (
            draw_lines({"a": marks, "b": marks}, "a", width=width),
            draw_bars(marks, "b", width=width),
            draw_forest(marks, "c", width=width),
            draw_forest(marks, "d", zero=True, ends=("l", "r"), width=width),
        ):
            assert parse(svg).attrib["role"] == "img"


def test_a_line_has_a_band_and_one_dot_per_value() -> None:
    marks = [mark(str(n), 0.1 * n, 0.05 * n, 0.15 * n) for n in range(4)]
    svg = draw_lines({"": [*marks, mark("none", None)]}, "line")
    assert svg.count("<circle") == 4
    assert svg.count("<polygon") == 1
    assert "30 %, 95 % 15 % to 45 %" in svg


def test_higher_rates_are_drawn_higher() -> None:
    plot = draw_lines({"": [mark("a", 0.1), mark("b", 0.2)]}, "line")
    dots = places(plot, "circle", "cy")
    assert dots[0] > dots[1]


def test_one_wide_interval_does_not_flatten_the_plot() -> None:
    marks = [mark("a", 0.02, 0.01, 0.03), mark("b", 0.03, 0.0, 1.0)]
    assert "100 %</text>" not in draw_forest(marks, "rates")


def test_without_errors_the_axis_covers_every_bound() -> None:
    marks = [mark(str(top), 0.0, 0.0, top) for top in (0.22, 0.6)]
    for plot in (draw_lines({"": marks}, "l"), draw_bars(marks, "b"), draw_forest(marks, "f")):
        assert "60 %</text>" in plot


def test_an_interval_beyond_the_paper_ends_in_an_arrow() -> None:
    near, far = mark("a", 0.02, 0.01, 0.03), mark("b", 0.03, 0.0, 1.0)
    for draw in (draw_forest, draw_bars):
        assert draw([near, far], "rates").count("<polygon") == 1
        assert draw([near], "rates").count("<polygon") == 0
    endless = PlotMark(label="a", value=0.01, low=-math.inf, high=math.inf, margin=0.02)
    plot = draw_forest([endless], "effects", zero=True)
    assert plot.count("<polygon") == 2
    assert "inf" not in plot


def test_a_missing_value_breaks_the_line_and_keeps_its_place() -> None:
    known = [mark(str(n), 0.1) for n in range(4)]
    plot = draw_lines({"": [*known[:2], mark("…", None), *known[2:]]}, "line")
    assert (plot.count("<polyline"), plot.count("<polygon")) == (2, 2)
    assert "…</text>" in plot


def test_series_share_their_steps() -> None:
    series = {"a": [mark("1", 0.1), mark("2", 0.2)], "b": [mark("2", 0.3), mark("3", None)]}
    plot = draw_lines(series, "curves")
    assert plot.count("<circle") == 3
    assert draw_lines({**series, "c": [], "d": []}, "curves").count("<polygon") == 0
    assert "<circle" not in draw_lines({"a": []}, "none")


def test_effects_are_not_called_percentages() -> None:
    plot = draw_forest([mark("a", -0.18, -0.59, 0.24)], "odds", zero=True)
    assert "a: -0.18, 95 % -0.59 to +0.24" in plot


@given(st.lists(st.tuples(FINITE, FINITE, FINITE, st.floats(0, 1)), min_size=1, max_size=6))
def test_effects_stay_on_the_paper(rows: list[tuple[float, float, float, float]]) -> None:
    marks = [
        PlotMark(label="x", value=v, low=min(a, v), high=max(b, v), margin=m) for v, a, b, m in rows
    ]
    for width in WIDTHS:
        for ratio in (True, False):
            plot = draw_forest(marks, "e", zero=True, ratio=ratio, show=show, width=width)
            assert all(0 <= x <= width for x in places(plot, "circle", "cx"))


def test_a_task_that_gained_is_green_whichever_way_is_better() -> None:
    pair = [TaskPair("t", 0.5, 0.2)]
    assert 'class="gain"' in draw_pairs(pair, "p", show, lower_is_better=True)
    assert 'class="loss"' in draw_pairs(pair, "p", show, lower_is_better=False)
    assert 'class="same"' in draw_pairs([TaskPair("t", 1, 1)], "p", show, lower_is_better=True)


@given(st.lists(st.tuples(FINITE, FINITE, FINITE), max_size=30), st.floats(0.001, 1))
def test_paths_stay_on_the_paper(rows: list[tuple[float, float, float]], margin: float) -> None:
    points = [PathPoint(n, v, v - abs(a), v + abs(b)) for n, (v, a, b) in enumerate(rows, 1)]
    points = [p._replace(low=-math.inf) if p.n < 4 else p for p in points]
    for ratio in (True, False):
        plot = draw_path(points, "p", show, margin=margin, planned=10, ratio=ratio, width=NARROW)
        assert all(0 <= x <= NARROW for x in places(plot, "circle", "cx"))


@pytest.mark.parametrize("values", [[], [1.0], [0.0, 1e-9, 1e300, math.inf], [2.0] * 90])
def test_evidence_of_any_size_can_be_drawn(values: list[float]) -> None:
    plot = draw_evidence(values, 20.0, "e", planned=5)
    parse(plot)
    assert "nan" not in plot


def test_arms_that_solved_nothing_have_no_bar() -> None:
    plot = draw_amounts([("a", None, "none"), ("b", 3.0, "3")], "amounts")
    assert plot.count("<rect") == 1
    assert ">none</text>" in plot


def make_ticks(outcomes: str) -> list[Tick]:
    return [Tick(letter == "x", f"#{n} tool") for n, letter in enumerate(outcomes, 1)]


def test_every_call_has_a_tick_and_failed_ones_are_taller() -> None:
    found = list(parse(draw_strip(make_ticks("..x."), "calls", "call")).iter(f"{SVG}rect"))
    heights = {one.attrib["class"]: float(one.attrib["height"]) for one in found}
    assert [one.attrib["class"] for one in found].count("lost") == 1
    assert len(found) == 4
    assert heights["lost"] > heights["faint"]


def test_a_tick_names_what_it_stands_for() -> None:
    plot = draw_strip([Tick(failed=True, title="#7 <b>terminal</b>: failed")], "calls", "call")
    assert "<title>#7 &lt;b&gt;terminal&lt;/b&gt;: failed</title>" in plot


def test_very_many_calls_share_ticks_and_no_failure_is_lost() -> None:
    outcomes = ["."] * (MAX_TICKS + 1)
    outcomes[700] = "x"
    plot = draw_strip(make_ticks("".join(outcomes)), "calls", "call")
    assert plot.count("<rect") <= MAX_TICKS
    assert plot.count('class="lost"') == 1
    assert ": 1 of 5 failed</title>" in plot


@given(st.text("x.", max_size=300))
def test_ticks_stay_on_the_paper(outcomes: str) -> None:
    for width in WIDTHS:
        plot = draw_strip(make_ticks(outcomes), "calls", "call", width=width)
        lefts, wides = places(plot, "rect", "x"), places(plot, "rect", "width")
        assert all(x >= 0 and x + w <= width for x, w in zip(lefts, wides, strict=True))


@pytest.mark.parametrize(("low", "high"), [(0.0, 0.051), (0.0, 1.0), (-0.7, 0.7), (0.0, 1e-6)])
def test_ticks_are_few_and_inside(low: float, high: float) -> None:
    ticks = find_ticks(low, high)
    assert 2 <= len(ticks) <= 7
    assert all(low - 1e-9 <= tick <= high + 1e-9 for tick in ticks)
