"""How soon a tool works again, against the slow way to count it."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from warmstart.profile.scan import REPAIR_WINDOW
from warmstart.profile.strata import Rhythm, measure_rhythm, split_strata

CALLS = st.lists(st.tuples(st.sampled_from("abc"), st.booleans()), max_size=40)


def count_slowly(tool: str, calls: list[tuple[str, bool]]) -> Rhythm:
    own = [(place, failed) for place, (name, failed) in enumerate(calls) if name == tool]
    working = [place for place, failed in own if not failed]
    again = sum(b - a <= REPAIR_WINDOW for a, b in pairwise(working))
    pairs = [
        b - a - 1
        for (a, bad), (b, worse) in pairwise(own)
        if not bad and not worse and b - a <= REPAIR_WINDOW
    ]
    return Rhythm(len(working), again, len(pairs), sum(pairs))


@given(CALLS)
def test_the_rhythm_of_every_tool_that_failed(calls: list[tuple[str, bool]]) -> None:
    failed = [place for place, (_, bad) in enumerate(calls) if bad]
    strata = split_strata([tool for tool, _ in calls], failed)
    assert {one.tool for one in strata} == {calls[place][0] for place in failed}
    for one in strata:
        assert measure_rhythm(one) == count_slowly(one.tool, calls)


def test_tools_by_number_give_the_same_strata() -> None:
    tools, failed = "aabcab", [1, 3, 5]
    named = split_strata(tools, failed)
    numbered = split_strata(bytes("abc".index(tool) for tool in tools), failed)
    assert [one[1:] for one in named] == [one[1:] for one in numbered]
