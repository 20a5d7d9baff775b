from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from support.sessions import make_messages, make_session, make_steps, write_export
from warmstart.model import Compaction, Kind, Link, Message, Parent, Role, Session
from warmstart.model import Result as ToolResult
from warmstart.present.compare import ANSWERS
from warmstart.stats.noninferiority import Preservation

Run = Callable[..., Any]
HOSTILE = "</title><script>document.title='owned'</script><img src=x onerror=alert(1)>"


def store(folder: Path, sessions: Sequence[Session]) -> Path:
    return write_export(folder / "sessions.jsonl", *sessions)


@pytest.fixture
def many(tmp_path: Path) -> Path:
    good = [
        make_steps(f"good-{n}", "." * (28 + n % 5) + "x", model="acme-large") for n in range(12)
    ]
    bad = [
        make_steps(f"bad-{n}", "x.." * 10 + "." * (n % 4), model="acme-small") for n in range(12)
    ]
    return store(
        tmp_path,
        [*good, *bad, make_session("empty-one", messages=[Message(role=Role.USER, text="hi")])],
    )


def load(result: Any) -> dict[str, object]:
    assert result.exit_code == 0, result.stderr
    document: dict[str, object] = json.loads(result.stdout)
    assert document["schema_version"] == 1
    return document


def test_a_corpus_is_profiled_with_intervals_and_a_verdict(run: Run, many: Path) -> None:
    result = run("profile", many, "--details")
    assert result.exit_code == 0
    for words in (
        "25 sessions", "error rate", "By session length", "Does it learn", "design effect",
        "Tools, by what it would pay to fix", "By model", "acme-small", "1 session without calls",
    ):  # fmt: skip
        assert words in result.stdout, words
    assert result.stderr == ""


def test_the_same_as_json_has_every_figure(run: Run, many: Path) -> None:
    profile = load(run("profile", many, "--json"))["profile"]
    assert isinstance(profile, dict)
    assert profile["rate"]["errors"] == 12 + 120
    assert profile["rate"]["sessions"] == 24
    assert profile["learning"]["verdict"]
    assert profile["tools"][0]["evidence"][0].startswith("hermes:bad-")


def test_a_second_run_gives_the_same_from_what_was_kept(run: Run, many: Path) -> None:
    assert run("profile", many, "--json").stdout == run("profile", many, "--json").stdout


def test_filters_of_sessions_list_choose_the_sessions(run: Run, many: Path) -> None:
    profile = load(run("profile", many, "--model", "large", "--json"))["profile"]
    assert isinstance(profile, dict)
    assert profile["rate"]["errors"] == 12


def test_buckets_can_be_chosen(run: Run, many: Path) -> None:
    assert "0-60" in run("profile", many, "--buckets", "60").stdout
    wrong = run("profile", many, "--buckets", "60,5")
    assert wrong.exit_code == 2
    assert "bucket" in wrong.stderr


def test_tool_types_and_trivial_tools_can_be_chosen(run: Run, many: Path) -> None:
    typed = load(run("profile", many, "--tool-type", "terminal=research", "--json"))["profile"]
    assert isinstance(typed, dict)
    assert list(typed["task_types"]) == ["research"]
    none = load(run("profile", many, "--trivial", "terminal", "--json"))["profile"]
    assert isinstance(none, dict)
    assert none["rate"]["calls"] == 0
    assert run("profile", many, "--tool-type", "terminal").exit_code == 2
    assert run("profile", many, "--tool-type", "terminal=magic").exit_code == 2


def test_settings_come_from_the_configuration_too(run: Run, home: Path, many: Path) -> None:
    folder = home / "ws"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "config.toml").write_text('[profile]\ntool_types = "terminal=code"\nbuckets = "7"\n')
    profile = load(run("profile", many, "--json"))["profile"]
    assert isinstance(profile, dict)
    assert list(profile["task_types"]) == ["code"]
    assert profile["by_length"][0]["label"] == "0-7"


def test_one_session_is_profiled_by_a_prefix_of_its_id(run: Run, many: Path) -> None:
    result = run("profile", "good-3", many, "--details")
    assert result.exit_code == 0
    for words in ("hermes:good-3", "terminal task type", "Proficiency", "0.60 x S", "Tools"):
        assert words in result.stdout, words
    document = load(run("profile", "good-3", many, "--json"))["profile"]
    assert isinstance(document, dict)
    assert document["rate"]["errors"] == 1


