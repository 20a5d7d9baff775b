"""``warm_session`` for Hermes' model: the shared schema, and answers as JSON text."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from warmstart.tool import DESCRIPTION, TOOL_NAME, parameters

if TYPE_CHECKING:
    from warmstart.integrations.hermes import Context

TOOLSET = "warmstart"


def register_tool(ctx: Context) -> None:
    """Offer the tool; Hermes takes name, description and parameters side by side."""
    ctx.register_tool(
        name=TOOL_NAME,
        toolset=TOOLSET,
        schema={"name": TOOL_NAME, "description": DESCRIPTION, "parameters": parameters()},
        handler=answer,
        description=DESCRIPTION.partition("\n")[0],
        emoji="\N{FIRE}",
    )


def answer(args: Mapping[str, Any] | str, **_: Any) -> str:
    """What the model gets back; a request that cannot be met is an answer too."""
    from warmstart.tool import run_tool_text  # noqa: PLC0415 - only when it is called

    return run_tool_text(args)


__all__ = ["TOOLSET", "answer", "register_tool"]
