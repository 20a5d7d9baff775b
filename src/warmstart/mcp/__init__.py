"""warmstart as an MCP server: the tool's actions as tools, templates as prompts and resources.

Needs the official ``mcp`` package (1.26 to 2.x): ``pip install mcp``.
"""

from warmstart.mcp.http import HOST, PATH, make_token, serve_http
from warmstart.mcp.server import open_server, serve_stdio

__all__ = ["HOST", "PATH", "make_token", "open_server", "serve_http", "serve_stdio"]
