"""The server over HTTP: on loopback only, and only for requests that carry the token."""

from __future__ import annotations

import secrets
from collections.abc import Awaitable, Callable
from typing import Any

from warmstart.app import Workspace
from warmstart.mcp.server import mask_log, open_server

HOST = "127.0.0.1"
PATH = "/mcp"
_App = Callable[[Any, Any, Any], Awaitable[None]]


def make_token() -> str:
    """A random token of 256 bits."""
    return secrets.token_urlsafe(32)


def open_app(workspace: Workspace, token: str) -> _App:
    """The server as an ASGI application behind its token."""
    app: _App = open_server(workspace).streamable_http_app()
    return require_token(app, token)


def require_token(app: _App, token: str) -> _App:
    """The app behind its token; a request without it gets 401 and nothing more."""
    wanted = f"Bearer {token}".encode()

    async def guarded(scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] == "lifespan":
            await app(scope, receive, send)
            return
        if scope["type"] != "http":  # nothing here speaks anything else
            return
        given = next((value for name, value in scope["headers"] if name == b"authorization"), b"")
        if secrets.compare_digest(given, wanted):
            await app(scope, receive, send)
            return
        headers = [(b"content-type", b"application/json"), (b"www-authenticate", b"Bearer")]
        await send({"type": "http.response.start", "status": 401, "headers": headers})
        await send({"type": "http.response.body", "body": b'{"error": "a token is needed"}'})

    return guarded


def serve_http(workspace: Workspace, port: int, token: str) -> None:
    """Answer on loopback until stopped."""
    import uvicorn  # noqa: PLC0415 - comes with the mcp package

    app = open_app(workspace, token)
    mask_log()
    uvicorn.run(app, host=HOST, port=port, log_level="warning")
