"""``warmstart template extract, build, auto, new, edit``: templates mined or written by hand.

What is mined is saved as a draft. ``new`` and ``edit`` take the text from an editor, a file or
stdin; a text that cannot be saved is kept, never lost.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, TypeVar

import click

from warmstart import app
from warmstart.cli._complete import complete_sessions
from warmstart.cli._filters import session_filters
from warmstart.cli._output import JSON, QUIET, note, put_out, report_skips
from warmstart.cli.template import SPEC, STORE
from warmstart.errors import UsageError, WarmstartError
from warmstart.present import show_progress

if TYPE_CHECKING:
    from warmstart.app import (
        BuildRequest,
        BuildResult,
        EditText,
        ReadLog,
        Workspace,
    )
    from warmstart.model import Selection

_Command = TypeVar("_Command", bound=Callable[..., Any])
_TYPES = ("auto", "code", "file", "research", "terminal", "browser", "mixed")
_RULE_FIELDS = ("min_calls", "max_error_rate")
_REQUEST_FIELDS = (
    "description", "tags", "textual", "keep_outside", "max_sessions", "max_examples",
)  # fmt: skip
_NAME = click.option("--name", required=True, metavar="NAME",
                     help="Name of the template: a-z 0-9 . _ - only.")  # fmt: skip
_MAX = click.option("--max", "max_examples", type=click.IntRange(1, 50), default=12, metavar="N",
                    show_default=True, help="Most examples to keep.")  # fmt: skip
_FROM = click.option("--from", "source", type=click.File("r", encoding="utf-8"), metavar="FILE",
                     help="Take the text from a file (- for stdin), not an editor.")  # fmt: skip
_RULES = (
    click.option("--min-calls", type=click.IntRange(min=1), default=8, metavar="N",
                 show_default=True, help="Judged calls a session must have."),
    click.option("--max-error-rate", type=click.FloatRange(0, 1), metavar="SHARE",
                 help="Most errors a session may have; else the median, at least 0.05."),
    click.option("--max-sessions", type=click.IntRange(min=1), default=40, metavar="N",
                 show_default=True, help="Most sessions whose contents are read."),
    _MAX,
)  # fmt: skip
# Hidden, for histories in which nothing else shows what worked: --textual also takes successes that
# rest on words alone, --keep-outside keeps results of web, mail, browser and MCP tools.
_COMMON = (
    click.option("--description", default="", metavar="TEXT", help="What it is for."),
    click.option("--tag", "tags", multiple=True, metavar="TAG", help="May be given several times."),
    click.option("--textual", is_flag=True, hidden=True),
    click.option("--keep-outside", is_flag=True, hidden=True),
    click.option("--dry-run", is_flag=True, help="Show what would be made; save nothing."),
    JSON,
    QUIET,
)  # fmt: skip


def _all(*options: Callable[[_Command], _Command]) -> Callable[[_Command], _Command]:
    def give(command: _Command) -> _Command:
        for option in reversed(options):
            command = option(command)
        return command

    return give


@click.command("extract")
@click.argument("session", metavar="SESSION", shell_complete=complete_sessions)
@click.argument("paths", nargs=-1, metavar="[PATH]...")
@_NAME
@click.option("--type", "task_type", type=click.Choice(_TYPES), default="auto", show_default=True,
              help="Kind of work; auto asks the calls.")  # fmt: skip
@click.option("--format", "format_name", metavar="NAME", help="Read PATHs as this format.")
@_MAX
@_all(*_COMMON)
def extract_template(
    *, session: str, paths: tuple[str, ...], format_name: str | None, dry_run: bool,
    as_json: bool, quiet: bool, **given: Any,
) -> None:  # fmt: skip
    """Make a template of one session that went well.

    SESSION is a session's id or any prefix of it that is unique. The template is saved as a
    draft: read it, then approve it.
    """
    from warmstart.app import (  # noqa: PLC0415 - only where it is needed
        BuildRequest,
        ReadLog,
    )
    from warmstart.model import Selection  # noqa: PLC0415 - same

    log, selection = ReadLog(), Selection(paths=paths, format=format_name)
    built = app.build_from_session(
        app.Workspace.open(), session, BuildRequest(**given), selection, log, save=not dry_run
    )
    _print_built([built], log, as_json=as_json, quiet=quiet)


@click.command("build")
@click.argument("paths", nargs=-1, metavar="[PATH]...")
@_NAME
@click.option("--type", "task_type", type=click.Choice(_TYPES), default="auto", show_default=True,
              help="Only sessions of this kind of work.")  # fmt: skip
@_all(*_RULES)
@session_filters
@_all(*_COMMON)
def build_template(*, dry_run: bool, as_json: bool, quiet: bool, **given: Any) -> None:
    """Make a template of what many sessions that went well have in common.

    Which sessions are good enough is decided by rules that are printed with the result, and every
    session left out is counted by its reason. --min-messages is 30 here unless given. The
    template is saved as a draft: read it, then approve it.
    """
    request, selection, log = _split(given)
    with show_progress(quiet=quiet) as progress:
        built = app.build_template(
            app.Workspace.open(), request, selection, log, save=not dry_run, on_progress=progress
        )
    _print_built([built], log, as_json=as_json, quiet=quiet)


@click.command("auto")
@click.argument("paths", nargs=-1, metavar="[PATH]...")
@click.option("--prefix", "name", default="auto", metavar="NAME", show_default=True,
              help="Names are NAME-code, NAME-file and so on.")  # fmt: skip
@_all(*_RULES)
@session_filters
@_all(*_COMMON)
def auto_templates(*, dry_run: bool, as_json: bool, quiet: bool, **given: Any) -> None:
    """Propose templates: one per kind of work that has at least three good sessions."""
    request, selection, log = _split({**given, "task_type": "auto"})
    with show_progress(quiet=quiet) as progress:
        found = app.build_proposals(
            app.Workspace.open(), request, selection, log, save=not dry_run, on_progress=progress
        )
        _print_built(found, log, as_json=as_json, quiet=quiet)


@click.command("new")
@click.argument("name")
@_FROM
@STORE
@JSON
def new_template(*, name: str, source: IO[str] | None, store: str | None, as_json: bool) -> None:
    """Write a template by hand, in your editor ($VISUAL or $EDITOR).

    A lesson is one [[guidance]] table with a tool and a text; docs/templates.md has the other
    fields. Secrets are taken out and the text is scanned before it is saved as a draft.
    """
    workspace = app.Workspace.open()
    edit = app.begin_text(workspace, name, is_new=True, store=store)
    _save_edited(workspace, edit, source, store=store, as_json=as_json)


@click.command("edit")
@SPEC
@_FROM
@STORE
@JSON
def edit_template(*, spec: str, source: IO[str] | None, store: str | None, as_json: bool) -> None:
    """Edit a template by hand: keep, change or drop each lesson and example.

    Opens the newest version, or the one named, in your editor ($VISUAL or $EDITOR). What you save
    becomes a new draft; the version you edited stays as it is.
    """
    workspace = app.Workspace.open()
    edit = app.begin_text(workspace, spec, store=store)
    _save_edited(workspace, edit, source, store=store, as_json=as_json)


def _save_edited(
    workspace: Workspace,
    edit: EditText,
    source: IO[str] | None,
    *,
    store: str | None,
    as_json: bool,
) -> None:
    """Take the text, save it, and let the user correct it as often as it takes."""
    text = source.read() if source else _ask_editor(edit.text)
    while text is not None and text != edit.text:
        try:
            result = app.save_text(workspace, edit, text, store=store)
        except (WarmstartError, OSError) as error:
            if source is not None or not _ask_again(error):
                if source is None or not Path(str(source.name)).is_file():
                    _keep(workspace, edit, text, error)
                raise
            text = _ask_editor(text)
        else:
            from warmstart.present import edited_document  # noqa: PLC0415 - only here

            put_out(edited_document(result), as_json=as_json)
            return
    note("nothing was changed, so nothing was saved")


def _ask_editor(text: str) -> str | None:
    """The text after editing; None where it was not saved.

    Raises:
        UsageError: there is no terminal to open an editor on.
    """
    if not sys.stdin.isatty():
        raise UsageError(
            "there is no terminal to open an editor on", hint="give the text: --from FILE, or -"
        )
    try:
        return click.edit(text, extension=".toml", require_save=False)
    except click.ClickException as error:
        raise UsageError(error.format_message(), hint="set EDITOR, or give --from FILE") from error


def _ask_again(error: Exception) -> bool:
    note(f"error: {error}")
    try:
        return click.confirm("Go back to the editor?", default=True, err=True)
    except click.Abort:  # the text must be kept all the same
        return False


def _keep(workspace: Workspace, edit: EditText, text: str, error: Exception) -> None:
    """Keep what the user wrote, and name the command that takes it up again."""
    try:
        path = app.keep_text(workspace, edit.name, text)
    except OSError:
        note(f"your text could not be kept in a file; here it is:\n{text}")
        return
    command = f"edit {edit.base}" if edit.base else f"new {edit.name}"
    note(f"your text is kept in {path}")
    if isinstance(error, WarmstartError):
        before = f"{error.hint}; " if error.hint else ""
        error.hint = f"{before}correct it there, then: warmstart template {command} --from {path}"


def _split(given: dict[str, Any]) -> tuple[BuildRequest, Selection, ReadLog]:
    """Options as a request (with its rules) and a selection, and a log for what is skipped.

    ``--min-messages`` is a rule here, so that sessions too short are counted by that reason.
    """
    from warmstart.app import (  # noqa: PLC0415 - not for the other commands
        BuildRequest,
        MiningRules,
        ReadLog,
    )
    from warmstart.model import Selection  # noqa: PLC0415 - same

    rules = {field: given.pop(field) for field in _RULE_FIELDS}
    min_messages = given.pop("min_messages")
    if min_messages is not None:
        rules["min_messages"] = min_messages
    fields = {field: given.pop(field) for field in ("name", "task_type", *_REQUEST_FIELDS)}
    return BuildRequest(rules=MiningRules(**rules), **fields), Selection(**given), ReadLog()


def _print_built(
    results: Iterable[BuildResult], log: ReadLog, *, as_json: bool, quiet: bool
) -> None:
    """Print each as it comes: those that were built are saved even if the next one fails."""
    from warmstart.present import built_document, list_skips  # noqa: PLC0415 - not for --help

    made = []
    for built in results:
        made.append(built)
        if not as_json:
            put_out(built_document([built]))
    report_skips(log, quiet=quiet)
    if as_json:
        put_out(built_document(made, list_skips(log)), as_json=True)


BUILD_COMMANDS: tuple[click.Command, ...] = (
    extract_template, build_template, auto_templates, new_template, edit_template,
)  # fmt: skip
