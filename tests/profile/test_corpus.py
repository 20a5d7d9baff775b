from __future__ import annotations

import pytest

from support.profiles import make_calls, make_facts
from warmstart.errors import UsageError
from warmstart.model import Tokens
from warmstart.model.facts import Marker, MarkerKind, UserStyleCounts
from warmstart.present import to_json
from warmstart.profile import (
    ToolRules,
    corpus_profile,
    decode_summary,
    encode_summary,
    summarise,
)
from warmstart.profile.corpus import parse_buckets


def test_only_judged_calls_are_in_the_rate_and_the_rest_is_counted() -> None:
    profile = corpus_profile([summarise([make_facts("..xrcu?")])])
    assert (profile.rate.errors, profile.rate.calls) == (1, 3)
    assert profile.statuses == {
        "ok": 2, "error": 1, "rejected": 1, "cancelled": 1, "unanswered": 1, "unknown": 1
    }  # fmt: skip


def test_housekeeping_tools_are_left_out_unless_asked_for() -> None:
    facts = make_facts(calls=make_calls(["todo", "bash", "todo"], "x.x"))
    assert corpus_profile([summarise([facts])]).rate.errors == 0
    assert corpus_profile([summarise([facts])]).trivial == {"todo": 2}
    everything = corpus_profile([summarise([facts], ToolRules(trivial=frozenset()))])
    assert everything.rate.errors == 2


def test_length_buckets_are_0_50_51_100_and_more_by_default() -> None:
    sizes = (0, 50, 51, 100, 101, 400)
    sessions = [make_facts(".x", id=f"t:{n}", messages=n) for n in sizes]
    profile = corpus_profile([summarise(sessions)])
    assert [(g.label, g.rate.sessions) for g in profile.by_length] == [
        ("0-50", 2), ("51-100", 2), ("101+", 2)
    ]  # fmt: skip
    other = corpus_profile([summarise(sessions)], parse_buckets("99"))
    assert [(g.label, g.rate.sessions) for g in other.by_length] == [("0-99", 3), ("100+", 3)]


@pytest.mark.parametrize("text", ["", "x", "5,4", "-1", "5,5", "1.5"])
def test_buckets_that_make_no_sense_are_refused(text: str) -> None:
    with pytest.raises(UsageError, match="bucket"):
        parse_buckets(text)


def test_tools_are_sorted_by_calls_lost_with_evidence() -> None:
    worst = make_facts(id="t:worst", calls=make_calls(["edit", "read", "edit", "edit"], "x.x."))
    mild = make_facts(id="t:mild", calls=make_calls(["read", "read"], "x."))
    first, second = corpus_profile([summarise([mild, worst])]).tools
    assert (first.tool, first.waste, first.evidence) == ("edit", 3, ("t:worst", 0))
    assert (second.tool, second.waste, second.evidence) == ("read", 1, ("t:mild", 0))
    assert first.repair_rate == 1.0
    assert first.classes == {"not_found": 2}


def test_repairs_are_held_against_how_soon_the_tool_works_anyway() -> None:
    """Every third call is an edit, whether the one before it failed or not."""
    tools = ["edit", "read", "read"] * 20
    outcomes = "".join("x.." if turn % 4 == 1 else "..." for turn in range(20))
    edit = corpus_profile([summarise([make_facts(calls=make_calls(tools, outcomes))])]).tools[0]
    assert edit.tool == "edit"
    assert (edit.rate.errors, edit.repaired, edit.detours) == (5, 5, 10)
    assert edit.works_again == 14 / 15
    assert edit.usual_detours == edit.detours
    assert edit.waste == 5


def test_calls_spent_on_a_repair_beyond_the_usual_are_lost() -> None:
    tools = ["edit"] * 6 + ["read"] * 5 + ["edit"]
    facts = make_facts(calls=make_calls(tools, ".....x" + "." * 6))
    edit = corpus_profile([summarise([facts])]).tools[0]
    assert (edit.detours, edit.usual_detours, edit.waste) == (5, 0.0, 6)


def test_a_tab_in_the_name_of_a_tool_is_a_character_like_others() -> None:
    facts = make_facts("x.", tool="my\ttool")
    (found,) = corpus_profile([decode_summary(encode_summary(summarise([facts])))]).recoveries
    assert (found.tool, found.by, found.count) == ("my\ttool", "my\ttool", 1)


def test_proficiency_and_kinds_of_work_are_pooled() -> None:
    calls = make_calls(
        ["bash"] * 6 + ["read_file"] * 4, "x.........", sames=[0, 1, 1, *range(2, 9)]
    )
    profile = corpus_profile([summarise([make_facts(calls=calls)])])
    assert profile.tool_types == {"terminal": 6, "file": 4}
    assert profile.preferred == ("bash", "read_file")
    surely = 1.0 - profile.rate.high
    assert profile.proficiency == pytest.approx(0.6 * surely + 0.25 + 0.15 * 0.9)
    assert corpus_profile([]).proficiency is None


