"""``warmstart template``: list, review, change and retire templates.

NAME is a template's current version, NAME@2 its second. JSON is one object with ``schema_version``;
times are UTC, ``success_rate`` comes with its 95 % interval over settled sessions and is null where
there are none. Making templates is in ``template_build``, sharing them in ``template_share``.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import click

from warmstart import app
from warmstart.cli._output import Column, note, open_console, print_json
from warmstart.errors import UsageError
from warmstart.model import TemplateState
from warmstart.present import (
    StyledText,
    clean,
    count,
    iso_time,
    local_time,
    one_line,
    print_table,
    readable_duration,
)

if TYPE_CHECKING:
    from rich.console import Console

    from warmstart.app import Change, Review, TemplatePage, TemplateVersion

SCHEMA_VERSION = 1
MAX_CHANGES = 20
STYLES = {"approved": "green", "quarantined": "yellow", "retired": "dim", "draft": ""}
VERDICTS = {"better": "green", "worse": "red", "invalid": "red"}
SIGNS = {"added": "+", "removed": "-", "changed": "~"}
COLOURS = {"added": "green", "removed": "red", "changed": "yellow"}
JSON = click.option("--json", "as_json", is_flag=True, help="JSON instead of text.")
YES = click.option("--yes", is_flag=True, help="Do it without asking.")
STORE = click.option("--store", metavar="PATH|URL", envvar="WARMSTART_STORE",
                     help="Where states and uses are kept; else in the workspace.")  # fmt: skip
SPEC = click.argument("spec", metavar="NAME[@VERSION]")


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
    _print_listing(rows, as_json=as_json)


@template.command("versions")
@click.argument("name")
@STORE
@JSON
def list_versions(*, name: str, store: str | None, as_json: bool) -> None:
    """List every version of a template; the one in use has a *."""
    rows = app.list_versions(app.Workspace.open(), name, store=store)
    _print_listing(rows, as_json=as_json, of_one=True)


@template.command("show")
@SPEC
@click.option("--full", is_flag=True, help="Whole texts instead of their first lines.")
@STORE
@JSON
def show_template(*, spec: str, full: bool, store: str | None, as_json: bool) -> None:
    """Show a template as a page to review.

    What it teaches, how often that was seen, where it is from, what was taken out, what looks odd,
    and how sessions with it went.
    """
    page = app.show_template(app.Workspace.open(), spec, store=store)
    if as_json:
        print_json({"schema_version": SCHEMA_VERSION, **page_json(page)})
    else:
        print_page(open_console(), page, full=full)


@template.command("test")
@SPEC
@click.argument("message")
@click.option("--budget", type=click.IntRange(min=0), default=1500, show_default=True, metavar="N",
              help="Tokens it may cost.")  # fmt: skip
@click.option("--form", default="openai", show_default=True, metavar="FORM",
              help="How the agent takes it: openai, anthropic, …")  # fmt: skip
@click.option("--unreviewed", is_flag=True, help="Also a draft that nobody has approved.")
@STORE
@JSON
def test_template(*, spec: str, message: str, as_json: bool, **options: Any) -> None:
    """Print exactly what a session would start with; nothing is sent, nothing counts as a use."""
    trial = app.try_template(app.Workspace.open(), spec, message, way="--unreviewed", **options)
    info, warmup = trial.info, trial.warmup
    if trial.unreviewed:
        note(f"unreviewed: {trial.unreviewed}")
    if as_json:
        print_json({
            "schema_version": SCHEMA_VERSION, "template": info.name, "version": info.version,
            "state": str(info.state), "id": info.id, "form": trial.form, "tokens": warmup.tokens,
            "parts": list(warmup.parts), "left_out": list(warmup.left_out),
            "rendered": trial.content,
        })  # fmt: skip
        return
    if isinstance(trial.content, str):
        open_console().print(clean(trial.content), soft_wrap=True)
    else:
        print_json(trial.content)
    parts = ", ".join(warmup.parts) or "-"
    note(f"{warmup.tokens:,} tokens of {options['budget']:,}; used: {parts}")
    for reason in warmup.left_out:
        note(f"left out: {reason}")


@template.command("diff")
@click.argument("old", metavar="NAME[@VERSION]")
@click.argument("new", metavar="NAME[@VERSION]")
@STORE
@JSON
def diff_templates(*, old: str, new: str, store: str | None, as_json: bool) -> None:
    """Say what differs between any two templates or versions, pattern by pattern."""
    found = app.diff_versions(app.Workspace.open(), old, new, store=store)
    if as_json:
        sides = {
            side: {"name": info.name, "version": info.version, "id": info.id}
            for side, info in (("old", found.old), ("new", found.new))
        }
        changes = [change_json(change) for change in found.changes]
        print_json({"schema_version": SCHEMA_VERSION, **sides, "changes": changes})
        return
    print_changes(open_console(), found.changes)
    note(f"{count(len(found.changes), 'change')} from {found.old.spec} to {found.new.spec}")


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
    workspace = app.Workspace.open()
    review = app.review_template(workspace, spec, store=store)
    exact = review.page.info.spec
    is_asked = not (yes or as_json) and sys.stdin.isatty()
    if not is_asked and ("@" not in spec or not yes):
        raise _refuse_unasked(review, despite_flags=despite_flags)
    if not as_json:
        _print_review(review)
    app.check_review(review, despite_flags=despite_flags)
    if is_asked:
        click.confirm(f"Approve {exact}?", abort=True, err=True)
    done = app.approve_template(workspace, exact, despite_flags=despite_flags, store=store)
    replaced = {
        "replaces": done.replaces.version if done.replaces else None,
        "changes": [change_json(change) for change in done.changes],
    }
    _print_state(done.info, f"{exact} is approved and in use", as_json=as_json, **replaced)


@template.command("retire")
@SPEC
@click.option("--reason", default="retired by hand", metavar="TEXT", help="Kept with it.")
@STORE
@JSON
def retire_template(*, spec: str, reason: str, store: str | None, as_json: bool) -> None:
    """Take a template out of use; approving it again brings it back."""
    info = app.retire_template(app.Workspace.open(), spec, reason, store=store)
    _print_state(info, f"{info.spec} is retired", as_json=as_json)


@template.command("rollback")
@click.argument("spec", metavar="NAME@VERSION")
@STORE
@JSON
def roll_back(*, spec: str, store: str | None, as_json: bool) -> None:
    """Let an older version be the one in use again; no version is deleted."""
    info = app.roll_back(app.Workspace.open(), spec, store=store)
    approve = info.review_steps[1]
    use = ""
    if info.state is TemplateState.DRAFT:
        use = f"; it is a draft: used only by name and with --unreviewed, until: {approve}"
    elif info.state is not TemplateState.APPROVED:
        use = f"; it is {info.state}, so it is never used, until: {approve}"
    _print_state(info, f"{info.name} means version {info.version} again{use}", as_json=as_json)


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
    name, deleted = rows[0].name, app.delete_template(workspace, spec, store=store)
    if as_json:
        print_json({"schema_version": SCHEMA_VERSION, "name": name, "deleted": deleted})
    else:
        note(f"{count(deleted, 'version')} of {clean(name)} deleted")


def print_changes(console: Console, changes: Sequence[Change]) -> None:
    """Print one line for each change, and the texts of a changed value below it."""
    for change in changes:
        head = f"{SIGNS[change.kind]} {change.section} {one_line(change.what)}".rstrip()
        console.print(head, style=COLOURS[change.kind], soft_wrap=True)
        if change.kind == "changed":
            console.print(f"    was {one_line(change.before)}", soft_wrap=True)
            console.print(f"    is  {one_line(change.after)}", soft_wrap=True)


def change_json(change: Change) -> dict[str, str]:
    """A change for machines."""
    return {
        "kind": str(change.kind),
        "section": change.section,
        "what": change.what,
        "before": change.before,
        "after": change.after,
    }


def print_page(console: Console, page: TemplatePage, *, full: bool = False) -> None:
    """Print head, contents, flags and record of a template."""
    from warmstart.app import write_page  # noqa: PLC0415 - not for listings

    info, template = page.info, page.template
    console.print(clean(f"{info.spec}  {info.state}"), style="bold")
    for line in _list_newer(page):
        console.print(clean(line), style="yellow", soft_wrap=True)
    if template.description:
        console.print(clean(template.description), soft_wrap=True)
    tags = f", tags {', '.join(template.tags)}" if template.tags else ""
    tokens = f"about {info.summary.get('tokens', 0):,} tokens"
    line = f"{template.task_type}{tags}, {tokens}, id {info.id[:12]}"
    console.print(clean(line), style="dim", soft_wrap=True)
    why = f": {info.reason}" if info.reason else ""
    console.print(clean(f"made {local_time(info.created_at)}{why}"), style="dim", soft_wrap=True)
    for section in write_page(template, full=full):
        _print_section(console, section.title, section.lines)
    if page.evidence:
        title = f"FLAGS ({len(page.evidence)}): orders to an agent, or commands to look at first"
        _print_section(console, title, page.evidence, style="bold red")
    _print_section(console, "How sessions with it went", list(_list_record(page)))


def page_json(page: TemplatePage) -> dict[str, Any]:
    """A template with everything known of it, for machines."""
    from warmstart.app import template_to_dict  # noqa: PLC0415 - not for listings

    return {
        **row_json(page.info),
        "path": str(page.path),
        "flags": list(page.flags),
        "evidence": list(page.evidence),
        "newer": [{"version": one.version, "state": str(one.state)} for one in page.newer],
        "records": [
            {
                "model": row.model, "arm": str(row.arm), "uses": row.uses,
                "successes": row.successes, "failures": row.failures, "calls": row.calls,
                "errors": row.errors,
            }
            for row in page.records
        ],
        "verdicts": [
            {
                "model": verdict.model, "text": verdict.text, "numbers": dict(verdict.numbers),
                "decided_at": iso_time(verdict.decided_at),
            }
            for verdict in page.verdicts
        ],
        "template": template_to_dict(page.template),
    }  # fmt: skip


def row_json(info: TemplateVersion) -> dict[str, Any]:
    """A version for machines."""
    record = info.record
    interval = record.success_interval
    return {
        "name": info.name,
        "version": info.version,
        "id": info.id,
        "state": str(info.state),
        "reason": info.reason,
        "current": info.current,
        "versions": info.versions,
        "newest": info.newest,
        "created_at": iso_time(info.created_at),
        **{key: value for key, value in info.summary.items() if key != "markers"},
        "uses": record.uses,
        "settled": record.settled,
        "successes": record.successes,
        "success_rate": record.success_rate,
        "success_interval": list(interval) if interval else None,
        "verdict": info.verdict or None,
    }


def _print_listing(rows: Sequence[TemplateVersion], *, as_json: bool, of_one: bool = False) -> None:
    if as_json:
        print_json({"schema_version": SCHEMA_VERSION, "templates": [row_json(row) for row in rows]})
        return
    if not rows:
        note("no templates; make one: warmstart template auto, or: warmstart template build")
        return
    columns = [
        Column(name="NAME", style="cyan", max_width=40),
        Column(name="VER", right=True),
        Column(name="TYPE", max_width=12),
        Column(name="EX", right=True),
        Column(name="TOKENS", right=True),
        Column(name="USES", right=True),
        Column(name="SUCCESS", right=True),
        Column(name="VERDICT"),
        Column(name="STATE"),
        Column(name="AGE", right=True),
        Column(name="DESCRIPTION"),
    ]
    print_table(columns, [_cells(row, of_one=of_one) for row in rows])
    waiting = sum(row.state is TemplateState.QUARANTINED for row in rows)
    review = f", {waiting} to review" if waiting else ""
    note(count(len(rows), "version" if of_one else "template") + review)


def _cells(info: TemplateVersion, *, of_one: bool) -> list[StyledText]:
    mark = "*" if of_one and info.current else ""
    newer = "+" if info.newest > info.version and not of_one else ""
    age = readable_duration(max(time.time() - info.created_at, 0.0))
    return [
        StyledText(clean(info.name)),
        StyledText(f"{mark}{info.version}{newer}"),
        StyledText(one_line(info.task_type) or "-"),
        StyledText(f"{info.summary.get('examples', 0):,}"),
        StyledText(f"{info.summary.get('tokens', 0):,}"),
        StyledText(f"{info.record.uses:,}"),
        StyledText(_describe_success(info)),
        StyledText(
            one_line(info.verdict) or "-", style=VERDICTS.get(info.verdict.partition(" ")[0], "")
        ),
        StyledText(f"{info.state}{' !' if info.flags else ''}", style=STYLES.get(info.state, "")),
        StyledText(age),
        StyledText(one_line(info.reason if info.state == "retired" else info.description)),
    ]


def _describe_success(info: TemplateVersion) -> str:
    interval, rate = info.record.success_interval, info.record.success_rate
    return f"{rate:.0%} ({interval[0]:.0%}-{interval[1]:.0%})" if interval else "-"


def _print_section(
    console: Console, title: str, lines: Sequence[str], *, style: str = "bold"
) -> None:
    console.print()
    console.print(clean(title), style=style)
    for line in lines:
        console.print(clean(f"  {line}"), soft_wrap=True)


def _list_newer(page: TemplatePage) -> list[str]:
    """Lines about newer versions, so that nobody takes one version for another."""
    if not page.newer:
        return []
    info, newest = page.info, page.newer[-1]
    is_used = info.current and info.state is TemplateState.APPROVED
    shown = f"this is version {info.version}{', the one in use' if is_used else ''}"
    newer = f"version {newest.version} ({newest.state}) is newer"
    return [
        f"{shown}; {newer}: {newest.review_steps[0]}",
        f"what differs: warmstart template diff {info.spec} {newest.spec}",
    ]


def _list_record(page: TemplatePage) -> Iterator[str]:
    record = page.info.record
    if record.uses:
        success = _describe_success(page.info)
        yield f"used {count(record.uses, 'time')}, {record.settled:,} settled, success {success}"
    else:
        yield "not used yet"
    for row in page.records:
        yield (
            f"{row.model or 'unknown model'}, {row.arm}: {row.uses:,} sessions,"
            f" {row.successes:,} succeeded, {row.failures:,} failed"
        )
    for verdict in page.verdicts:
        yield f"{local_time(verdict.decided_at)} {verdict.model}: {verdict.text}"


def _print_review(review: Review) -> None:
    console, info = open_console(), review.page.info
    print_page(console, review.page)
    if review.problem:
        note(review.problem)
    console.print()
    if review.replaces is None:
        console.print("no version of it is in use, so all of it is new")
        return
    from warmstart.app import count_changes  # noqa: PLC0415 - not for listings

    total = count_changes(review.changes) or "nothing that an agent is taught"
    title = f"What changes against {review.replaces.spec}, the one in use: {total}"
    console.print(clean(title), style="bold", soft_wrap=True)
    print_changes(console, review.changes[:MAX_CHANGES])
    more = len(review.changes) - MAX_CHANGES
    if more > 0:
        note(f"{more} more: warmstart template diff {review.replaces.spec} {info.spec}")


def _refuse_unasked(review: Review, *, despite_flags: bool) -> UsageError:
    options = " --despite-flags" if despite_flags else ""
    info = review.page.info
    show, approve = info.review_steps
    return UsageError(
        f"nobody can be asked here, so approving {info.name!r} needs the version and --yes",
        hint=f"read it: {show}; then: {approve} --yes{options}",
    )


def _print_state(info: TemplateVersion, sentence: str, *, as_json: bool, **more: Any) -> None:
    if not as_json:
        note(sentence)
        return
    state = {
        "name": info.name,
        "version": info.version,
        "id": info.id,
        "state": str(info.state),
        "reason": info.reason,
        "current": info.current,
    }
    print_json({"schema_version": SCHEMA_VERSION, **state, **more})


def _add_commands() -> None:
    """The commands of the other two modules."""
    from warmstart.cli.template_build import BUILD_COMMANDS  # noqa: PLC0415 - they use options from here
    from warmstart.cli.template_share import SHARE_COMMANDS  # noqa: PLC0415 - same

    for command in (*SHARE_COMMANDS, *BUILD_COMMANDS):
        template.add_command(command)


_add_commands()
