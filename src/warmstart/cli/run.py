"""``warmstart run``: the real agent, started warm."""

from __future__ import annotations

from typing import Any

import click

AGENTS = ("claude", "codex", "hermes")
FORMS = ("text", "markdown", "openai", "responses", "anthropic", "gemini", "hermes-prefill")


@click.command(context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False})
@click.option("--template", default="auto", show_default=True, metavar="NAME",
              help="A template, NAME@VERSION, or auto: the one that fits.")  # fmt: skip
@click.option("--unreviewed", is_flag=True,
              help="Also use a draft nobody has approved; stderr says so.")  # fmt: skip
@click.option("--budget", type=click.IntRange(min=0), metavar="N", help="Tokens at most.")
@click.option("--cold", is_flag=True, help="Start without a template, and write that down.")
@click.option("--message", default="", metavar="TEXT",
              help="What the session is about, where the command does not say.")  # fmt: skip
@click.option("--agent", type=click.Choice(AGENTS),
              help="Which agent COMMAND is, where its name does not say.")  # fmt: skip
@click.option("--as", "form", type=click.Choice(FORMS),
              help="For any other COMMAND: a file of this form, where {warmup} stands and in"
              " WARMSTART_WARMUP_FILE.")  # fmt: skip
@click.option("--dry-run", is_flag=True, help="Print what would be started; start nothing.")
@click.option("--json", "as_json", is_flag=True, help="With --dry-run: JSON instead of text.")
@click.option("--quiet", "-q", is_flag=True, help="Say nothing on stderr but errors.")
@click.argument("command", nargs=-1, required=True, type=click.UNPROCESSED)
@click.pass_context
def run(ctx: click.Context, /, *, command: tuple[str, ...], **options: Any) -> None:
    """Start an agent warm: warmstart run -- claude|codex|hermes ARGS...

    COMMAND runs as it would without, on this terminal, with the warm-up in front of its session.
    Its exit code is passed on. If nothing fits or something is wrong, it starts cold and stderr
    says why. Which template the session got is kept for: warmstart sync
    """
    from warmstart.cli._running import run_agent  # noqa: PLC0415 - keeps --help light

    ctx.exit(run_agent(command, **options))
