"""``warmstart warm``: what a session would start with, in the form its agent takes.

Content goes to stdout, the reason to stderr.
"""

from __future__ import annotations

import os
import sys
import time
import uuid
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from warmstart import app
from warmstart.cli._complete import complete_templates
from warmstart.cli._output import QUIET, note, put_out, write_bytes
from warmstart.errors import UsageError
from warmstart.present import clean, describe_start, warm_document

if TYPE_CHECKING:
    from warmstart.app import Rendered, StartRequest, Target, Workspace

FORMS = (
    "text", "markdown", "openai", "responses", "anthropic", "gemini", "skill", "claude-hook",
    "claude-session", "codex-rollout", "hermes-prefill", "hermes-rows",
)  # fmt: skip
FILES_TO_RESUME = ("claude-session", "codex-rollout")
"""Forms that become the session and give it their id."""
RESUMED_FORMS = (*FILES_TO_RESUME, "hermes-rows")
"""Forms that are part of a session with an id and a time."""
REQUEST_FORMS = ("openai", "responses", "anthropic")
"""Forms that take the message in too."""


@click.command()
@click.argument("message", default="")
@click.option("--template", default="auto", show_default=True, metavar="NAME",
              shell_complete=complete_templates,
              help="A template, NAME@VERSION, or auto: the one that fits.")  # fmt: skip
@click.option("--unreviewed", is_flag=True,
              help="Also use a draft nobody has approved; stderr says so.")  # fmt: skip
@click.option("--as", "form", type=click.Choice(FORMS), default="text", show_default=True,
              help="Form to write.")  # fmt: skip
@click.option("--budget", type=click.IntRange(min=0), metavar="N", help="Tokens at most.")
@click.option("--agent", default="library", metavar="NAME", help="Which agent will be started.")
@click.option("--model", metavar="NAME", help="Its model: records of templates are per model.")
@click.option("--tool", "tools", multiple=True, metavar="NAME",
              help="A tool the session has; examples of others are left out.")  # fmt: skip
@click.option("--seed", default="", hidden=True, help="What draws depend on; else the message.")
@click.option("--cwd", type=click.Path(file_okay=False), metavar="DIR",
              help="The session's folder; else the current one.")  # fmt: skip
@click.option("--session-id", hidden=True, help="Id of a session that is written to be resumed.")
@click.option("--record", is_flag=True,
              help="Write the start down: a use that counts, and a share is held out.")  # fmt: skip
@click.option("--explain", is_flag=True, help="Print the ranking and what went in instead.")
@click.option("--json", "as_json", is_flag=True, help="Everything as one JSON object.")
@click.option("--output", "-o", type=click.Path(path_type=Path), metavar="PATH",
              help="File to write (skill: a folder), private to you; else stdout.")  # fmt: skip
@click.option("--force", is_flag=True, help="Replace what is at PATH.")
@QUIET
def warm(
    *, form: str, budget: int | None, tools: tuple[str, ...], cwd: str | None,
    session_id: str | None, record: bool, explain: bool, as_json: bool, output: Path | None,
    force: bool, quiet: bool, **asked: Any,
) -> None:  # fmt: skip
    """Print what a session about MESSAGE would start with.

    The template that fits best is cut to the token budget and written in the form asked for. If
    none fits, nothing is printed and stderr says why: a cold start beats a wrong one.
    """
    workspace = app.Workspace.open()
    session_id = session_id or str(uuid.uuid4())
    request = _make_request(form, tools, cwd, session_id, asked)
    config = app.load_config(workspace, {"budget": budget})
    start = app.prepare_start(workspace, request, config, record=record)
    if start.unreviewed:
        note(f"unreviewed: {start.unreviewed}")
    rendered = start.render(form, _make_target(request, session_id))
    if as_json or explain:
        put_out(warm_document(start, rendered, form), as_json=as_json)
    elif start.is_warm:
        _write(workspace, rendered, output, force=force, quiet=quiet)
    note(describe_start(start), quiet=quiet)


def _make_request(
    form: str, tools: tuple[str, ...], cwd: str | None, session_id: str, asked: dict[str, Any]
) -> StartRequest:
    request = app.StartRequest(
        tools=tools or None, cwd=str(Path(cwd or os.curdir).absolute()), form=form,
        native_id=session_id if form in FILES_TO_RESUME else None, **asked,
    )  # fmt: skip
    if not request.message.strip() and request.template == "auto":
        raise UsageError(
            "without a message there is nothing to choose by", hint='warmstart warm "fix the tests"'
        )
    return request


def _make_target(request: StartRequest, session_id: str) -> Target:
    from warmstart.app import Target  # noqa: PLC0415 - keeps --help light

    ask = [{"role": "user", "content": request.message}] if request.message.strip() else None
    return Target(
        messages=ask if request.form in REQUEST_FORMS else None, cwd=request.cwd,
        session_id=session_id, version="0", now=time.time(), model=request.model or "",
    )  # fmt: skip


def _write(
    workspace: Workspace, rendered: Rendered, output: Path | None, *, force: bool, quiet: bool
) -> None:
    if output is None:
        data = rendered.to_bytes()
        # A pipe gets the bytes as they are; a terminal nothing it would obey.
        write_bytes(clean(data.decode()).encode() if sys.stdout.isatty() else data)
        return
    files = {output / name: text.encode() for name, text in rendered.files.items()}
    for path, data in (files or {output: rendered.to_bytes()}).items():
        if files:
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        workspace.write_file(path, [data], overwrite=force)
        note(f"written to {path}", quiet=quiet)
