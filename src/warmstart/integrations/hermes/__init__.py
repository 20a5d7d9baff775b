"""The plugin of Hermes Agent: sessions start warm, and what came of them is written down.

Hermes finds it through the entry point ``hermes_agent.plugins`` and calls ``register``. Hermes
starts often, so importing and registering load nothing but this package and the schema of the
tool; libraries, stores and stages are loaded by the first session or command that needs them.
What the warm-up is stays out of Hermes' own database: it is put into each request on its way to
the model. Nothing here may break a session: what goes wrong is logged once, and the session is
cold.
"""

from __future__ import annotations

from typing import Any, Protocol


class Context(Protocol):
    """What is used of the object Hermes hands to a plugin."""

    def register_tool(self, **fields: Any) -> None:
        """Offer a tool to the model."""

    def register_cli_command(self, **fields: Any) -> None:
        """Add a command to ``hermes``."""

    def register_hook(self, hook_name: str, callback: Any) -> None:
        """Listen to what happens."""

    def register_middleware(self, kind: str, callback: Any) -> None:
        """Change a request on its way."""


def register(ctx: Context) -> None:
    """Called by Hermes once, when it has the plugin enabled."""
    from warmstart.integrations.hermes.commands import (  # noqa: PLC0415 - only inside Hermes
        add_arguments,
        run_command,
    )
    from warmstart.integrations.hermes.hooks import Hooks  # noqa: PLC0415 - same
    from warmstart.integrations.hermes.middleware import Middleware  # noqa: PLC0415 - same
    from warmstart.integrations.hermes.sessions import Sessions  # noqa: PLC0415 - same
    from warmstart.integrations.hermes.tool import register_tool  # noqa: PLC0415 - same

    sessions = Sessions()
    hooks = Hooks(sessions)
    register_tool(ctx)
    ctx.register_cli_command(
        name="warm",
        help="Start sessions from templates of what worked",
        setup_fn=add_arguments,
        handler_fn=run_command,
        description="Templates of past sessions that went well, and how sessions went.",
    )
    ctx.register_middleware("llm_request", Middleware(sessions).rewrite)
    for name, callback in hooks.table().items():
        ctx.register_hook(name, callback)


__all__ = ["Context", "register"]
