"""``warmstart template``: list, review, change, share and retire templates.

NAME is a template's current version, NAME@2 its second. Making templates is in ``template_build``.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from warmstart import app
from warmstart.cli._complete import complete_templates
from warmstart.cli._output import (
    JSON,
    Pages,
    note,
    page_options,
    put_out,
    share,
    write_bytes,
    write_pages,
)
from warmstart.cli.warm import FORMS, RESUMED_FORMS
from warmstart.errors import InternalError, UsageError
from warmstart.present import (
    approved_document,
    clean,
    count,
    deleted_document,
    describe_templates,
    retired_document,
    rolled_back_document,
    templates_document,
)

if TYPE_CHECKING:
    from warmstart.app import Review

SHOWN_FORMS = tuple(form for form in FORMS if form not in RESUMED_FORMS)
"""Forms that need no session to resume."""
YES = click.option("--yes", is_flag=True, help="Do it without asking.")
STORE = click.option("--store", metavar="PATH|URL", envvar="WARMSTART_STORE",
                     help="Where states and uses are kept; else in the workspace.")  # fmt: skip
SPEC = click.argument("spec", metavar="NAME[@VERSION]", shell_complete=complete_templates)
FILE = click.Path(dir_okay=False, path_type=Path)
FILES = click.argument("files", nargs=-1, required=True, type=click.Path(path_type=Path),
                       metavar="FILE…")  # fmt: skip


@click.group()
def template() -> None:
    """Make, review, share and retire templates.

    A template is what worked in past sessions, small enough to review. NAME means its current
    version, NAME@2 the second one. Only approved templates are used, unless --unreviewed says so.
    """


@template.command("list")
@click.option("--state", "states", multiple=True, metavar="STATE",
              type=click.Choice(["draft", "approved", "quarantined", "retired"]),
              help="Only templates of this state.")  # fmt: skip
@click.option("--type", "task_type", metavar="TYPE", help="Only templates for this kind of work.")
@STORE
@JSON
def list_templates(
    *, states: tuple[str, ...], task_type: str | None, store: str | None, as_json: bool
) -> None:
    """List templates.

    TOKENS is the whole template, before a budget cuts it. SUCCESS is the share of settled sessions
    that did their task, with its 95 % interval; AGE is the time since this version was made.
    """
    workspace = app.Workspace.open()
    rows = app.list_templates(workspace, states=states, task_type=task_type, store=store)
    put_out(templates_document(rows), as_json=as_json)
    note(describe_templates(rows), quiet=as_json)


@template.command("versions")
@click.argument("name", shell_complete=complete_templates)
@STORE
@JSON
def list_versions(*, name: str, store: str | None, as_json: bool) -> None:
    """List every version of a template; the one in use has a *."""
    rows = app.list_versions(app.Workspace.open(), name, store=store)
    put_out(templates_document(rows, of_one=True), as_json=as_json)
    note(describe_templates(rows, of_one=True), quiet=as_json)


@template.command("show")
@SPEC
@click.option("--full", is_flag=True, help="Whole texts instead of their first lines.")
@page_options
@STORE
@JSON
def show_template(
    *,
    spec: str,
    full: bool,
    html: Path | None,
    markdown: Path | None,
    force: bool,
    store: str | None,
    as_json: bool,
) -> None:
    """Show a template as a page to review.

    Flags and what was redacted come first, then what changes against the version in use, then
    each lesson and example with what it rests on. Pages have whole texts, and home folders and
    names are taken out of them, since they are made to be sent.
    """
    from warmstart.present import review_document  # noqa: PLC0415 - not for listings

    workspace = app.Workspace.open()
    review = app.review_template(workspace, spec, newest=False, store=store)
    pages = Pages(html, markdown, force)
    write_pages(
        workspace,
        pages,
        lambda: share(workspace, review_document(review, full=True)),
        quiet=as_json,
    )
    if as_json or not pages:
        put_out(review_document(review, full=full), as_json=as_json)


@template.command("test")
@SPEC
@click.argument("message")
@click.option("--budget", type=click.IntRange(min=0), default=1500, show_default=True, metavar="N",
              help="Tokens it may cost.")  # fmt: skip
@click.option("--as", "form", type=click.Choice(SHOWN_FORMS),
              help="Form to write; else text, and openai with --json.")  # fmt: skip
@click.option("--details", is_flag=True, help="Name each part that is used or left out.")
@click.option("--unreviewed", is_flag=True, help="Also a draft that nobody has approved.")
@STORE
@JSON
def test_template(
    *, spec: str, message: str, form: str | None, details: bool, as_json: bool, **options: Any
) -> None:
    """Print exactly what a session would start with; nothing is sent, nothing counts as a use."""
    from warmstart.present import describe_trial, trial_document  # noqa: PLC0415 - not for listings

    form = form or ("openai" if as_json else "text")
    workspace = app.Workspace.open()
    trial = app.try_template(workspace, spec, message, form=form, way="--unreviewed", **options)
    if trial.unreviewed:
        note(f"unreviewed: {trial.unreviewed}")
    put_out(trial_document(trial), as_json=as_json)
    for line in describe_trial(trial, options["budget"], details=details):
        note(line, quiet=as_json)


@template.command("diff")
@click.argument("old", metavar="NAME[@VERSION]", shell_complete=complete_templates)
@click.argument("new", metavar="NAME[@VERSION]", shell_complete=complete_templates)
@STORE
@JSON
def diff_templates(*, old: str, new: str, store: str | None, as_json: bool) -> None:
    """Show what differs between any two templates or versions, pattern by pattern."""
    from warmstart.present import diff_document  # noqa: PLC0415 - not for listings

    found = app.diff_versions(app.Workspace.open(), old, new, store=store)
    put_out(diff_document(found), as_json=as_json)


@template.command("approve")
@SPEC
@click.option("--despite-flags", is_flag=True,
              help="Also with orders or risky commands in it.")  # fmt: skip
@YES
@STORE
@JSON
def approve_template(
    *, spec: str, despite_flags: bool, yes: bool, store: str | None, as_json: bool
) -> None:
    """Let a template be used: the newest version, unless one is named.

    What is approved is shown first, with what changes against the version in use, and you are
    asked. Without a terminal it takes NAME@VERSION and --yes. From then on it may be chosen for
    sessions by itself.
    """
    from warmstart.present import review_document  # noqa: PLC0415 - not for listings

    workspace = app.Workspace.open()
    review = app.review_template(workspace, spec, store=store)
    exact = review.page.info.spec
    is_asked = not (yes or as_json) and sys.stdin.isatty()
    if not is_asked and ("@" not in spec or not yes):
        raise _refuse_unasked(review, despite_flags=despite_flags)
    if not as_json:
        put_out(review_document(review, is_asked=True))
        sys.stdout.flush()
    app.check_review(review, despite_flags=despite_flags)
    if is_asked:
        click.confirm(f"Approve {exact}?", abort=True, err=True)
    done = app.approve_template(workspace, exact, despite_flags=despite_flags, store=store)
    put_out(approved_document(done), as_json=as_json)


def _refuse_unasked(review: Review, *, despite_flags: bool) -> UsageError:
    options = " --despite-flags" if despite_flags else ""
    info = review.page.info
    show, approve = info.review_steps
    return UsageError(
        f"nobody can be asked here, so approving {info.name!r} needs the version and --yes",
        hint=f"read it: {show}; then: {approve} --yes{options}",
    )


@template.command("retire")
@SPEC
@click.option("--reason", default="retired by hand", metavar="TEXT", help="Kept with it.")
@STORE
@JSON
def retire_template(*, spec: str, reason: str, store: str | None, as_json: bool) -> None:
    """Take a template out of use; approving it again brings it back."""
    info = app.retire_template(app.Workspace.open(), spec, reason, store=store)
    put_out(retired_document(info), as_json=as_json)


@template.command("rollback")
@click.argument("spec", metavar="NAME@VERSION", shell_complete=complete_templates)
@STORE
@JSON
def roll_back(*, spec: str, store: str | None, as_json: bool) -> None:
    """Let an older version be the one in use again; no version is deleted."""
    info = app.roll_back(app.Workspace.open(), spec, store=store)
    put_out(rolled_back_document(info), as_json=as_json)


@template.command("delete")
@SPEC
@YES
@STORE
@JSON
def delete_template(*, spec: str, yes: bool, store: str | None, as_json: bool) -> None:
    """Delete a template with all its versions, or the one version named."""
    workspace = app.Workspace.open()
    rows = app.list_deleted(workspace, spec, store=store)
    if not yes:
        states = ", ".join(f"{info.spec} {info.state}" for info in rows)
        click.confirm(f"Delete {clean(states)}?", abort=True, err=True)
    deleted = app.delete_template(workspace, spec, store=store)
    put_out(deleted_document(rows[0].name, deleted), as_json=as_json)


@template.command("export")
@SPEC
@click.option("--output", "-o", type=FILE, metavar="FILE",
              help="File to write; else NAME.template.json here.")  # fmt: skip
@click.option("--sign", "sign_key", type=FILE, metavar="KEY",
              help="Sign it with this private SSH key; the signature is FILE.sig.")  # fmt: skip
@STORE
@JSON
def export_template(
    *, spec: str, output: Path | None, sign_key: Path | None, store: str | None, as_json: bool
) -> None:
    """Write a template as one file for others, redacted once more."""
    from warmstart.present import exported_document  # noqa: PLC0415 - not for listings

    workspace = app.Workspace.open()
    report = app.export_template(workspace, spec, output, sign_key=sign_key, store=store)
    put_out(exported_document(report), as_json=as_json)


@template.command("import")
@FILES
@STORE
@JSON
def import_templates(*, files: tuple[Path, ...], store: str | None, as_json: bool) -> None:
    """Take in templates from elsewhere; they are quarantined until you approve them.

    Size, schema, hash and signature (FILE.sig) are checked, redaction and the scan for
    instructions run again, and what differs from the version in use is shown. Template files of
    earlier programs are converted.
    """
    from warmstart.present import imported_document  # noqa: PLC0415 - not for listings

    results = []
    for found in app.import_templates(app.Workspace.open(), files, store=store):
        results.append(found)
        if not as_json:
            put_out(imported_document([found]))
    if as_json:
        put_out(imported_document(results), as_json=True)
    refused = sum(found.report is None for found in results)
    if refused:
        raise app.TemplateError(
            f"{count(refused, 'file')} refused, {len(files) - refused} imported",
            hint="see docs/templates.md for the format",
        )


@template.command("validate")
@FILES
@JSON
def validate_files(*, files: tuple[Path, ...], as_json: bool) -> None:
    """Check template files without importing them; exit 6 if one is refused."""
    from warmstart.present import validated_document  # noqa: PLC0415 - not for listings

    results = app.validate_files(files)
    put_out(validated_document(results), as_json=as_json)
    bad = sum(found.incoming is None for found in results)
    if bad:
        raise app.TemplateError(f"{count(bad, 'file')} refused")


@template.command("verify")
@STORE
@JSON
def verify_templates(*, store: str | None, as_json: bool) -> None:
    """Read every template file again; exit 1 if anything is not as it should be."""
    from warmstart.present import verified_document  # noqa: PLC0415 - not for listings

    result = app.verify_library(app.Workspace.open(), store=store)
    put_out(verified_document(result), as_json=as_json)
    if result.problems:
        raise InternalError(
            f"{count(len(result.problems), 'problem')} in the library",
            hint="look at the files named; `warmstart template delete` removes a version",
        )


@template.command("dataset")
@click.argument("names", nargs=-1, metavar="[NAME]...", shell_complete=complete_templates)
@click.option("--all", "every_state", is_flag=True, help="Templates of every state.")
@click.option("--sessions", is_flag=True, help="Also one row of counts for every session.")
@click.option("--output", "-o", type=FILE, metavar="FILE", help="File to write; else stdout.")
@STORE
@JSON
def write_dataset(
    *, names: tuple[str, ...], output: Path | None, as_json: bool, **options: Any
) -> None:
    """Write templates and markers of proficiency as an open dataset: JSONL, redacted.

    Approved templates, unless some are named. With --output, --json prints what was written.
    """
    from warmstart.present import dataset_document  # noqa: PLC0415 - not for listings

    workspace = app.Workspace.open()
    made = app.make_dataset(workspace, names, **options)
    if made.unapproved:
        note(f"{count(made.unapproved, 'template')} in it that nobody has approved")
    if output is None:
        write_bytes(b"".join(made.lines))
        note(count(len(made.lines), "row"), quiet=as_json)
    else:
        workspace.write_file(output, made.lines)
        put_out(dataset_document(output, len(made.lines)), as_json=as_json)


def _add_commands() -> None:
    """The commands that make templates."""
    from warmstart.cli.template_build import BUILD_COMMANDS  # noqa: PLC0415 - they use options from here

    for command in BUILD_COMMANDS:
        template.add_command(command)


_add_commands()
