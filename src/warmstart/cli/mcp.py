"""``warmstart mcp``: the MCP server, on stdin and stdout or on loopback."""

from __future__ import annotations

import os

import click

from warmstart.errors import UsageError

TOKEN_VARIABLE = "WARMSTART_MCP_TOKEN"  # noqa: S105 - the variable's name
MIN_TOKEN_LENGTH = 16
"""What a page in a browser could try out."""


@click.command("mcp")
@click.option("--http", is_flag=True, help="Streamable HTTP on 127.0.0.1 instead of stdio.")
@click.option("--port", type=click.IntRange(1, 65535), default=8765, show_default=True,
              help="Port for --http.")  # fmt: skip
def mcp(*, http: bool, port: int) -> None:
    """Serve templates, profiles and checks to an agent over MCP.

    Over stdio an agent starts it itself (see: warmstart install). Over HTTP every request needs
    the token printed at the start, or the one in WARMSTART_MCP_TOKEN.
    """
    from warmstart.app import Workspace  # noqa: PLC0415 - same
    from warmstart.mcp import (  # noqa: PLC0415 - keeps --help light
        HOST,
        PATH,
        make_token,
        serve_http,
        serve_stdio,
    )

    if not http:
        serve_stdio(Workspace.open())
        return
    given = os.environ.get(TOKEN_VARIABLE)
    if given and len(given) < MIN_TOKEN_LENGTH:
        raise UsageError(
            f"the token in {TOKEN_VARIABLE} is shorter than {MIN_TOKEN_LENGTH} characters",
            hint=f"unset {TOKEN_VARIABLE}: one is made and printed",
        )
    token = given or make_token()
    click.echo(f"http://{HOST}:{port}{PATH}", err=True)
    shown = f"the one in {TOKEN_VARIABLE}" if given else token
    click.echo(f"token: {shown}", err=True)
    serve_http(Workspace.open(), port, token)
