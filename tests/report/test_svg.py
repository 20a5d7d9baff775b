from __future__ import annotations

import math
import xml.etree.ElementTree as ET

import pytest
from hypothesis import given
from hypothesis import strategies as st

from warmstart.report.svg import Mark, _ticks, draw_bars, draw_forest, draw_line

NUMBER = st.floats(0, 1)
MARKS = st.lists(
    st.builds(
        Mark, label=st.text(max_size=50), value=st.none() | NUMBER, low=NUMBER, high=NUMBER,
        note=st.text(max_size=5), faint=st.booleans()),
    max_size=8,
)  # fmt: skip


@given(MARKS)
def test_every_plot_is_well_formed_whatever_the_data(marks: list[Mark]) -> None:
    for svg in (
        draw_line(marks, "a"),
        draw_bars(marks, "b"),
        draw_forest(marks, "c"),
        draw_forest(marks, "d", zero=0.0, margin=0.02, ends=("l", "r")),
    ):
        root = ET.fromstring(svg)  # noqa: S314 - our own text
        assert root.attrib["role"] == "img"


def test_a_line_has_a_band_and_one_dot_per_value() -> None:
    marks = [Mark(label=str(n), value=0.1 * n, low=0.05 * n, high=0.15 * n) for n in range(4)]
    svg = draw_line([*marks, Mark(label="none", value=None, low=0.0, high=1.0)], "line")
    assert svg.count("<circle") == 4
    assert svg.count("<polygon") == 1
    assert "30 %, 95 % 15 % to 45 %" in svg


def test_higher_rates_are_drawn_higher() -> None:
    marks = [
        Mark(label="a", value=0.1, low=0.1, high=0.1),
        Mark(label="b", value=0.2, low=0.2, high=0.2),
    ]
    root = ET.fromstring(draw_line(marks, "line"))  # noqa: S314 - our own text
    dots = [float(dot.attrib["cy"]) for dot in root.iter("{http://www.w3.org/2000/svg}circle")]
    assert dots[0] > dots[1]


def test_one_hopeless_interval_does_not_flatten_the_plot() -> None:
    marks = [
        Mark(label="a", value=0.02, low=0.01, high=0.03),
        Mark(label="b", value=0.03, low=0.0, high=1.0),
    ]
    assert "100 %</text>" not in draw_forest(marks, "rates")


def test_without_errors_the_axis_covers_every_bound() -> None:
    marks = [Mark(label=str(top), value=0.0, low=0.0, high=top) for top in (0.22, 0.6)]
    for plot in (draw_line(marks, "l"), draw_bars(marks, "b"), draw_forest(marks, "f")):
        assert "60 %</text>" in plot


def test_an_interval_beyond_the_paper_ends_in_an_arrow() -> None:
    near = Mark(label="a", value=0.02, low=0.01, high=0.03)
    far = Mark(label="b", value=0.03, low=0.0, high=1.0)
    for draw in (draw_forest, draw_bars):
        assert draw([near, far], "rates").count("<polygon") == 1
        assert draw([near], "rates").count("<polygon") == 0


def test_a_missing_value_breaks_the_line_and_keeps_its_place() -> None:
    known = [Mark(label=str(n), value=0.1, low=0.05, high=0.2) for n in range(4)]
    gap = Mark(label="…", value=None, low=0.0, high=0.0)
    plot = draw_line([*known[:2], gap, *known[2:]], "line")
    assert (plot.count("<polyline"), plot.count("<polygon")) == (2, 2)
    assert "…</text>" in plot


def test_effects_are_not_called_percentages() -> None:
    plot = draw_forest([Mark(label="a", value=-0.18, low=-0.59, high=0.24)], "odds", zero=0.0)
    assert "a: -0.18, 95 % -0.59 to +0.24" in plot


def test_only_wide_plots_are_marked_as_wide() -> None:
    mark = Mark(label="a", value=0.1, low=0.05, high=0.2)
    assert 'class="wide"' in draw_line([mark], "l", wide=True)
    assert 'class="wide"' not in draw_bars([mark], "b")


def test_infinite_limits_are_drawn_at_the_edge() -> None:
    marks = [Mark(label="a", value=0.0, low=-math.inf, high=math.inf)]
    assert "inf" not in draw_forest(marks, "effects", zero=0.0)


@pytest.mark.parametrize(("low", "high"), [(0.0, 0.051), (0.0, 1.0), (-0.7, 0.7), (0.0, 1e-6)])
def test_ticks_are_few_and_inside(low: float, high: float) -> None:
    ticks = _ticks(low, high)
    assert 2 <= len(ticks) <= 7
    assert all(low - 1e-9 <= tick <= high + 1e-9 for tick in ticks)
