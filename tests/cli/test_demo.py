from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from warmstart.cli import _findings
from warmstart.cli.demo import demo
from warmstart.model import Call, Certainty, ErrorClass, Outcome, Request, Result, Session, Status
from warmstart.samples import samples_path
from warmstart.sources import ReadLog


def run(*options: str, width: int = 80) -> str:
    done = CliRunner().invoke(demo, options, env={"COLUMNS": str(width)})
    assert done.exit_code == 0, done.output
    assert done.stderr == ""
    return done.stdout


@pytest.fixture(scope="module")
def figures() -> dict[str, Any]:
    found: dict[str, Any] = json.loads(run("--json"))
    return found


@pytest.fixture(scope="module")
def story() -> str:
    return run()


def call(tool: str, path: str, status: Status, text: str = "", position: int = 0) -> Call:
    failed = status is Status.ERROR
    outcome = Outcome(
        status=status,
        certainty=Certainty.EXPLICIT,
        evidence="flag",
        error_class=ErrorClass.NOT_FOUND if failed else None,
    )
    request = Request(tool=tool, arguments={"path": path})
    return Call(
        request=request, result=Result(text=text), outcome=outcome, position=position, message=0
    )


def session(*calls: Call) -> Session:
    return Session(origin="codex", agent="codex", native_id="s1", calls=calls)


def test_the_story_is_told_in_eight_numbered_parts(story: str) -> None:
    assert re.findall(r"^(\d)\. ", story, re.MULTILINE) == list("12345678")


def test_the_verdict_is_called_a_demonstration(story: str, figures: dict[str, Any]) -> None:
    assert "A demonstration, not a result" in story
    assert "BETTER" in story
    assert figures["demonstration"]["arms"][0]["conclusion"] == "better"


def test_the_template_and_what_is_sent_are_shown(story: str, figures: dict[str, Any]) -> None:
    assert figures["template"]["examples"] > 3
    assert 100 < figures["warmup"]["tokens"] <= 700
    assert "From earlier sessions with these tools:" in story


def test_the_story_names_every_agent_and_the_next_commands(story: str) -> None:
    for name in ("hermes", "claude_code", "codex", "gemini", "openai_chat"):
        assert re.search(rf"^{name} ", story, re.MULTILINE)
    assert "warmstart doctor" in story
    assert "warmstart sessions list" in story


def test_no_line_is_wider_than_a_narrow_terminal(story: str) -> None:
    lines = [line for line in story.splitlines() if str(samples_path()) not in line]
    assert max(map(len, lines)) <= 80


def test_no_control_character_reaches_the_terminal(story: str) -> None:
    assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f-\x9f]", story)


def test_json_and_story_tell_the_same_figures(figures: dict[str, Any], story: str) -> None:
    flat = " ".join(story.split())
    naive, totals = figures["naive"], figures["totals"]
    assert f"finds {naive['errors']} errors in these {totals['calls']} calls" in flat
    assert f"{naive['false_alarms']} false alarms and {naive['missed']} missed" in flat


def test_json_says_its_version_and_adds_up(figures: dict[str, Any]) -> None:
    assert figures["schema_version"] == 1
    assert figures["skipped"] == []
    for name in ("calls", "errors", "rejected", "cancelled", "unanswered"):
        by_store = sum(store[name] for store in figures["stores"])
        by_session = sum(one[name] for one in figures["sessions"])
        assert by_store == by_session == figures["totals"][name]


def test_false_alarms_and_misses_explain_the_difference(figures: dict[str, Any]) -> None:
    naive = figures["naive"]
    difference = naive["errors"] - figures["totals"]["errors"]
    assert difference == naive["false_alarms"] - naive["missed"]


def test_the_examples_disagree_with_the_keyword_test_by_different_rules(
    figures: dict[str, Any],
) -> None:
    examples = figures["naive"]["examples"]
    assert all(one["naive_error"] != (one["status"] == "error") for one in examples)
    assert len({(one["naive_error"], one["evidence"]) for one in examples}) == 3
    assert {one["naive_error"] for one in examples} == {True, False}


def test_the_repair_begins_with_a_failure_and_ends_well(figures: dict[str, Any]) -> None:
    calls = figures["repairs"]["example"]["calls"]
    assert figures["repairs"]["found"] > 5
    assert (calls[0]["status"], calls[-1]["status"]) == ("error", "ok")
    assert calls[0]["tool"] == calls[-1]["tool"]


def test_telling_the_story_changes_nothing_on_disk() -> None:
    def state() -> dict[Path, tuple[int, int]]:
        paths = [path for path in samples_path().rglob("*") if "__pycache__" not in path.parts]
        return {path: (path.stat().st_size, path.stat().st_mtime_ns) for path in paths}

    before = state()
    run()
    assert state() == before


def test_the_keyword_test_takes_a_missing_result_for_success() -> None:
    asked = call("read", "a", Status.OK)
    unanswered = Call(
        request=asked.request, result=None, outcome=asked.outcome, position=0, message=0
    )
    assert not _findings.says_error(unanswered)
    assert _findings.says_error(call("read", "a", Status.OK, "0 Errors"))


def test_a_folder_without_stores_tells_nothing(tmp_path: Path) -> None:
    assert _findings.read_samples(tmp_path, ReadLog()) == []


def test_a_success_on_another_file_is_no_repair() -> None:
    failed = call("edit", "a.py", Status.ERROR)
    elsewhere = call("edit", "b.py", Status.OK, position=1)
    assert _findings.find_repairs([session(failed, elsewhere)]) == []
    assert _findings.choose_repair([]) is None


def test_a_repair_far_away_is_not_counted() -> None:
    looks = [call("read", "a.py", Status.OK, position=n) for n in (1, 2, 3)]
    calls = (
        call("edit", "a.py", Status.ERROR),
        *looks,
        call("edit", "a.py", Status.OK, position=4),
    )
    assert _findings.find_repairs([session(*calls)]) == []
    assert len(_findings.find_repairs([session(calls[0], *looks[:2], calls[-1])])) == 1
