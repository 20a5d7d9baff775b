"""The page about Hermes says what the plugin does."""

from __future__ import annotations

import re
from dataclasses import fields
from pathlib import Path

from warmstart.integrations.hermes.actions import ACTIONS
from warmstart.integrations.hermes.settings import HermesConfig
from warmstart.tool.schema import ACTIONS as TOOL_ACTIONS

PAGE = (Path(__file__).resolve().parents[3] / "docs" / "agents-hermes.md").read_text()


def test_every_command_is_on_the_page_and_no_other() -> None:
    assert set(re.findall(r"hermes warm ([a-z-]+)", PAGE)) == set(ACTIONS)


def test_every_setting_stands_there_with_its_default() -> None:
    for field in fields(HermesConfig):
        default = str(field.default).lower() if field.type == "bool" else f'"{field.default}"'
        assert re.search(rf"^{field.name} = {re.escape(default)}\s", PAGE, re.MULTILINE)


def test_every_action_of_the_tool_is_named() -> None:
    assert all(f"`{action}`" in PAGE for action in TOOL_ACTIONS)
