"""``warmstart run``: the real agent, started warm."""

from __future__ import annotations

import sys
from typing import IO, TYPE_CHECKING, Any

import click

from warmstart.cli._complete import complete_templates
from warmstart.cli._output import QUIET, note, put_out
from warmstart.errors import NotFoundError

if TYPE_CHECKING:
    from warmstart.integrations import LaunchOptions, LaunchPlan
    from warmstart.present import Document

AGENTS = ("claude", "codex", "hermes")
FORMS = ("text", "markdown", "openai", "responses", "anthropic", "gemini", "hermes-prefill")
EXIT_NO_COMMAND = 127
"""What a shell reports for a command that is not there."""


@click.command(context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False})
@click.option("--template", default="auto", show_default=True, metavar="NAME",
              shell_complete=complete_templates,
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
@QUIET
@click.argument("command", nargs=-1, required=True, type=click.UNPROCESSED)
@click.pass_context
def run(
    ctx: click.Context,
    /,
    *,
    command: tuple[str, ...],
    form: str | None,
    as_json: bool,
    quiet: bool,
    **given: Any,
) -> None:
    """Start an agent warm: warmstart run -- claude|codex|hermes ARGS...

    COMMAND runs as it would without, on this terminal, with the warm-up in front of its session.
    Its exit code is passed on. If nothing fits or something is wrong, it starts cold and stderr
    says why. Which template the session got is kept for: warmstart sync
    """
    from warmstart.app import Workspace  # noqa: PLC0415 - keeps --help light
    from warmstart.integrations import LaunchOptions, plan_launch, run_plan  # noqa: PLC0415 - same

    workspace, options = Workspace.open(), LaunchOptions(form=form or "", **given)
    try:
        plan = plan_launch(workspace, command, options, stdin=_find_stdin(options))
    except NotFoundError as error:
        note(f"error: {error.message}")
        ctx.exit(EXIT_NO_COMMAND)
    if plan.unreviewed:
        note(f"warmstart: unreviewed: {plan.unreviewed}")
    if options.dry_run:
        put_out(_make_document(plan), as_json=as_json)
        if plan.sentence:
            note(plan.sentence, quiet=quiet or as_json)
        return
    if plan.sentence:
        note(f"warmstart: {plan.sentence}", quiet=quiet)
    sys.stdout.flush()
    ctx.exit(run_plan(workspace, plan, lambda text: note(f"warmstart: {text}", quiet=quiet)))


def _find_stdin(options: LaunchOptions) -> IO[bytes] | None:
    """What the agent would read, unless that is a person; a dry run takes nothing from it."""
    if options.dry_run or sys.stdin is None or sys.stdin.isatty():
        return None
    return sys.stdin.buffer


def _make_document(plan: LaunchPlan) -> Document:
    from warmstart.present import launch_document  # noqa: PLC0415 - only for a dry run

    return launch_document(
        command=plan.command,
        environ=plan.launch.environ,
        files=[(str(seed.path), len(seed.data)) for seed in plan.launch.seeds],
        arm=plan.arm,
        template=plan.template,
        unreviewed=bool(plan.unreviewed),
        reason=plan.sentence,
    )
