"""A launch from the command line to the agent: what it gets, what is written down, what is said."""

from __future__ import annotations

import io
import json
import os
import stat
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from support.launching import MESSAGE, SESSION_ID, make_host, make_template
from warmstart.app import Workspace
from warmstart.app.starts import hash_message
from warmstart.app.templates import open_library
from warmstart.errors import NotFoundError
from warmstart.integrations.launch import LaunchOptions, LaunchPlan, plan_launch, run_plan
from warmstart.integrations.launch_parts import Host
from warmstart.model.template import TemplateState
from warmstart.model.warmup import Arm
from warmstart.store import RecordedStart

AGENT = f"""#!{sys.executable}
import json, os, pathlib, sys
seeds = [str(p) for p in pathlib.Path(os.environ["ROOT"]).rglob("*.jsonl")]
prefill = os.environ.get("HERMES_PREFILL_MESSAGES_FILE") or os.environ.get("WARMSTART_WARMUP_FILE")
report = {{"argv": sys.argv[1:], "seeds": seeds, "started": os.environ.get("WARMSTART_STARTED"),
          "file": pathlib.Path(prefill).read_text() if prefill else None,
          "stdin": sys.stdin.read()}}
pathlib.Path(os.environ["ROOT"], "report.json").write_text(json.dumps(report))
sys.exit(7)
"""


@pytest.fixture
def workspace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Workspace:
    monkeypatch.delenv("WARMSTART_STORE", raising=False)
    monkeypatch.setenv("WARMSTART_WARM_HOLDOUT", "0")
    found = Workspace(tmp_path / "ws")
    with open_library(found) as library:
        library.save(make_template(), state=TemplateState.APPROVED)
    return found


@pytest.fixture
def host(tmp_path: Path) -> Host:
    programs = tmp_path / "bin"
    programs.mkdir()
    for name in ("claude", "codex", "hermes", "my-agent"):
        (programs / name).write_text(AGENT)
        (programs / name).chmod(0o755)
    environ = {"PATH": str(programs), "ROOT": str(tmp_path)}
    return make_host(tmp_path, environ=environ)


def plan(workspace: Workspace, host: Host, *command: str, **options: Any) -> LaunchPlan:
    return plan_launch(workspace, command, LaunchOptions(**options), host)


def run(workspace: Workspace, plan: LaunchPlan) -> dict[str, Any]:
    """What the agent saw."""
    said: list[str] = []
    with open(os.devnull, "rb") as nothing:  # noqa: PTH123 - no path, a device
        before = os.dup(0)
        os.dup2(nothing.fileno(), 0)
        try:
            assert run_plan(workspace, plan, said.append) == 7
        finally:
            os.dup2(before, 0)
            os.close(before)
    report: dict[str, Any] = json.loads(Path(plan.environ["ROOT"], "report.json").read_text())
    return report | {"said": said}


def list_starts(workspace: Workspace) -> list[RecordedStart]:
    with open_library(workspace) as library:
        return library.require_db().list_starts()


def test_claude_code_goes_on_with_a_seed_that_is_gone_after(
    workspace: Workspace, host: Host
) -> None:
    made = plan(workspace, host, "claude", "-p", MESSAGE)
    seen = run(workspace, made)
    assert made.sentence.startswith("warm: fix-cart@1, about ")
    assert made.sentence.endswith("1 example call")
    (seed,) = seen["seeds"]
    assert seen["argv"][:3] == ["--resume", Path(seed).stem, "--fork-session"]
    assert not Path(seed).exists()
    assert seen["started"] == "claude_code"


def test_codex_goes_on_with_a_rollout(workspace: Workspace, host: Host) -> None:
    seen = run(workspace, plan(workspace, host, "codex", "exec", MESSAGE))
    assert seen["argv"] == ["exec", "resume", SESSION_ID, MESSAGE]
    assert SESSION_ID in seen["seeds"][0]


def test_hermes_reads_examples_of_its_own_tools_alone(workspace: Workspace, host: Host) -> None:
    seen = run(workspace, plan(workspace, host, "hermes", "chat", "-q", MESSAGE))
    assert '"terminal"' in seen["file"]
    assert "exec_command" not in seen["file"]
    assert list((workspace.home / "launch").iterdir()) == []


