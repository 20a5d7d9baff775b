from __future__ import annotations

from xml.etree import ElementTree as ET

from hypothesis import given
from hypothesis import strategies as st

from warmstart.report.canvas import WIDE
from warmstart.report.page import Html
from warmstart.report.strip import MAX_TICKS, Tick, draw_strip

SVG = "{http://www.w3.org/2000/svg}"


def bars(plot: Html) -> list[ET.Element]:
    return list(ET.fromstring(plot).iter(f"{SVG}rect"))  # noqa: S314 - our own text


def make_ticks(outcomes: str) -> list[Tick]:
    return [Tick(letter == "x", f"#{n} tool") for n, letter in enumerate(outcomes)]


def test_every_call_has_a_tick_and_failed_ones_are_taller() -> None:
    found = bars(draw_strip(make_ticks("..x."), "calls", "call"))
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
    assert len(bars(plot)) <= MAX_TICKS
    assert plot.count('class="lost"') == 1
    assert ": 1 of 5 failed</title>" in plot


@given(st.text("x.", max_size=300))
def test_ticks_stay_on_the_paper(outcomes: str) -> None:
    for one in bars(draw_strip(make_ticks(outcomes), "calls", "call")):
        left, width = float(one.attrib["x"]), float(one.attrib["width"])
        assert left >= 0
        assert left + width <= WIDE