def test_repairs_repeats_and_markers_of_a_session_are_shown(run: Run, tmp_path: Path) -> None:
    messages = list(make_steps("one", "x.").messages)
    again = [
        replace(m, requests=tuple(replace(r, id="z") for r in m.requests)) for m in messages[1:2]
    ]
    done = Message(role=Role.TOOL, results=(ToolResult(text="done", call_id="z", is_error=False),))
    path = store(
        tmp_path,
        [make_session("twice-1", messages=[*messages, *again, done], title="A\x1b[31m title")],
    )
    shown = run("profile", "twice-1", path).stdout
    assert "Repairs" in shown
    assert "Identical calls" in shown
    assert "\x1b" not in shown


def test_a_session_that_is_not_there_is_an_error_in_words(run: Run, many: Path) -> None:
    result = run("profile", "nothing-like-it", many)
    assert result.exit_code == 3
    assert "no session has the id" in result.stderr


def test_warm_up_messages_are_never_counted(run: Run, tmp_path: Path) -> None:
    warm = [
        replace(message, kind=Kind.WARMUP) for message in make_steps("one", "xxxx").messages[1:]
    ]
    path = store(tmp_path, [make_session("warm-one", messages=[*warm, *make_messages()])])
    profile = load(run("profile", path, "--json"))["profile"]
    assert isinstance(profile, dict)
    assert profile["rate"]["errors"] == 1
    assert profile["totals"]["warmups"] == 8
    assert "never counted" in run("profile", "warm-one", path).stdout


def test_no_sessions_are_said_and_not_a_crash(run: Run) -> None:
    result = run("profile")
    assert result.exit_code == 0
    assert "no sessions found" in result.stderr


def test_compactions_in_place_and_rotating_are_told(run: Run, tmp_path: Path) -> None:
    first = make_steps("first-1", "." * 10, compactions=(Compaction(at=11),))
    link = Parent(id="hermes:first-1", link=Link.COMPACTION)
    path = store(tmp_path, [first, make_steps("second-1", "xxxxx.....", parent=link)])
    result = run("profile", "compaction", "--all", path)
    assert result.exit_code == 0
    for words in ("inconclusive", "in place", "rotating", "margin +2.0", "no placebo"):
        assert words in result.stdout, words
    one = run("profile", "compaction", "second-1", path, "--json")
    report = load(one)["report"]
    assert isinstance(report, dict)
    assert [event["mode"] for event in report["events"]] == ["rotating"]


def test_a_change_that_the_data_do_not_bound_is_told_in_words(run: Run, tmp_path: Path) -> None:
    path = store(tmp_path, [make_steps("one-1", "." * 20, compactions=(Compaction(at=21),))])
    shown = " ".join(run("profile", "compaction", path).stdout.split())
    assert "inconclusive" in shown
    assert "0.0 points [too few to bound]" in shown
    assert "inf]" not in shown


def test_events_with_few_calls_are_said_to_be_too_few(run: Run, tmp_path: Path) -> None:
    path = store(tmp_path, [make_steps("one-1", "....", compactions=(Compaction(at=5),))])
    shown = " ".join(run("profile", "compaction", path).stdout.split())
    assert "no event has enough calls of the same tools on both sides" in shown
    assert "1 event, up to 20 calls on each side" in shown
    assert "+0.0 points" not in shown
    assert "placebo" not in shown


def test_equal_ids_in_two_stores_are_two_compactions(run: Run, tmp_path: Path) -> None:
    for name, outcomes in (("one", "x" * 10 + "." * 10), ("two", "." * 20)):
        store(tmp_path / name, [make_steps("same-1", outcomes, compactions=(Compaction(at=21),))])
    report = load(run("profile", "compaction", tmp_path / "one", tmp_path / "two", "--json"))
    found = report["report"]
    assert isinstance(found, dict)
    assert sorted(event["change"] for event in found["events"]) == [-1.0, 0.0]
    assert found["conversations"] == 2


def test_every_answer_about_compaction_is_documented() -> None:
    page = (Path(__file__).parents[2] / "docs" / "profile.md").read_text()
    assert all(f"`{answer}`" in page for answer in Preservation)
    assert all(f"| {words} |" in page for words, _ in ANSWERS.values())


def test_without_compactions_there_is_nothing_to_tell(run: Run, many: Path) -> None:
    assert "no compactions found" in run("profile", "compaction", many).stdout


