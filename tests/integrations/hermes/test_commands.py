"""``hermes warm …`` on a machine with the sample sessions of Hermes."""

from __future__ import annotations

import argparse
import io
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from support.hermes_plugin import RecordingContext
from support.warming import make_template
from warmstart.app import Workspace
from warmstart.app.templates import open_library
from warmstart.integrations.hermes.commands import add_arguments, run
from warmstart.model.selection import Selection
from warmstart.model.template import TemplateState
from warmstart.sources import ReadLog

COMMANDS = (
    "analyze", "build", "compare", "compress-check", "create-template", "delete", "extract",
    "list", "list-templates", "profile", "test",
)  # fmt: skip


def warm(*words: str) -> int:
    parser = argparse.ArgumentParser(prog="hermes warm")
    add_arguments(parser)
    return run(parser.parse_args(words))


def read(capsys: pytest.CaptureFixture[str], *words: str) -> dict[str, Any]:
    assert warm(*words, "--json") == 0
    document: dict[str, Any] = json.loads(capsys.readouterr().out)
    assert document["schema_version"] == 1
    return document


@pytest.fixture
def sessions(workspace: Workspace) -> list[str]:
    found = workspace.read_sessions(Selection(source="hermes"), ReadLog())
    ids = [session.native_id for session in found if len(session.calls) > 8]
    assert len(ids) > 1
    return ids


def test_every_command_is_there_and_helps(
    hermes: RecordingContext, capsys: pytest.CaptureFixture[str]
) -> None:
    parser = argparse.ArgumentParser(prog="hermes warm")
    hermes.commands["warm"]["setup_fn"](parser)
    for command in COMMANDS:
        with pytest.raises(SystemExit) as ended:
            parser.parse_args([command, "--help"])
        assert ended.value.code == 0
        assert "--json" in capsys.readouterr().out


def test_no_command_shows_what_there_is(capsys: pytest.CaptureFixture[str]) -> None:
    assert warm() == 2
    assert "compress-check" in capsys.readouterr().err


