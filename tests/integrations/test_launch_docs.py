"""The page on agents: every command on it can be typed."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import click
import pytest

from warmstart.cli.main import cli

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "agents.md").read_text("utf-8")
BLOCKS = re.findall(r"```sh\n(.*?)```", PAGE, re.DOTALL)
LINES = [line for block in BLOCKS for line in block.splitlines()]


def parse(words: list[str]) -> None:
    """Read a command line to its last word, as click does before running it."""
    command: click.Command = cli
    context = click.Context(cli)
    while isinstance(command, click.Group):
        name = words.pop(0)
        found = command.get_command(context, name)
        assert found is not None, name
        command = found
    command.make_context("warmstart", words)


@pytest.mark.parametrize("line", LINES)
def test_every_line_is_a_command_there_is(line: str) -> None:
    _, found, arguments = line.rpartition("warmstart ")
    if found:
        parse(shlex.split(arguments))
    else:
        assert line == "pip install warmstart"


@pytest.mark.parametrize("agent", ["Claude Code", "Codex", "Hermes"])
def test_each_agent_is_four_commands_away(agent: str) -> None:
    section = PAGE.partition(f"\n## {agent}\n")[2]
    first = section.partition("```sh\n")[2].partition("```")[0].splitlines()
    assert first[0] == "pip install warmstart"
    assert len(first) == 4
    assert first[2] == "warmstart template approve my-work@1"
    assert first[3].startswith("warmstart run --template my-work ")
