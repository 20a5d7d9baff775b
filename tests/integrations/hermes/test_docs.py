"""The page about Hermes says what the plugin does."""

from __future__ import annotations

import re
from dataclasses import fields
from pathlib import Path

from warmstart.cli.main import COMMANDS
from warmstart.integrations.hermes.commands import OLDER
from warmstart.integrations.hermes.settings import HermesConfig
from warmstart.tool.schema import ACTIONS as TOOL_ACTIONS

PAGE = (Path(__file__).resolve().parents[3] / "docs" / "agents-hermes.md").read_text()


def test_every_older_word_is_on_the_page_and_every_command_there_exists() -> None:
    named = set(re.findall(r"hermes warm ([a-z-]+)", PAGE))
    assert named >= set(OLDER)
    assert named <= {*OLDER, *COMMANDS}


def test_every_setting_stands_there_with_its_default() -> None:
    for field in fields(HermesConfig):
        default = str(field.default).lower() if field.type == "bool" else f'"{field.default}"'
        assert re.search(rf"^{field.name} = {re.escape(default)}\s", PAGE, re.MULTILINE)


def test_every_action_of_the_tool_is_named() -> None:
    assert all(f"`{action}`" in PAGE for action in TOOL_ACTIONS)
