"""Two sides of a comparison: which sessions they are, read so that no skip is reported twice."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from warmstart.app.core import Workspace
from warmstart.app.facts import read_facts
from warmstart.app.redaction import open_redactor, redact_texts
from warmstart.errors import NotFoundError
from warmstart.facts import derive_facts
from warmstart.model import Selection, SessionFacts
from warmstart.profile import DEFAULT_RULES, Comparison, Side, ToolRules, collect_side, compare
from warmstart.sources import ReadLog

__all__ = ["CompareResult", "compare_sides"]

Choice = Selection | str
"""A selection, or the id of one session."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CompareResult:
    """Two sides and what the difference between them amounts to."""

    comparison: Comparison
    log: ReadLog


def compare_sides(
    workspace: Workspace,
    sides: Sequence[tuple[str, Choice]],
    within: Selection,
    *,
    rules: ToolRules = DEFAULT_RULES,
    log: ReadLog | None = None,
) -> CompareResult:
    """Two sides, each a label with what it stands for; single sessions are looked for ``within``.

    No secret is left in labels and names. ``log`` is for callers that report skips on failure too.

    Raises:
        NotFoundError: there is no such session, or none that a selection asks for.
    """
    # What one side read are no copies on the other, so each has a log of its own.
    logs, log = [ReadLog() for _ in sides], log or ReadLog()
    made = [
        collect_side(label, _read_side(workspace, chosen, within, own), rules)
        for (label, chosen), own in zip(sides, logs, strict=True)
    ]
    places = [_list_places(chosen, within) for _, chosen in sides]
    _join_logs(log, logs[0], logs[1], same_places=places[0] == places[1])
    redactor = open_redactor(workspace)
    _refuse_empty([(redactor.text(side.label), side) for side in made])
    return CompareResult(comparison=redact_texts(compare(*made), redactor), log=log)


def _read_side(
    workspace: Workspace, chosen: Choice, within: Selection, log: ReadLog
) -> Iterable[SessionFacts]:
    if isinstance(chosen, str):
        return [derive_facts(workspace.get_session(chosen, within, log))]
    return read_facts(workspace, chosen, log)


def _list_places(chosen: Choice, within: Selection) -> tuple[object, ...]:
    """What tells the places that one side is looked for in from those of another."""
    side = within if isinstance(chosen, str) else chosen
    return side.paths, side.format, None if side.paths else side.source


def _join_logs(log: ReadLog, one: ReadLog, two: ReadLog, *, same_places: bool) -> None:
    """Add what either side left out; what both met is counted once.

    Both met it if they read the same places, or if their first case of a reason is the same.
    """
    log.examples = two.examples | one.examples | log.examples
    log.notes.extend(dict.fromkeys([*one.notes, *two.notes]))
    for reason in one.counts | two.counts:
        counts = one.counts[reason], two.counts[reason]
        is_same = same_places or one.examples.get(reason) == two.examples.get(reason)
        log.counts[reason] += max(counts) if is_same else sum(counts)


def _refuse_empty(sides: Iterable[tuple[str, Side]]) -> None:
    for name, (label, side) in zip("AB", sides, strict=True):
        if not side.rows:
            raise NotFoundError(
                f"no session matches {name} ({label})", wanted=label, hint="warmstart sessions list"
            )
