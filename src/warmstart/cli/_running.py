"""What ``warmstart run`` does and prints.

JSON of ``--dry-run`` is one object: ``schema_version``, ``command``, ``environ`` (what is added),
``files`` that would be written (``path``, ``bytes``), ``arm``, ``template``,
``unreviewed`` (a draft nobody approved) and ``reason``.
"""

from __future__ import annotations

import shlex
import sys
from typing import IO

from warmstart.app import Workspace
from warmstart.cli._output import note, print_json, write_bytes
from warmstart.errors import NotFoundError
from warmstart.integrations import LaunchOptions, LaunchPlan, plan_launch, run_plan
from warmstart.present import clean

SCHEMA_VERSION = 1
EXIT_NO_COMMAND = 127
"""What a shell says of a command that is not there."""


def run_agent(
    command: tuple[str, ...], *, as_json: bool, quiet: bool, form: str | None, **given: object
) -> int:
    """Plan, say what, and start; the exit code."""
    workspace = Workspace.open()
    options = LaunchOptions(form=form or "", **given)  # type: ignore[arg-type] # click has checked them
    try:
        plan = plan_launch(workspace, command, options, stdin=_find_stdin(options))
    except NotFoundError as error:
        note(f"error: {error.message}")
        return EXIT_NO_COMMAND
    if plan.unreviewed:
        note(f"warmstart: unreviewed: {plan.unreviewed}")
    if options.dry_run:
        _show(plan, as_json=as_json)
        if not as_json and plan.sentence:
            note(plan.sentence, quiet=quiet)
        return 0
    if plan.sentence:
        note(f"warmstart: {plan.sentence}", quiet=quiet)
    sys.stdout.flush()
    return run_plan(workspace, plan, lambda text: note(f"warmstart: {text}", quiet=quiet))


def _find_stdin(options: LaunchOptions) -> IO[bytes] | None:
    """What the agent would read, unless that is a person; a look takes nothing away from it."""
    if options.dry_run or sys.stdin is None or sys.stdin.isatty():
        return None
    return sys.stdin.buffer


def _show(plan: LaunchPlan, *, as_json: bool) -> None:
    seeds = plan.launch.seeds
    if as_json:
        print_json({
            "schema_version": SCHEMA_VERSION,
            "command": list(plan.command),
            "environ": dict(plan.launch.environ),
            "files": [{"path": str(seed.path), "bytes": len(seed.data)} for seed in seeds],
            "arm": plan.arm,
            "template": plan.template,
            "unreviewed": bool(plan.unreviewed),
            "reason": plan.sentence,
        })  # fmt: skip
        return
    lines = [f"file: {seed.path} ({len(seed.data):,} bytes)" for seed in seeds]
    words = [f"{name}={shlex.quote(value)}" for name, value in plan.launch.environ.items()]
    lines.append(" ".join([*words, shlex.join(plan.command)]))
    write_bytes(("\n".join(map(clean, lines)) + "\n").encode("utf-8", "replace"))