def test_openings_are_banded_by_their_share_of_code_file_and_research() -> None:
    mixed = ["read_file"] * 10 + ["execute_code"] * 20 + ["bash"] * 4
    plain = ["bash"] * 34
    sessions = [
        make_facts(id="t:a", calls=make_calls(mixed, "." * 30 + "x...")),
        make_facts(id="t:b", calls=make_calls(plain, "." * 34)),
    ]
    code, file, research = corpus_profile([summarise(sessions)]).opening_shares
    assert [one.kind for one in (code, file, research)] == ["code", "file", "research"]
    assert (code.share, file.share, research.share) == (20 / 60, 10 / 60, 0.0)
    bands = {g.label: (g.rate.errors, g.rate.calls) for g in code.bands}
    assert bands == {"none": (0, 4), "under half": (0, 0), "half or more": (1, 4)}
    bands = {g.label: (g.rate.errors, g.rate.calls) for g in file.bands}
    assert bands == {"none": (0, 4), "under half": (1, 4), "half or more": (0, 0)}


def test_masked_exits_and_identical_calls_are_counted_per_tool() -> None:
    calls = make_calls(["bash"] * 4, "....", sames=[1, 2, 1, 1], masked=(0, 3))
    tool = corpus_profile([summarise([make_facts(calls=calls)])]).tools[0]
    assert (tool.masked, tool.repeats) == (2, 2)


def test_groups_by_model_project_and_week() -> None:
    monday = 1_767_571_200.0  # 2026-01-05T00:00:00Z
    sessions = [
        make_facts("x.", id="t:1", model="m1", project="/a", started_at=monday),
        make_facts("..", id="t:2", model="m1", project="/b", started_at=monday + 6.9 * 86_400),
        make_facts("...", id="t:3", model="m2", started_at=monday + 7 * 86_400),
        make_facts("....", id="t:4"),
    ]
    profile = corpus_profile([summarise(sessions)])
    assert [(g.label, g.rate.calls) for g in profile.by_model] == [
        ("(not known)", 4), ("m1", 4), ("m2", 3)
    ]  # fmt: skip
    assert [(g.label, g.rate.calls) for g in profile.by_week] == [
        ("(not known)", 4), ("2026-01-05", 4), ("2026-01-12", 3)
    ]  # fmt: skip
    assert {g.label for g in profile.by_project} == {"/a", "/b", "(not known)"}


def test_empty_sessions_and_totals() -> None:
    full = make_facts(
        "..", id="t:2", turns=3, tokens=Tokens(input=5, output=7), started_at=10.0, ended_at=70.0,
        warmups=4, compactions=(1,),
    )  # fmt: skip
    profile = corpus_profile([summarise([make_facts(id="t:1"), full])])
    assert profile.empty_share == 0.5
    assert profile.totals["seconds"] == 60.0
    assert profile.totals["input"] == 5
    assert profile.totals["warmups"] == 4
    assert profile.totals["without_calls"] == 1


def test_openings_are_set_against_what_follows() -> None:
    code = make_calls(["execute_code"] * 30 + ["bash"] * 10, "." * 30 + "." * 9 + "x")
    files = make_calls(["read_file"] * 30 + ["bash"] * 10, "x" * 30 + "xx" + "." * 8)
    sessions = [make_facts(id="t:1", calls=code), make_facts(id="t:2", calls=files)]
    found = {g.label: g.rate for g in corpus_profile([summarise(sessions)]).openings}
    assert (found["code"].errors, found["code"].calls) == (1, 10)
    assert (found["file"].errors, found["file"].calls) == (2, 10)


def test_the_final_call_is_left_out_of_the_last_fifth() -> None:
    profile = corpus_profile([summarise([make_facts("xx" + "." * 7 + "x")])])
    assert profile.gain is not None
    assert (profile.gain.early, profile.gain.late) == (1.0, 0.0)


def test_markers_domains_and_styles_are_pooled() -> None:
    sessions = [
        make_facts(
            ".", id=f"t:{n}", markers=(Marker(MarkerKind.FILE, "a.py", 3),),
            user_style=UserStyleCounts(messages=4, words=20, short=4),
        )
        for n in range(2)
    ]  # fmt: skip
    profile = corpus_profile([summarise(sessions)])
    assert profile.markers == (Marker(MarkerKind.FILE, "a.py", 6),)
    assert profile.domains == {"python": 6}
    assert profile.styles == {"terse": 2}
    assert profile.feedback == {"terse": 2}


def test_a_profile_becomes_plain_json_values() -> None:
    document = to_json(corpus_profile([summarise([make_facts("x..")])]))
    assert document["rate"]["errors"] == 1
    assert document["tools"][0]["waste"] == 1
    assert document["learning"]["verdict"] == "inconclusive"
    assert document["learning"]["trends"][0]["low"] is None or isinstance(
        document["learning"]["trends"][0]["low"], float
    )
