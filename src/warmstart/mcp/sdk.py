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
_protocol = _load("mcp.shared.exceptions")

Server: Any = getattr(_server, "MCPServer", None) or _server.FastMCP
"""The high-level server class."""
Prompt: Any = _prompts.Prompt
ToolError: Any = _errors.ToolError
"""Raised in a tool, it becomes a result that is flagged as an error."""
ResourceError: Any = _errors.ResourceError
ToolAnnotations: Any = _types.ToolAnnotations
INVALID_PARAMS = -32602


def make_error(message: str) -> Exception:
    """An error that a client gets as it is, and that is not logged as a fault of the server."""
    newer = getattr(_protocol, "MCPError", None)
    if newer is not None:
        error: Exception = newer(INVALID_PARAMS, message)
        return error
    data = _types.ErrorData(code=INVALID_PARAMS, message=message)
    older: Exception = _protocol.McpError(data)
    return older
