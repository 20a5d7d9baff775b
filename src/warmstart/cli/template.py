"""``warmstart template``: make, review, share and retire templates.

Commands only unpack their options; what they do is in ``_template_list``, ``_template_show``,
``_template_change`` and ``_template_share``, imported when a command runs so that ``--help``
stays light. NAME is a template's current version, NAME@2 its second.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from warmstart.cli.template_build import BUILD_COMMANDS

_JSON = click.option("--json", "as_json", is_flag=True, help="JSON instead of text.")
_YES = click.option("--yes", is_flag=True, help="Do it without asking.")
_STORE = click.option("--store", metavar="PATH|URL", envvar="WARMSTART_STORE",
                      help="Where states and uses are kept; else in the workspace.")  # fmt: skip
_FILE = click.Path(dir_okay=False, path_type=Path)


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
@_STORE
@_JSON
def list_templates(
    *, states: tuple[str, ...], task_type: str | None, store: str | None, as_json: bool
) -> None:
    """List templates.

    TOKENS is the whole template, before a budget cuts it. SUCCESS is the share of settled sessions
    that did their task, with its 95 % interval; AGE is the time since this version was made.
    """
    from warmstart.cli._template_list import print_list  # noqa: PLC0415 - keeps --help light

    print_list(store, states, task_type, as_json=as_json)


@template.command("show")
@click.argument("spec", metavar="NAME[@VERSION]")
@click.option("--full", is_flag=True, help="Whole texts instead of their first lines.")
@_STORE
@_JSON
def show_template(*, spec: str, full: bool, store: str | None, as_json: bool) -> None:
    """Show a template as a page to review.

    What it teaches, how often that was seen, where it is from, what was taken out, what looks odd,
    and how sessions with it went.
    """
    from warmstart.cli._template_show import print_page  # noqa: PLC0415 - keeps --help light

    print_page(store, spec, full=full, as_json=as_json)


@template.command("test")
@click.argument("spec", metavar="NAME[@VERSION]")
@click.argument("message")
@click.option("--budget", type=click.IntRange(min=0), default=1500, show_default=True, metavar="N",
              help="Tokens it may cost.")  # fmt: skip
@click.option("--form", default="openai", show_default=True, metavar="FORM",
              help="How the agent takes it: openai, anthropic, …")  # fmt: skip
@click.option("--unreviewed", is_flag=True, help="Also a draft that nobody has approved.")
@_STORE
@_JSON
def test_template(*, store: str | None, as_json: bool, **wanted: Any) -> None:
    """Print exactly what a session would start with; nothing is sent, nothing counts as a use."""
    from warmstart.cli._template_show import Trial, print_trial  # noqa: PLC0415 - keeps --help light

    print_trial(store, Trial(**wanted), as_json=as_json)


@template.command("validate")
@click.argument("files", nargs=-1, required=True, type=click.Path(path_type=Path), metavar="FILE…")
@_JSON
def validate_files(*, files: tuple[Path, ...], as_json: bool) -> None:
    """Check template files without importing them; exit 6 if one is refused."""
    from warmstart.cli._template_share import run_validate  # noqa: PLC0415 - keeps --help light

    run_validate(files, as_json=as_json)


@template.command("diff")
@click.argument("old", metavar="NAME[@VERSION]")
@click.argument("new", metavar="NAME[@VERSION]")
@_STORE
@_JSON
def diff_templates(*, old: str, new: str, store: str | None, as_json: bool) -> None:
    """Say what differs between any two templates or versions, pattern by pattern."""
    from warmstart.cli._template_show import print_diff  # noqa: PLC0415 - keeps --help light

    print_diff(store, old, new, as_json=as_json)


@template.command("versions")
@click.argument("name")
@_STORE
@_JSON
def list_versions(*, name: str, store: str | None, as_json: bool) -> None:
    """List every version of a template; the one in use has a *."""
    from warmstart.cli._template_list import print_versions  # noqa: PLC0415 - keeps --help light

    print_versions(store, name, as_json=as_json)


@template.command("rollback")
@click.argument("spec", metavar="NAME@VERSION")
@_STORE
@_JSON
def roll_back(*, spec: str, store: str | None, as_json: bool) -> None:
    """Let an older version be the one in use again; no version is deleted."""
    from warmstart.cli._template_change import run_rollback  # noqa: PLC0415 - keeps --help light

    run_rollback(store, spec, as_json=as_json)


@template.command("approve")
@click.argument("spec", metavar="NAME[@VERSION]")
@click.option("--despite-flags", is_flag=True,
              help="Also with orders or risky commands in it.")  # fmt: skip
@_YES
@_STORE
@_JSON
def approve_template(
    *, spec: str, despite_flags: bool, yes: bool, store: str | None, as_json: bool
) -> None:
    """Let a template be used: the newest version, unless one is named.

    What is approved is shown first, with what changes against the version in use, and you are
    asked. Without a terminal it takes NAME@VERSION and --yes. From then on it may be chosen for
    sessions by itself.
    """
    from warmstart.cli._template_change import run_approve  # noqa: PLC0415 - keeps --help light

    run_approve(store, spec, despite_flags=despite_flags, yes=yes, as_json=as_json)


@template.command("retire")
@click.argument("spec", metavar="NAME[@VERSION]")
@click.option("--reason", default="retired by hand", metavar="TEXT", help="Kept with it.")
@_STORE
@_JSON
def retire_template(*, spec: str, reason: str, store: str | None, as_json: bool) -> None:
    """Take a template out of use; approving it again brings it back."""
    from warmstart.cli._template_change import run_retire  # noqa: PLC0415 - keeps --help light

    run_retire(store, spec, reason, as_json=as_json)


@template.command("delete")
@click.argument("spec", metavar="NAME[@VERSION]")
@_YES
@_STORE
@_JSON
def delete_template(*, spec: str, yes: bool, store: str | None, as_json: bool) -> None:
    """Delete a template with all its versions, or the one version named."""
    from warmstart.cli._template_change import run_delete  # noqa: PLC0415 - keeps --help light

    run_delete(store, spec, yes=yes, as_json=as_json)


@template.command("export")
@click.argument("spec", metavar="NAME[@VERSION]")
@click.option("--output", "-o", type=_FILE, metavar="FILE",
              help="File to write; else NAME.template.json here.")  # fmt: skip
@click.option("--sign", "sign_key", type=_FILE, metavar="KEY",
              help="Sign it with this private SSH key; the signature is FILE.sig.")  # fmt: skip
@_STORE
@_JSON
def export_template(
    *, spec: str, output: Path | None, sign_key: Path | None, store: str | None, as_json: bool
) -> None:
    """Write a template as one file for others, redacted once more."""
    from warmstart.cli._template_share import run_export  # noqa: PLC0415 - keeps --help light

    run_export(store, spec, output, sign_key, as_json=as_json)


@template.command("import")
@click.argument("files", nargs=-1, required=True, type=click.Path(path_type=Path), metavar="FILE…")
@_STORE
@_JSON
def import_templates(*, files: tuple[Path, ...], store: str | None, as_json: bool) -> None:
    """Take in templates from elsewhere; they are quarantined until you approve them.

    Size, schema, hash and signature (FILE.sig) are checked, redaction and the scan for
    instructions run again, and what differs from the version in use is shown. Template files of
    earlier programs are converted.
    """
    from warmstart.cli._template_share import run_import  # noqa: PLC0415 - keeps --help light

    run_import(store, files, as_json=as_json)


@template.command("verify")
@_STORE
@_JSON
def verify_templates(*, store: str | None, as_json: bool) -> None:
    """Read every template file again; exit 1 if anything is not as it should be."""
    from warmstart.cli._template_share import run_verify  # noqa: PLC0415 - keeps --help light

    run_verify(store, as_json=as_json)


@template.command("dataset")
@click.argument("names", nargs=-1, metavar="[NAME]...")
@click.option("--all", "every_state", is_flag=True, help="Templates of every state.")
@click.option("--sessions", is_flag=True, help="Also one row of counts for every session.")
@click.option("--output", "-o", type=_FILE, metavar="FILE", help="File to write; else stdout.")
@_STORE
@_JSON
def write_dataset(
    *,
    names: tuple[str, ...],
    every_state: bool,
    sessions: bool,
    output: Path | None,
    store: str | None,
    as_json: bool,
) -> None:
    """Write templates and markers of proficiency as an open dataset: JSONL, redacted.

    Approved templates, unless some are named. With --output, --json prints what was written.
    """
    from warmstart.cli._template_share import Dataset, run_dataset  # noqa: PLC0415 - keeps --help light

    wanted = Dataset(names=names, every_state=every_state, sessions=sessions, output=output)
    run_dataset(store, wanted, as_json=as_json)


for _command in BUILD_COMMANDS:
    template.add_command(_command)