def test_the_start_is_written_down_with_template_and_arm(workspace: Workspace, host: Host) -> None:
    made = plan(workspace, host, "claude", "--model", "opus", "-p", MESSAGE)
    (start,) = list_starts(workspace)
    assert (start.id, start.arm, start.template, start.version) == (
        made.start, Arm.WARM, "fix-cart", 1,
    )  # fmt: skip
    assert (start.agent, start.form, start.native_id) == (
        "claude_code", "claude-session", SESSION_ID,
    )  # fmt: skip
    assert (start.model, start.cwd) == ("opus", host.cwd)


def test_a_share_is_held_out_and_starts_like_any_cold_session(
    workspace: Workspace, host: Host, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WARMSTART_WARM_HOLDOUT", "1")
    made = plan(workspace, host, "claude", "-p", MESSAGE)
    (start,) = list_starts(workspace)
    assert (start.arm, start.template) == (Arm.HOLDOUT, "fix-cart")
    assert made.launch.seeds == ()
    assert made.command[1:] == ("--session-id", SESSION_ID, "-p", MESSAGE)


def test_cold_is_cold_and_written_down(workspace: Workspace, host: Host) -> None:
    made = plan(workspace, host, "hermes", "chat", "-q", MESSAGE, cold=True)
    (start,) = list_starts(workspace)
    assert (start.arm, start.template, start.id) == (Arm.COLD, None, made.start)
    assert run(workspace, made)["file"] is None


def test_what_nothing_fits_starts_cold_with_the_reason(workspace: Workspace, host: Host) -> None:
    made = plan(workspace, host, "codex", "exec", "write a poem about autumn")
    assert made.sentence.startswith("cold: ")
    assert made.command[1:] == ("exec", "write a poem about autumn")
    assert list_starts(workspace)[0].arm is Arm.COLD


@pytest.mark.parametrize("damage", ["store", "template", "config", "name"])
def test_whatever_is_broken_the_command_runs(damage: str, workspace: Workspace, host: Host) -> None:
    if damage == "store":
        for path in workspace.home.glob("*.db*"):
            path.write_bytes(b"this is no database" * 100)
    if damage == "template":
        next((workspace.home / "templates").rglob("*.json")).write_text("{}")
    if damage == "config":
        (workspace.home / "config.toml").write_text("[warm]\nbudget = 'much'\n")
    name = "no-such" if damage == "name" else "auto"
    made = plan(workspace, host, "hermes", "chat", "-q", MESSAGE, template=name)
    assert made.sentence.startswith("cold: ")
    assert "\n" not in made.sentence
    assert run(workspace, made)["argv"] == ["chat", "-q", MESSAGE]


def test_a_folder_that_cannot_be_written_to_is_found_out_before(
    workspace: Workspace, host: Host, tmp_path: Path
) -> None:
    (tmp_path / "user").write_text("a file where a folder should be")
    made = plan(workspace, host, "claude", "-p", MESSAGE)
    assert made.sentence.startswith("cold: ")
    assert list_starts(workspace) == []


def test_a_file_that_cannot_be_written_after_all_costs_the_warm_up_alone(
    workspace: Workspace, host: Host
) -> None:
    made = plan(workspace, host, "claude", "-p", MESSAGE)
    made.launch.seeds[0].path.write_text("somebody was here")
    seen = run(workspace, made)
    assert seen["argv"] == ["--session-id", SESSION_ID, "-p", MESSAGE]
    assert seen["said"][0].startswith("cold: ")


def test_what_starts_no_session_is_passed_through_untouched(
    workspace: Workspace, host: Host
) -> None:
    made = plan(workspace, host, "claude", "mcp", "list")
    assert (made.command[1:], made.sentence, made.arm) == (("mcp", "list"), "", None)
    assert list_starts(workspace) == []


def test_a_program_that_is_not_there_is_an_error(workspace: Workspace, host: Host) -> None:
    with pytest.raises(NotFoundError):
        plan(workspace, host, "no-such-agent")


def test_without_a_message_the_hook_or_a_name_decides(workspace: Workspace, host: Host) -> None:
    waiting = plan(workspace, host, "claude", budget=700)
    assert "--settings" in waiting.command
    assert waiting.launch.environ == {"WARMSTART_WARM_BUDGET": "700"}
    assert "WARMSTART_STARTED" not in waiting.environ
    assert list_starts(workspace) == []
    cold = plan(workspace, host, "codex")
    assert cold.sentence == "cold: no message to choose by; --template NAME needs none"
    named = plan(workspace, host, "codex", template="fix-cart")
    assert named.command[1:] == ("resume", SESSION_ID)


def test_what_a_session_is_about_is_not_what_it_begins_with(
    workspace: Workspace, host: Host
) -> None:
    made = plan(workspace, host, "hermes", "chat", "-q", "go", message=MESSAGE)
    plan(workspace, host, "hermes", "chat", message=MESSAGE)
    assert made.arm is Arm.WARM
    hashes = [start.message_hash for start in list_starts(workspace)]
    assert hashes == [hash_message("go"), hash_message("")]


def test_a_message_on_stdin_is_read_and_still_there(workspace: Workspace, host: Host) -> None:
    stdin = io.BytesIO(MESSAGE.encode() + b"\n")
    made = plan_launch(workspace, ("claude", "-p"), LaunchOptions(), host, stdin)
    assert made.arm is Arm.WARM
    seen = run(workspace, made)
    assert seen["stdin"] == f"{MESSAGE}\n"


def test_a_session_that_was_started_here_is_resumed_as_it_is(
    workspace: Workspace, host: Host
) -> None:
    plan(workspace, host, "claude", "-p", MESSAGE)
    again = plan(workspace, host, "claude", "--resume", SESSION_ID, MESSAGE)
    assert again.command[1:] == ("--resume", SESSION_ID, MESSAGE)
    assert len(list_starts(workspace)) == 1


def test_a_look_writes_nothing(workspace: Workspace, host: Host, tmp_path: Path) -> None:
    before = sorted(tmp_path.rglob("*"))
    made = plan(workspace, host, "claude", "-p", MESSAGE, dry_run=True)
    assert made.launch.seeds
    assert plan(workspace, host, "claude", "-p", MESSAGE, dry_run=True, cold=True).start is None
    assert [path for path in sorted(tmp_path.rglob("*")) if ".db" not in path.name] == [
        path for path in before if ".db" not in path.name
    ]
    assert list_starts(workspace) == []


def test_another_command_gets_a_file_of_the_form_asked_for(
    workspace: Workspace, host: Host
) -> None:
    options = {"form": "text", "message": MESSAGE}
    made = plan(workspace, host, "my-agent", "--context={warmup}", "go", **options)
    seen = run(workspace, made)
    assert "pytest -q" in seen["file"]
    assert seen["argv"] == [f"--context={made.launch.seeds[0].path}", "go"]
    assert list_starts(workspace)[0].agent == "my-agent"


@pytest.mark.parametrize("form", ["text", ""])
@pytest.mark.parametrize(
    "options", [{}, {"cold": True}, {"template": "fix-cart"}, {"template": "x"}]
)
def test_with_a_home_that_cannot_be_written_the_file_is_empty(
    form: str, options: dict[str, Any], host: Host, tmp_path: Path
) -> None:
    (tmp_path / "file").write_text("")
    workspace = Workspace(tmp_path / "file" / "ws")
    host = replace(host, home=workspace.home)
    words = ("my-agent", "--context={warmup}", "{warmup}")
    made = plan(workspace, host, *words, form=form, message=MESSAGE, **options)
    seen = run(workspace, made)
    assert seen["argv"] == [f"--context={os.devnull}", os.devnull]
    assert seen["file"] == ""
    assert len([*seen["said"], made.sentence]) == 1
    assert made.sentence.startswith("cold: ")


def test_a_placeholder_without_a_form_names_an_empty_file(workspace: Workspace, host: Host) -> None:
    made = plan(workspace, host, "my-agent", "{warmup}")
    seen = run(workspace, made)
    assert seen["file"] == ""
    assert seen["argv"] == [str(made.launch.seeds[0].path)]


def test_another_command_without_a_form_starts_cold(workspace: Workspace, host: Host) -> None:
    made = plan(workspace, host, "my-agent", "go", message=MESSAGE)
    assert "--as text" in made.sentence
    assert run(workspace, made)["argv"] == ["go"]
    assert list_starts(workspace) == []


def test_a_cold_start_of_another_command_has_an_empty_file(
    workspace: Workspace, host: Host
) -> None:
    options = {"form": "text", "message": "write a poem about autumn"}
    assert run(workspace, plan(workspace, host, "my-agent", "go", **options))["file"] == ""


def test_an_agent_under_another_name_is_told_by_the_user(workspace: Workspace, host: Host) -> None:
    made = plan(workspace, host, "my-agent", "chat", "-q", MESSAGE, agent="hermes")
    assert "HERMES_PREFILL_MESSAGES_FILE" in made.launch.environ


def test_seeds_are_private(workspace: Workspace, host: Host) -> None:
    made = plan(workspace, host, "codex", "exec", MESSAGE)
    run(workspace, made)
    folder = made.launch.seeds[0].path.parent
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