def test_a_placebo_is_shown_where_there_is_one(run: Run, tmp_path: Path) -> None:
    touched = [make_steps(f"c-{n}", "." * 20, compactions=(Compaction(at=21),)) for n in range(3)]
    alone = [make_steps(f"a-{n}", "." * 20) for n in range(3)]
    shown = run("profile", "compaction", store(tmp_path, [*touched, *alone])).stdout
    assert "3 uncompacted sessions" in shown


def test_two_filters_are_compared(run: Run, many: Path) -> None:
    result = run("compare", "model=large", "model=small", many)
    assert result.exit_code == 0
    assert "A is more reliable" in result.stdout
    assert "By tool" in result.stdout
    found = load(run("compare", "model=large", "model=small", many, "--json"))["comparison"]
    assert isinstance(found, dict)
    assert found["verdict"] == "A is more reliable"
    assert found["difference"]["low"] > 0


def test_two_sessions_cannot_tell(run: Run, many: Path) -> None:
    result = run("compare", "good-1", "bad-1", many)
    assert "cannot tell" in result.stdout


def test_two_paths_are_compared(run: Run, tmp_path: Path, many: Path) -> None:
    other = store(tmp_path / "other", [make_steps("x-1", "..x", ended_at=1.7e9)])
    result = run("compare", many, f"path={other},min-messages=1,since=2000-01-01")
    assert result.exit_code == 0


@pytest.mark.parametrize("side", ["model=", "colour=red", "min-messages=x", "since=never", "a=b=c"])
def test_filters_that_cannot_be_right_are_refused(run: Run, many: Path, side: str) -> None:
    result = run("compare", side, "model=x", many)
    assert result.exit_code == 2
    assert result.stderr.startswith("error:")


def test_a_page_is_private_and_replaced_only_on_request(
    run: Run, many: Path, tmp_path: Path
) -> None:
    page = tmp_path / "page.html"
    assert run("profile", many, "--html", page).exit_code == 0
    assert page.stat().st_mode & 0o777 == 0o600
    assert run("profile", many, "--html", page).exit_code == 2
    assert run("profile", "good-1", many, "--html", page, "--force").exit_code == 0
    assert "hermes:good-1" in page.read_text()


def test_the_page_renders_in_a_browser_and_obeys_no_title(run: Run, tmp_path: Path) -> None:
    browser = shutil.which("chromium") or shutil.which("google-chrome")
    if browser is None:
        pytest.skip("no chromium on this machine")
    hostile = [
        make_steps(
            f"h-{n}",
            "..x" * 20,
            model=HOSTILE,
            project=HOSTILE + str(n),
            tool=HOSTILE,
            title=HOSTILE,
        )
        for n in range(8)
    ]
    path = store(tmp_path, hostile)
    for arguments in ((path,), ("h-1", path)):
        page = tmp_path / f"page{len(arguments)}.html"
        assert run("profile", *arguments, "--html", page).exit_code == 0
        seen = render(browser, page, tmp_path / f"profile{len(arguments)}")
        assert "</footer>" in seen
        assert title_of(seen) != "owned"
        assert "<img" not in seen
        assert "<circle" in seen


def title_of(page: str) -> str:
    """A script that ran would have changed it."""
    return page.partition("<title>")[2].partition("</title>")[0].strip()


def render(browser: str, page: Path, folder: Path) -> str:
    """The page as the browser has built it, after scripts would have run."""
    flags = (
        "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
        "--disable-background-networking", "--disable-component-update", "--disable-sync",
    )  # fmt: skip
    command = [browser, *flags, f"--user-data-dir={folder}", "--dump-dom", page.as_uri()]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True)
    return done.stdout


@pytest.mark.corpus
@pytest.mark.parametrize("name", ["claude_code", "mini_swe_agent", "codex", "tau_bench"])
def test_real_transcripts_come_out_with_intervals_and_a_verdict(
    run: Run, corpus: Path, name: str
) -> None:
    profile = load(run("profile", corpus / name, "--json"))["profile"]
    assert isinstance(profile, dict)
    rate = profile["rate"]
    assert rate["low"] <= rate["rate"] <= rate["high"]
    assert profile["learning"]["sentence"]


@pytest.mark.parametrize("command", [("profile",), ("profile", "compaction")])
@pytest.mark.parametrize("path", ["/no/such/place", "./none.jsonl", "../none", "~none/sessions"])
def test_a_mistyped_path_is_not_taken_for_an_id(
    run: Run, command: tuple[str, ...], path: str
) -> None:
    result = run(*command, path)
    assert result.exit_code == 3
    assert "no such file or folder" in result.stderr
