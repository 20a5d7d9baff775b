"""How ``warmstart warm`` prints: content on stdout, the reason on stderr.

JSON is one object: ``schema_version``, ``template`` with its ``version`` and ``template_id``,
``unreviewed`` (a draft nobody approved), ``arm``, ``reason``, ``task_type``, ``form``, ``tokens``,
``parts``, ``left_out``, ``ranking``, ``start`` (the row in the store, if it was written down) and
``content`` in the form asked for.
"""

from __future__ import annotations

import os
import sys
import time
import uuid
from dataclasses import asdict
from pathlib import Path
from typing import Any, NamedTuple

from warmstart.app import Workspace
from warmstart.app.warming import Occasion, Prepared, load_config, prepare
from warmstart.cli._output import Column, note, print_json, write_bytes
from warmstart.errors import UsageError
from warmstart.present import Span, clean, count, print_table
from warmstart.warm import FormKind, Ranked, Rendered, Target

SCHEMA_VERSION = 1


class Wish(NamedTuple):
    """The options of the command."""

    message: str
    template: str
    unreviewed: bool
    form: str
    agent: str
    agent_version: str
    seed: str
    tools: tuple[str, ...] = ()
    budget: int | None = None
    policy: str | None = None
    threshold: float | None = None
    model: str | None = None
    cwd: str | None = None
    session_id: str | None = None
    output: Path | None = None
    record: bool = False
    explain: bool = False
    as_json: bool = False
    force: bool = False
    quiet: bool = False


def print_warmup(wish: Wish) -> None:
    """Prepare and print.

    Raises:
        UsageError: there is neither a message to choose by nor a template.
    """
    if not wish.message.strip() and wish.template == "auto":
        raise UsageError(
            "without a message there is nothing to choose by", hint='warmstart warm "fix the tests"'
        )
    workspace = Workspace.open()
    session_id = wish.session_id or str(uuid.uuid4())
    prepared = _prepare(workspace, wish, session_id)
    if prepared.unreviewed:
        note(f"unreviewed: {prepared.unreviewed}")
    rendered = prepared.render(wish.form, _target(wish, session_id))
    if wish.as_json:
        print_json(_to_json(prepared, rendered, wish.form))
    elif wish.explain:
        _explain(prepared)
    elif prepared.is_warm:
        _write(workspace, rendered, wish)
    note(_sentence(prepared), quiet=wish.quiet)


def _prepare(workspace: Workspace, wish: Wish, session_id: str) -> Prepared:
    flags = {"budget": wish.budget, "policy": wish.policy, "threshold": wish.threshold}
    occasion = Occasion(
        message=wish.message,
        agent=wish.agent,
        model=wish.model,
        tools=wish.tools or None,
        template=wish.template,
        unreviewed=wish.unreviewed,
        cwd=_folder(wish),
        seed=wish.seed,
        form=wish.form,
        native_id=session_id if wish.form in ("claude-session", "codex-rollout") else None,
    )
    return prepare(workspace, occasion, load_config(workspace, flags), record=wish.record)


def _folder(wish: Wish) -> str:
    return str(Path(wish.cwd or os.curdir).absolute())


def _target(wish: Wish, session_id: str) -> Target:
    ask = [{"role": "user", "content": wish.message}] if wish.message.strip() else None
    return Target(
        messages=ask if wish.form in ("openai", "responses", "anthropic") else None,
        cwd=_folder(wish),
        session_id=session_id,
        version=wish.agent_version,
        now=time.time(),
        model=wish.model or "",
    )


def _write(workspace: Workspace, rendered: Rendered, wish: Wish) -> None:
    if wish.output is None:
        data = rendered.to_bytes()
        # A pipe gets the bytes as they are; a terminal nothing it would obey.
        write_bytes(clean(data.decode()).encode() if sys.stdout.isatty() else data)
        return
    if rendered.kind is not FormKind.FILES:
        workspace.write_file(wish.output, [rendered.to_bytes()], overwrite=wish.force)
        note(f"written to {wish.output}", quiet=wish.quiet)
        return
    for name, text in rendered.files.items():
        path = wish.output / name
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        workspace.write_file(path, [text.encode()], overwrite=wish.force)
        note(f"written to {path}", quiet=wish.quiet)


def _sentence(prepared: Prepared) -> str:
    if not prepared.is_warm:
        return f"{prepared.choice.arm}: {prepared.choice.reason}"
    warmup = prepared.warmup
    calls = sum(len(message.requests) for message in warmup.messages)
    left = f", {count(len(warmup.left_out), 'part')} left out" if warmup.left_out else ""
    return (
        f"warm: {prepared.choice.reason}; about {warmup.tokens:,} tokens,"
        f" {count(calls, 'example call')}{left}"
    )


def _explain(prepared: Prepared) -> None:
    ranking = prepared.choice.ranking
    if ranking:
        names = ("FIT", "FRESH", "SUCCESS", "DRAW", "USES", "VALUE", "SCORE")
        columns = [Column(name="TEMPLATE", max_width=40, style="cyan")]
        columns += [Column(name=name, right=True) for name in names]
        columns.append(Column(name="NOTE"))
        print_table(columns, [_cells(one) for one in ranking])
    for title, parts in (("in", prepared.warmup.parts), ("out", prepared.warmup.left_out)):
        for part in parts:
            sys.stdout.write(f"{title:<4}{clean(part)}\n")


def _cells(one: Ranked) -> list[Span]:
    numbers = (f"{one.fit:.2f}", f"{one.freshness:.0%}", f"{one.mean:.2f}", f"{one.draw:.2f}")
    cells = [clean(one.name), *numbers, f"{one.uses:,}", f"{one.value:.2f}", f"{one.score:.2f}"]
    return [Span(cell) for cell in (*cells, clean(one.note))]


def _to_json(prepared: Prepared, rendered: Rendered, form: str) -> dict[str, Any]:
    content: Any = rendered.files or (
        rendered.text if rendered.kind is FormKind.TEXT else rendered.body
    )
    warmup, choice = prepared.warmup, prepared.choice
    return {
        "schema_version": SCHEMA_VERSION,
        "template": choice.template,
        "version": prepared.version,
        "unreviewed": bool(prepared.unreviewed),
        "template_id": warmup.template_id or None,
        "arm": str(choice.arm),
        "reason": choice.reason,
        "task_type": choice.task_type,
        "form": form,
        "tokens": warmup.tokens,
        "parts": list(warmup.parts),
        "left_out": list(warmup.left_out),
        "ranking": [asdict(one) for one in choice.ranking],
        "start": prepared.start,
        "path": rendered.path or None,
        "content": content if prepared.is_warm else None,
    }
