"""``hermes warm …``: the commands of warmstart, also by the words of older versions."""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from typing import Any

import pytest

from support.hermes_plugin import RecordingContext
from support.warming import make_template
from warmstart.app import Workspace
from warmstart.app.templates import open_library
from warmstart.cli.main import COMMANDS
from warmstart.integrations.hermes.commands import OLDER, add_arguments, run, translate
from warmstart.model.selection import Selection
from warmstart.model.template import TemplateState
from warmstart.sources import ReadLog


def warm(*words: str) -> int:
    parser = argparse.ArgumentParser(prog="hermes warm")
    add_arguments(parser)
    return run(parser.parse_args(words))


def read(capsys: pytest.CaptureFixture[str], *words: str) -> dict[str, Any]:
    assert warm(*words, "--json") == 0
    document: dict[str, Any] = json.loads(capsys.readouterr().out)
    assert document["schema_version"] >= 1
    return document


@pytest.fixture
def sessions(workspace: Workspace) -> list[str]:
    found = workspace.read_sessions(Selection(source="hermes"), ReadLog())
    ids = [session.native_id for session in found if len(session.calls) > 8]
    assert len(ids) > 1
    return ids


@pytest.mark.parametrize("words", [[], ["help"]])
def test_help_lists_every_command_of_ours(
    words: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert warm(*words) == 0
    out = capsys.readouterr().out
    assert out.startswith("Usage: hermes warm")
    assert all(name in out for name in COMMANDS)


@pytest.mark.parametrize("word", sorted(set(OLDER) - {"help"}))
def test_every_older_word_leads_to_a_command_that_helps(
    word: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert warm(word, "x", "--help") == 0
    assert "Usage: hermes warm " in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "ours"),
    [
        ("analyze s1 --json", "profile show s1 --json"),
        ("profile s1", "profile s1"),
        ("compress-check s1", "profile compaction s1"),
        ("extract s1 --name Cart!", "template extract s1 --name cart"),
        ("create-template s1 -d d --json",
         "template extract s1 --name hermes-s1 --description d --json"),
        ("build shop", "template build --name shop --min-messages 30 --source hermes"),
        ("build -n shop --source all --tags a,b --min-messages 9 --max-sessions 3",
         "template build --name shop --min-messages 9 --tag a --tag b --max-sessions 3"),
        ("build --source-filter my-agent",
         "template build --name hermes --min-messages 30 --agent my-agent"),
        ("extract --name cart s1", "template extract --name cart s1"),
        ("list", "template list"),
        ("list-templates --json", "template list --json"),
        ("test shop fix", "template test shop fix"),
        ("delete shop --yes", "template delete shop --yes"),
        ("doctor --json", "doctor --json"),
    ],
)  # fmt: skip
def test_older_words_are_the_same_commands(words: str, ours: str) -> None:
    assert translate(words.split()) == ours.split()


def test_sessions_are_profiled_and_compared(
    sessions: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    for word in ("analyze", "profile"):
        document = read(capsys, word, sessions[0])
        assert sessions[0] in json.dumps(document)
    assert warm("compare", sessions[0], sessions[1]) == 0
    assert capsys.readouterr().out
    assert warm("compress-check", sessions[0]) == 0


@pytest.mark.parametrize("word", ["create-template", "extract"])
def test_one_session_becomes_a_draft_under_a_readable_name(
    sessions: list[str], workspace: Workspace, word: str
) -> None:
    assert warm(word, sessions[0], "--name", "Code Review!", "--description", "for reviews") == 0
    with open_library(workspace, read_only=True) as library:
        found = library.get("code-review")
    assert (found.state, found.template.description) == (TemplateState.DRAFT, "for reviews")


def test_build_mines_the_sessions_of_hermes(workspace: Workspace) -> None:
    assert warm("build", "Shop", "--min-messages", "20", "--tags", "shop, tests") == 0
    with open_library(workspace, read_only=True) as library:
        found = library.get("shop")
    assert {"shop", "tests"} <= set(found.template.tags)


def test_templates_are_listed_tested_and_deleted(
    hermes: RecordingContext, capsys: pytest.CaptureFixture[str]
) -> None:
    hermes.begin()
    (row,) = read(capsys, "list")["templates"]
    assert (row["name"], row["state"]) == ("fix-tests", "approved")
    assert warm("test", "fix-tests", "Fix the cart") == 0
    assert capsys.readouterr().out.startswith("Below are notes and worked examples")
    assert warm("delete", "fix-tests", "--yes") == 0
    capsys.readouterr()
    assert read(capsys, "list-templates")["templates"] == []


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


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (("analyze", "nobody-has-this"), 3),
        (("test", "no-such-template", "hi"), 3),
        (("delete", "../etc", "--yes"), 6),
        (("compare", "nobody", "else"), 3),
        (("no-such-command",), 2),
        (("build", "x", "--min-messages", "x"), 2),
        (("extract",), 2),
    ],
)
def test_what_cannot_be_done_has_its_own_exit_code(
    workspace: Workspace, capsys: pytest.CaptureFixture[str], words: tuple[str, ...], code: int
) -> None:
    del workspace
    assert warm(*words) == code
    captured = capsys.readouterr()
    assert captured.out == ""
    assert "Traceback" not in captured.err
    assert captured.err


def test_a_failed_command_ends_hermes_with_its_code(hermes: RecordingContext) -> None:
    parser = argparse.ArgumentParser()
    command = hermes.commands["warm"]
    command["setup_fn"](parser)
    with pytest.raises(SystemExit) as ended:
        command["handler_fn"](parser.parse_args(["delete", "nothing", "--yes"]))
    assert ended.value.code == 3
    assert command["handler_fn"](parser.parse_args(["list"])) is None


def test_a_reader_that_is_gone_ends_the_command_without_a_word(workspace: Workspace) -> None:
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
        [sys.executable, "-c", code, "list"],
        stdout=writer, stderr=subprocess.PIPE, text=True, check=False,
    )  # fmt: skip
    os.close(writer)
    assert (done.returncode, done.stderr) == (141, "")
