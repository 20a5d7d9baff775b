"""Options that every profiling command shares: what counts, and as what.

They add to the section ``[profile]`` of the home's ``config.toml``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

import click

if TYPE_CHECKING:
    from warmstart.app import Workspace
    from warmstart.profile.rules import Rules

_Command = TypeVar("_Command", bound=Callable[..., Any])
RULE_NAMES = ("count_trivial", "trivial", "tool_types")
_OPTIONS = (
    click.option("--count-trivial", is_flag=True,
                 help="Count housekeeping tools (todo, memory, clarify ...) in rates too."),
    click.option("--trivial", multiple=True, metavar="TOOL",
                 help="Leave this tool out of rates as well; may be repeated."),
    click.option("--tool-type", "tool_types", multiple=True, metavar="TOOL=TYPE",
                 help="Count TOOL as code, file, research, terminal, browser, meta or other."),
)  # fmt: skip


def rule_options(command: _Command) -> _Command:
    """Give a command the options; ``take_rules`` makes rules of them."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


def take_rules(workspace: Workspace, options: dict[str, Any]) -> Rules:
    """The rules a user asked for; their options are taken out of ``options``.

    Raises:
        UsageError: a tool type is not written TOOL=TYPE, or does not exist.
    """
    from warmstart.app.profiling import load_settings, make_rules  # noqa: PLC0415 - light

    flags = {"count_trivial": options.pop("count_trivial") or None}
    settings = load_settings(workspace, flags)
    return make_rules(settings, options.pop("trivial"), options.pop("tool_types"))
