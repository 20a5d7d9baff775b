"""Agents and how warmstart reaches them: settings, hooks, launches, and the plugin of Hermes.

Names are loaded when they are used: a hook runs at every message of a user, and a plugin at every
start of its agent. ``hermes`` and ``openai_agents`` are loaded by the programs they are made for.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from warmstart.integrations.agents import Host, describe, this_host
    from warmstart.integrations.claude_hook import answer_hook
    from warmstart.integrations.install import (
        Done,
        install_agent,
        list_changes,
        uninstall_agent,
    )
    from warmstart.integrations.launch import LaunchOptions, LaunchPlan, plan_launch, run_plan
    from warmstart.integrations.launch_process import clear_leftovers
else:
    from warmstart._lazy import load_on_use

    __getattr__ = load_on_use(
        __name__,
        {
            "agents": ("Host", "describe", "this_host"),
            "claude_hook": ("answer_hook",),
            "install": ("Done", "install_agent", "list_changes", "uninstall_agent"),
            "launch": ("LaunchPlan", "LaunchOptions", "plan_launch", "run_plan"),
            "launch_process": ("clear_leftovers",),
        },
    )  # fmt: skip

__all__ = [
    "Done", "Host", "LaunchOptions", "LaunchPlan", "answer_hook", "clear_leftovers", "describe",
    "install_agent", "list_changes", "plan_launch", "run_plan", "this_host", "uninstall_agent",
]  # fmt: skip
