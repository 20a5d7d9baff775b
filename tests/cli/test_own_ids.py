"""Ids, digests and figures of ours are no secrets: none is masked in what commands print as JSON."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from support.machines import invoke, set_machine
from warmstart.app import Workspace
from warmstart.samples import samples_path
from warmstart.tool import run_tool

MASKED = "<SECRET:"
SAMPLES = {"claude_code": ".claude", "codex": ".codex", "gemini": ".gemini", "hermes": ".hermes"}


@pytest.fixture(scope="module")
def machine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A machine whose agents left the sample sessions, with templates made of them."""
    home = tmp_path_factory.mktemp("machine")
    for agent, folder in SAMPLES.items():
        shutil.copytree(samples_path() / agent, home / folder)
    with pytest.MonkeyPatch.context() as patch:
        set_machine(patch, home)
        for name in ("shop", "again"):
            assert invoke("template", "build", "--name", name, "--min-messages", 10).exit_code == 0
        assert invoke("template", "approve", "shop@1", "--yes").exit_code == 0
        assert invoke("sessions", "import", samples_path() / "openai_chat").exit_code == 0
        yield home


def list_ids() -> list[str]:
    listed = json.loads(invoke("sessions", "list", "--all", "--json").stdout)
    return [row["id"] for row in listed["sessions"]]


COMMANDS = {
    "doctor": ["doctor"],
    "formats": ["doctor", "--formats"],
    "list": ["sessions", "list", "--all"],
    "search": ["sessions", "search", "the"],
    "verify": ["sessions", "verify"],
    "profile": ["profile"],
    "compaction": ["profile", "compaction"],
    "compare": ["compare", "agent=hermes", "agent=claude_code"],
    "rebuild": ["facts", "rebuild"],
    "status": ["facts", "status"],
    "templates": ["template", "list"],
    "dataset": ["template", "dataset", "--all", "--sessions"],
    "diff": ["template", "diff", "shop@1", "again@1"],
    "template": ["template", "show", "shop@1"],
    "template test": ["template", "test", "shop@1", "fix the tests"],
    "validate": ["template", "verify"],
    "versions": ["template", "versions", "shop"],
    "warm": ["warm", "fix the tests of the shop"],
    "sync": ["sync"],
    "experiments": ["experiment", "list"],
    "demo": ["demo"],
}


@pytest.mark.parametrize("name", COMMANDS)
def test_no_command_masks_anything_of_ours(machine: Path, name: str) -> None:
    del machine
    lines = [*COMMANDS[name]] if name == "dataset" else [*COMMANDS[name], "--json"]
    done = invoke(*lines)
    assert done.exit_code == 0, done.stderr
    assert done.stdout.strip()
    assert MASKED not in done.stdout


def test_every_session_is_profiled_and_compared_under_its_own_id(machine: Path) -> None:
    del machine
    ids = list_ids()
    assert len(ids) > 30
    for one, two in zip(ids, [*ids[1:], ids[0]], strict=True):
        told = invoke("profile", one, "--json").stdout
        assert json.loads(told)["profile"]["session_id"] == one
        compared = invoke("compare", one, two, "--json").stdout
        assert one in compared
        assert MASKED not in told + compared


@pytest.mark.parametrize("action", ["profile", "compress-check", "compare", "list", "select"])
def test_the_tool_answers_with_the_ids_it_was_asked_for(machine: Path, action: str) -> None:
    workspace = Workspace(machine / "ws")
    for one in [name for name in list_ids() if name.startswith("hermes")]:
        answer = ask(workspace, action, one)
        assert answer["success"], answer
        assert MASKED not in json.dumps(answer)


def test_a_compaction_names_the_session_it_happened_in(machine: Path) -> None:
    workspace = Workspace(machine / "ws")
    seen = []
    for one in list_ids():
        for event in ask(workspace, "compress-check", one)["report"]["events"]:
            assert one in (event["session"], event["child"])
            seen.append(event["session"])
    assert set(seen) <= set(list_ids())
    assert seen


def ask(workspace: Workspace, action: str, session: str) -> dict[str, Any]:
    wanted = {"session_id": session, "compare_with": session, "message": "fix the shop"}
    return run_tool({"action": action, **wanted}, workspace)
