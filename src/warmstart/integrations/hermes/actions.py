"""What each command of ``hermes warm`` does: through the workspace, then printed.

Sessions are Hermes' own unless the command says otherwise. A template made here is a draft until a
person approves it.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterable
from typing import Any

from warmstart.app import Workspace
from warmstart.app.compare import compare_sides
from warmstart.app.mining import BuildResult, build_from_session, build_template
from warmstart.app.profile import CompactionRequest, check_compaction, profile_session
from warmstart.app.start import try_template
from warmstart.app.templates import delete_template
from warmstart.app.templates import list_templates as list_library
from warmstart.integrations.hermes import reports
from warmstart.integrations.hermes.printing import (
    print_document,
    print_lines,
    print_notes,
    show_progress,
)
from warmstart.mine import BuildRequest, Rules
from warmstart.model.selection import Selection
from warmstart.present import to_json
from warmstart.sources import READERS, ReadLog
from warmstart.template import check_name, make_name

HERMES = Selection(source="hermes")
EVERY = "all"
NOTE = "mined by hermes warm"
Args = argparse.Namespace


def analyze(args: Args) -> None:
    """A session with its user and its context."""
    result = profile_session(Workspace.open(), args.session_id, HERMES)
    found = result.profile
    _show(args, {"analysis": to_json(found)}, lambda: reports.say_analysis(found), result.log)


def profile(args: Args) -> None:
    """How reliable a session was."""
    result = profile_session(Workspace.open(), args.session_id, HERMES)
    found = result.profile
    _show(args, {"profile": to_json(found)}, lambda: reports.say_profile(found), result.log)


def check_compression(args: Args) -> None:
    """Errors before and after its compactions; all other sessions are the comparison."""
    wanted = CompactionRequest(wanted=args.session_id)
    with show_progress() as tell:
        result = check_compaction(Workspace.open(), wanted, HERMES, on_progress=tell)
    found = result.report
    _show(args, {"report": to_json(found)}, lambda: reports.say_compaction(found), result.log)


def compare(args: Args) -> None:
    """Two sessions."""
    sides = [(wanted, wanted) for wanted in (args.session_id, args.compare_with)]
    result = compare_sides(Workspace.open(), sides, HERMES)
    found = result.comparison
    document: dict[str, Any] = to_json(found)
    for side in ("first", "second"):
        document[side].pop("tool_sums")  # the working of the comparison, of no use outside
    _show(args, {"comparison": document}, lambda: reports.say_comparison(found), result.log)


def extract(args: Args) -> None:
    """A draft of one session."""
    name = make_name(args.name or f"hermes-{args.session_id}")
    request = BuildRequest(name=name, description=args.description)
    workspace, log = Workspace.open(), ReadLog()
    built = build_from_session(workspace, args.session_id, request, HERMES, log, note=NOTE)
    _show_built(args, built, log)


def build(args: Args) -> None:
    """A draft of many sessions."""
    workspace, log = Workspace.open(), ReadLog()
    request = BuildRequest(
        name=make_name(args.named or args.name or "hermes"),
        description=args.description,
        tags=tuple(tag.strip() for tag in args.tags.split(",") if tag.strip()),
        max_sessions=args.max_sessions,
        rules=Rules(min_messages=args.min_messages),
    )
    with show_progress() as tell:
        built = build_template(workspace, request, _select(args), log, note=NOTE, on_progress=tell)
    _show_built(args, built, log)


def list_templates(args: Args) -> None:
    """Every template."""
    rows = list_library(Workspace.open())
    document = {"templates": [reports.describe_row(row) for row in rows]}
    _show(args, document, lambda: reports.say_templates(rows))


def test(args: Args) -> None:
    """What a session would start with."""
    trial = try_template(
        Workspace.open(), args.template_id, args.message, budget=args.budget or None,
        unreviewed=args.unreviewed, way="--unreviewed",
    )  # fmt: skip
    info, warmup = trial.info, trial.warmup
    tried = {
        "template": info.name, "version": info.version, "state": str(info.state), "id": info.id,
        "form": trial.form, "tokens": warmup.tokens, "parts": list(warmup.parts),
        "left_out": list(warmup.left_out), "messages": trial.content["messages"],
    }  # fmt: skip
    _show(args, {"test": tried, "state": str(info.state)}, lambda: reports.say_test(tried))
    if trial.unreviewed:
        print_notes([f"unreviewed: {trial.unreviewed}"])


def delete(args: Args) -> None:
    """Remove a template."""
    name = check_name(args.template_id)
    versions = delete_template(Workspace.open(), name)
    document = {"deleted": name, "versions": versions}
    _show(args, document, lambda: [f"deleted {name}: {versions} version(s)"])


def _show_built(args: Args, built: BuildResult, log: ReadLog) -> None:
    if built.saved is not None:
        saved = built.saved
        document = reports.describe_mined(built, saved)
        _show(args, document, lambda: reports.say_mined(built, saved), log)


def _select(args: Args) -> Selection:
    """A source is a format warmstart reads, else the name of an agent."""
    wanted = args.source_filter
    if wanted == EVERY:
        return Selection()
    return Selection(source=wanted) if wanted in READERS else Selection(agent=wanted)


def _show(
    args: Args,
    document: dict[str, Any],
    say: Callable[[], Iterable[str]],
    log: ReadLog | None = None,
) -> None:
    """Print it, then say on stderr what could not be read."""
    if args.as_json:
        skipped = {"skipped": dict(log.counts)} if log else {}
        print_document({**document, **skipped})
    else:
        print_lines(say())
    print_notes(log.sentences() if log else ())


ACTIONS: dict[str, Callable[[Args], None]] = {
    "analyze": analyze,
    "build": build,
    "compare": compare,
    "compress-check": check_compression,
    "create-template": extract,
    "delete": delete,
    "extract": extract,
    "list": list_templates,
    "list-templates": list_templates,
    "profile": profile,
    "test": test,
}
