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


def test_infinite_limits_are_drawn_at_the_edge() -> None:
    marks = [Mark(label="a", value=0.0, low=-math.inf, high=math.inf)]
    assert "inf" not in draw_forest(marks, "effects", zero=0.0)


@pytest.mark.parametrize(("low", "high"), [(0.0, 0.051), (0.0, 1.0), (-0.7, 0.7), (0.0, 1e-6)])
def test_ticks_are_few_and_inside(low: float, high: float) -> None:
    ticks = _ticks(low, high)
    assert 2 <= len(ticks) <= 7
    assert all(low - 1e-9 <= tick <= high + 1e-9 for tick in ticks)
