"""``warmstart warm``: what a session would start with, in the form its agent takes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

FORMS = (
    "text", "markdown", "openai", "responses", "anthropic", "gemini", "skill", "claude-hook",
    "claude-session", "codex-rollout", "hermes-prefill", "hermes-rows",
)  # fmt: skip
POLICIES = ("thompson", "best", "least_used")


@click.command()
@click.argument("message", default="")
@click.option("--template", default="auto", show_default=True, metavar="NAME",
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
@click.option("--policy", type=click.Choice(POLICIES), help="How one of several is taken.")
@click.option("--threshold", type=float, metavar="X", help="Below this fit, stay cold.")
@click.option("--seed", default="", metavar="TEXT", help="What draws depend on; else the message.")
@click.option("--cwd", type=click.Path(file_okay=False), metavar="DIR",
              help="The session's folder; else the current one.")  # fmt: skip
@click.option("--session-id", metavar="ID", help="Id of a session that is written to be resumed.")
@click.option("--agent-version", default="0", metavar="V", help="Version written into it.")
@click.option("--record", is_flag=True,
              help="Write the start down: a use that counts, and a share is held out.")  # fmt: skip
@click.option("--explain", is_flag=True, help="Print the ranking and what went in instead.")
@click.option("--json", "as_json", is_flag=True, help="Everything as one JSON object.")
@click.option("--output", "-o", type=click.Path(path_type=Path), metavar="PATH",
              help="File to write (skill: a folder), private to you; else stdout.")  # fmt: skip
@click.option("--force", is_flag=True, help="Replace what is at PATH.")
@click.option("--quiet", "-q", is_flag=True, help="Say nothing on stderr but errors.")
def warm(*, message: str, **options: Any) -> None:
    """Print what a session about MESSAGE would start with.

    The template that fits best is cut to the token budget and written in the form asked for. If
    none fits, nothing is printed and stderr says why: a cold start beats a wrong one.
    """
    from warmstart.cli._warming import Wish, print_warmup  # noqa: PLC0415 - keeps --help light

    print_warmup(Wish(message=message, **options))