def test_analyze_shows_tools_user_and_context(
    sessions: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert warm("analyze", sessions[0]) == 0
    out = capsys.readouterr().out
    for word in ("Session analysis", "proficiency", "Tool calls", "User", "request style"):
        assert word in out
    document = read(capsys, "analyze", sessions[0])
    assert document["analysis"]["session_id"] == f"hermes:{sessions[0]}"


def test_profile_shows_the_error_rate_with_its_interval(
    sessions: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert warm("profile", f"hermes:{sessions[0]}") == 0
    assert "error rate" in capsys.readouterr().out
    rate = read(capsys, "profile", sessions[0])["profile"]["rate"]
    assert rate["low"] <= (rate["rate"] or 0.0) <= rate["high"]


def test_every_session_can_be_analysed_and_profiled(
    sessions: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    for session in sessions:
        for command in ("analyze", "profile"):
            assert warm(command, session) == 0
            assert capsys.readouterr().out


def test_compress_check_tells_compacted_sessions_from_others(
    workspace: Workspace, capsys: pytest.CaptureFixture[str]
) -> None:
    found = list(workspace.read_sessions(Selection(source="hermes"), ReadLog()))
    for is_compacted, words in ((True, "mean change"), (False, "never compacted")):
        session = next(one for one in found if bool(one.compactions) is is_compacted)
        assert warm("compress-check", session.native_id) == 0
        assert words in capsys.readouterr().out
        report = read(capsys, "compress-check", session.native_id)["report"]
        assert bool(report["events"]) is is_compacted


def test_compare_gives_a_verdict_and_both_rates(
    sessions: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert warm("compare", sessions[0], sessions[1]) == 0
    out = capsys.readouterr().out
    assert "inconclusive" in out
    assert f"B {sessions[1]}" in out
    document = read(capsys, "compare", sessions[0], sessions[1])["comparison"]
    assert document["verdict"] == "inconclusive"
    assert "tool_sums" not in document["first"]


@pytest.mark.parametrize("command", ["create-template", "extract"])
def test_one_session_becomes_a_draft_under_a_readable_name(
    sessions: list[str], capsys: pytest.CaptureFixture[str], command: str
) -> None:
    words = (command, sessions[0], "--name", "Code Review!", "--description", "for reviews")
    assert warm(*words) == 0
    out = capsys.readouterr().out
    assert "code-review: saved as version 1 (draft)" in out
    assert "warmstart template approve code-review" in out
    again = read(capsys, *words)
    assert (again["is_new"], again["template"]["state"]) == (False, "draft")


def test_a_template_without_a_name_is_called_after_its_session(
    sessions: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    made = read(capsys, "create-template", sessions[0])
    assert made["template"]["name"].startswith("hermes-")


def test_build_mines_sessions_and_says_what_was_left_out(
    workspace: Workspace, capsys: pytest.CaptureFixture[str]
) -> None:
    del workspace
    words = ("build", "Shop", "--min-messages", "20", "--tags", "shop, tests", "--source", "all")
    assert warm(*words) == 0
    out = capsys.readouterr().out
    assert "shop: saved as version 1 (draft)" in out
    assert "qualify" in out
    again = read(capsys, "build", "--name", "shop", "--min-messages", "20")
    assert again["sessions"] >= 1
    listed = {row["name"]: row for row in read(capsys, "list")["templates"]}
    assert listed["shop"]["state"] == "draft"


def test_build_from_nothing_says_why(
    workspace: Workspace, capsys: pytest.CaptureFixture[str]
) -> None:
    del workspace
    assert warm("build", "shop", "--source-filter", "nobody") == 2
    assert "no session qualifies" in capsys.readouterr().err


@pytest.mark.parametrize("command", ["list", "list-templates"])
def test_templates_are_listed_with_their_record(
    hermes: RecordingContext, capsys: pytest.CaptureFixture[str], command: str
) -> None:
    hermes.begin()
    assert warm(command) == 0
    out = capsys.readouterr().out
    assert "fix-tests@1  approved" in out
    assert "used 1 times, no outcome known yet" in out
    assert read(capsys, command)["templates"][0]["uses"] == 1


def test_a_record_is_shown_with_its_interval(
    hermes: RecordingContext, workspace: Workspace, capsys: pytest.CaptureFixture[str]
) -> None:
    from warmstart.app.starts import find_start
    from warmstart.app.templates import open_library

    hermes.begin()
    start = find_start(workspace, "hermes", "s-1")
    assert start is not None
    with open_library(workspace) as library:
        library.require_db().settle_start(start.id, "hermes:s-1", 4, 1, success=True)
    assert warm("list") == 0
    assert "100% success (21%-100%, 1 settled)" in capsys.readouterr().out


def test_an_empty_library_says_how_to_fill_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("WARMSTART_HOME", str(tmp_path / "none"))
    assert warm("list") == 0
    assert "hermes warm build" in capsys.readouterr().out
    assert not (tmp_path / "none").exists()


def test_test_shows_every_message_a_session_would_start_with(
    workspace: Workspace, capsys: pytest.CaptureFixture[str]
) -> None:
    del workspace
    assert warm("test", "fix-tests", "Fix the cart") == 0
    out = capsys.readouterr().out
    assert out.index("[system]") < out.index("\ncall ") < out.index("[tool]")
    assert out.rstrip().endswith("Fix the cart")
    small = read(capsys, "test", "fix-tests@1", "Fix the cart", "--budget", "120")
    assert small["test"]["tokens"] <= 120
    assert small["test"]["messages"][-1] == {"role": "user", "content": "Fix the cart"}


def test_a_draft_is_tested_only_when_it_is_asked_for_unreviewed(
    workspace: Workspace, capsys: pytest.CaptureFixture[str]
) -> None:
    with open_library(workspace) as library:
        library.save(make_template("mine"), state=TemplateState.DRAFT)
    assert warm("test", "mine", "Fix the cart") == 2
    refused = capsys.readouterr()
    assert refused.out == ""
    assert "warmstart template approve mine@1" in refused.err
    assert warm("test", "mine", "Fix the cart", "--unreviewed") == 0
    assert "unreviewed: mine@1 is a draft" in capsys.readouterr().err


def test_a_deleted_template_is_gone(
    workspace: Workspace, capsys: pytest.CaptureFixture[str]
) -> None:
    del workspace
    assert warm("delete", "fix-tests") == 0
    assert "deleted fix-tests" in capsys.readouterr().out
    assert read(capsys, "list")["templates"] == []
    assert warm("delete", "fix-tests") == 3


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (("analyze", "nobody-has-this"), 3),
        (("test", "no-such-template", "hi"), 3),
        (("delete", "../etc"), 6),
        (("compare", "nobody", "else"), 3),
    ],
)
def test_what_cannot_be_done_has_its_own_exit_code(
    workspace: Workspace, capsys: pytest.CaptureFixture[str], words: tuple[str, ...], code: int
) -> None:
    del workspace
    assert warm(*words) == code
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.startswith("hermes warm: ")


def test_a_failed_command_ends_hermes_with_its_code(hermes: RecordingContext) -> None:
    parser = argparse.ArgumentParser()
    command = hermes.commands["warm"]
    command["setup_fn"](parser)
    with pytest.raises(SystemExit) as ended:
        command["handler_fn"](parser.parse_args(["delete", "nothing"]))
    assert ended.value.code == 3
    assert command["handler_fn"](parser.parse_args(["list"])) is None


def test_a_home_that_cannot_be_read_is_an_error_and_no_traceback(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("WARMSTART_HOME", str(workspace.home / "store.db"))
    assert warm("delete", "fix-tests") != 0
    assert capsys.readouterr().err.startswith("hermes warm: ")


@pytest.mark.parametrize("number", ["0", "-3", "x"])
def test_counts_must_be_above_zero(number: str) -> None:
    with pytest.raises(SystemExit) as ended:
        warm("build", "x", "--min-messages", number)
    assert ended.value.code == 2


@pytest.mark.parametrize("form", [(), ("--json",)])
def test_a_reader_that_is_gone_ends_the_command_without_a_word(
    workspace: Workspace, form: tuple[str, ...]
) -> None:
    del workspace
    code = (
        "import argparse, sys\n"
        "from warmstart.integrations.hermes.commands import add_arguments, run_command\n"
        "parser = argparse.ArgumentParser()\nadd_arguments(parser)\n"
        "run_command(parser.parse_args(sys.argv[1:]))\n"
    )
    reader, writer = os.pipe()
    os.close(reader)
    done = subprocess.run(
        [sys.executable, "-c", code, "list", *form],
        stdout=writer, stderr=subprocess.PIPE, text=True, check=False,
    )  # fmt: skip
    os.close(writer)
    assert (done.returncode, done.stderr) == (141, "")


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_progress_is_for_a_terminal_alone_and_leaves_nothing(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    del workspace
    shown = Terminal()
    monkeypatch.setattr("sys.stderr", shown)
    assert warm("build", "shop", "--min-messages", "20") == 0
    assert "14 of 14 read" in shown.getvalue()
    assert shown.getvalue().endswith("\r\x1b[K")


def test_what_could_not_be_read_is_said_on_stderr_and_counted(
    workspace: Workspace,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    from support.hermes_db import answers, asks, make_database, user

    del workspace
    rows = [user("hi"), asks(("c1", "terminal", {"command": "ls"})), answers("c1", "a")]
    broken = {"role": "assistant", "content": "x", "tool_calls": "{broken"}
    make_database(tmp_path / "h" / "state.db", {"s0": [*rows, broken]})
    monkeypatch.setenv("HERMES_HOME", str(tmp_path / "h"))
    assert warm("analyze", "s0", "--json") == 0
    captured = capsys.readouterr()
    assert sum(json.loads(captured.out)["skipped"].values()) == 1
    assert captured.err


def test_text_of_a_transcript_cannot_command_the_terminal() -> None:
    from warmstart.integrations.hermes.printing import make_safe, make_table, shorten

    assert make_safe("a\x1b[2Jb\n\u202ec") == "a\\x1b[2Jb\n\\x202ec"
    assert shorten("one\n two " + "x" * 300).startswith("one two x")
    assert "\x1b" not in "".join(make_table(("A", "B"), [["\x1b[31m", "2"]]))


def test_a_terminal_that_knows_no_unicode_gets_question_marks_and_json_stays_whole(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from warmstart.integrations.hermes.printing import print_document, print_lines

    stream = io.TextIOWrapper(io.BytesIO(), encoding="ascii")
    monkeypatch.setattr("sys.stdout", stream)
    print_lines(["Ärger…"])
    print_document({"a": "Ärger"})
    first, second = stream.buffer.getvalue().splitlines()  # type: ignore[attr-defined] # a BytesIO
    assert first == b"?rger?"
    assert json.loads(second) == {"schema_version": 1, "a": "Ärger"}
