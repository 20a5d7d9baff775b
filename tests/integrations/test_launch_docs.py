"""The page on agents: each of them is four commands away. The lines are run by tests/test_docs.py."""

from __future__ import annotations

from pathlib import Path

import pytest

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "agents.md").read_text("utf-8")


@pytest.mark.parametrize("agent", ["Claude Code", "Codex", "Hermes"])
def test_each_agent_is_four_commands_away(agent: str) -> None:
    section = PAGE.partition(f"\n## {agent}\n")[2]
    first = section.partition("```sh\n")[2].partition("```")[0].splitlines()
    assert first[0] == "pip install ."
    assert len(first) == 4
    assert first[2] == "warmstart template approve my-work@1"
    assert first[3].startswith("warmstart run --template my-work ")
