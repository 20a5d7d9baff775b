"""The one seam to the official package, whose two generations name the same things differently."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from warmstart.errors import UsageError

INSTALL_HINT = "pip install mcp"


def _load(*modules: str) -> Any:
    """The first of the modules that this generation has."""
    for name in modules:
        try:
            return import_module(name)
        except ImportError as error:
            missing = error
    raise UsageError("the mcp package is not installed", hint=INSTALL_HINT) from missing


_server = _load("mcp.server.mcpserver", "mcp.server.fastmcp")
_prompts = _load("mcp.server.mcpserver.prompts.base", "mcp.server.fastmcp.prompts.base")
_errors = _load("mcp.server.mcpserver.exceptions", "mcp.server.fastmcp.exceptions")
_types = _load("mcp.types")

Server: Any = getattr(_server, "MCPServer", None) or _server.FastMCP
"""The high-level server class."""
Prompt: Any = _prompts.Prompt
ToolError: Any = _errors.ToolError
"""Raised in a tool, it becomes a result that is flagged as an error."""
ToolAnnotations: Any = _types.ToolAnnotations
