"""``warmstart demo``: what works today, on the sample sessions that ship with the package.

A story to be read top to bottom; it needs no configuration, fetches nothing and leaves nothing
behind. JSON is one object: ``schema_version``, ``samples``, ``stores``, ``sessions``, ``totals``,
``naive``, ``repairs``, ``template``, ``warmup``, ``demonstration`` (the verdict of a scripted
model), ``next`` and ``skipped``.
"""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click
from rich.text import Text

from warmstart.cli import _findings
from warmstart.cli._demo_loop import MESSAGE, mine_and_warm, open_demo, prove
from warmstart.cli._demo_tell import (
    tell_learning,
    tell_template,
    tell_verdict,
    tell_warmup,
    template_json,
)
from warmstart.cli._findings import Disagreement, Repair, SampleStore
from warmstart.cli._listing import Tally, percent
from warmstart.cli._outcome import describe_arguments, outcome_line
from warmstart.cli._output import (
    Column,
    list_skips,
    open_console,
    print_json,
    print_table,
    report_skips,
)
from warmstart.cli._text import clean, count, one_line
from warmstart.cli._transcript import Piece, print_pieces, render_call
from warmstart.experiment.verdict import to_dict
from warmstart.facts import derive_facts
from warmstart.model import Call, Session, Status, count_messages
from warmstart.profile.corpus import corpus_profile
from warmstart.profile.summarise import summarise
from warmstart.samples import samples_path
from warmstart.sources import ReadLog

if TYPE_CHECKING:
    from rich.console import Console

    from warmstart.app import Workspace

SCHEMA_VERSION = 1
WORST_SESSIONS = 5
MAX_EXCERPT_LENGTH = 150
NOT_MISTAKES = (Status.REJECTED, Status.CANCELLED, Status.UNANSWERED)


@click.command()
@click.option("--json", "as_json", is_flag=True, help="The same figures as JSON.")
def demo(*, as_json: bool) -> None:
    """Show what warmstart does, on sample sessions that ship with it.

    Needs no configuration and no network, and leaves nothing behind.
    """
    log = ReadLog()
    stores = _findings.read_samples(samples_path(), log)
    with open_demo() as workspace:
        if as_json:
            print_json(_story_json(workspace, stores, log))
        else:
            _tell_story(open_console(), workspace, stores)
    report_skips(log)


def list_next_commands() -> list[tuple[str, str]]:
    """What to type next, and what it is for."""
    samples = shlex.quote(str(samples_path()))
    return [
        ("warmstart doctor", "finds the sessions that your own agents keep on this machine"),
        ("warmstart profile", "says how reliable they were, and where it would pay to fix"),
        ("warmstart sessions show ID --errors", "shows one, each failure with its evidence"),
        ("warmstart template auto", "mines the best of them into templates to review"),
        ("warmstart run -- claude", "starts the next one warm"),
        (f"warmstart sessions list {samples}", "lists the sessions of this demo"),
    ]


def _tell_story(console: Console, workspace: Workspace, stores: Sequence[SampleStore]) -> None:
    sessions = [session for store in stores for session in store.sessions]
    _tell_stores(console, stores)
    _tell_rates(console, stores)
    tell_learning(console, corpus_profile([summarise(map(derive_facts, sessions))]))
    _tell_worst(console, sessions)
    _tell_judgement(console, sessions)
    _tell_repair(console, _findings.find_repairs(sessions))
    warmed = mine_and_warm(workspace, samples_path(), ReadLog())
    _heading(console, "5. What worked, as a template")
    tell_template(console, warmed)
    _heading(console, "6. What a new session is sent")
    tell_warmup(console, warmed, MESSAGE)
    _heading(console, "7. Does it help? Ask, instead of hoping")
    tell_verdict(console, prove(workspace))
    _tell_next(console)


def _heading(console: Console, text: str) -> None:
    console.print(Text(f"\n{text}\n", style="bold"))


def _tell_stores(console: Console, stores: Sequence[SampleStore]) -> None:
    console.print(
        Text(
            "warmstart reads the sessions that agents leave on disk and judges every tool call."
            " Here it does so on sessions that ship with it: invented work, in the agents' own"
            " formats."
        )
    )
    _heading(console, "1. Where the sessions are")
    columns = [Column(name="AGENT", style="cyan")]
    columns += [Column(name=name, right=True) for name in ("SESSIONS", "MESSAGES", "CALLS")]
    rows = []
    for store in stores:
        messages = sum(count_messages(session) for session in store.sessions)
        numbers = (len(store.sessions), messages, store.tally.calls)
        rows.append([store.agent, *(f"{n:,}" for n in numbers), f"samples/{store.path.name}"])
    print_table(console, [*columns, Column(name="FOLDER")], [_texts(row) for row in rows])


def _texts(cells: Sequence[str]) -> list[Text]:
    return [Text(clean(cell)) for cell in cells]


def _tell_rates(console: Console, stores: Sequence[SampleStore]) -> None:
    _heading(console, "2. How reliable each agent was")
    names = ("CALLS", "ERRORS", "REJECTED", "CANCELLED", "UNANSWERED", "ERROR RATE")
    columns = [Column(name="AGENT", style="cyan")]
    columns += [Column(name=name, right=True) for name in names]
    total = Tally.of(call for store in stores for call in _findings.list_calls(store.sessions))
    rows = [[Text(store.agent), *_tally_cells(store.tally)] for store in stores]
    print_table(console, columns, [*rows, [Text("together"), *_tally_cells(total)]])
    console.print(
        Text(
            "\nA call that was rejected or cancelled is not the agent's mistake, one without an"
            f" answer is no success: the rate is over the {total.judged:,} that were ok or an"
            " error."
        )
    )


def _tally_cells(tally: Tally) -> list[Text]:
    others = (f"{tally.statuses[status]:,}" for status in NOT_MISTAKES)
    return _texts([f"{tally.calls:,}", f"{tally.errors:,}", *others, percent(tally.rate)])


def _tell_worst(console: Console, sessions: Sequence[Session]) -> None:
    tallies = [(session, Tally.of(session.calls)) for session in sessions]
    worst = sorted(tallies, key=lambda pair: (-pair[1].errors, pair[0].id))[:WORST_SESSIONS]
    console.print(Text(f"\nOf the {len(sessions)} sessions, these had most errors:\n"))
    columns = [Column(name="SESSION", style="cyan", max_width=30)]
    columns += [Column(name=name, right=True) for name in ("CALLS", "ERRORS", "RATE")]
    rows = [
        [session.id, f"{tally.calls:,}", f"{tally.errors:,}", percent(tally.rate),
         one_line(session.title or "")]
        for session, tally in worst
    ]  # fmt: skip
    print_table(console, [*columns, Column(name="TITLE")], [_texts(row) for row in rows])


def _tell_judgement(console: Console, sessions: Sequence[Session]) -> None:
    calls = _findings.list_calls(sessions)
    found = _findings.find_disagreements(sessions)
    alarms = sum(one.naive_error for one in found)
    words = " or ".join(f'"{word}"' for word in _findings.NAIVE_WORDS)
    examples = _findings.choose_examples(found)
    _heading(console, "3. Why not just look for the word error?")
    console.print(
        Text(
            f"A naive test, {words} anywhere in the result, finds"
            f" {count(sum(map(_findings.says_error, calls)), 'error')} in these {len(calls):,}"
            f" calls; the judge finds {Tally.of(calls).errors:,}. That is"
            f" {count(alarms, 'false alarm')} and {count(len(found) - alarms, 'missed failure')}."
            f" {len(examples)} of them, each with the rule that decided:"
        )
    )
    for example in examples:
        _tell_disagreement(console, example)


def _tell_disagreement(console: Console, one: Disagreement) -> None:
    asked = f"{clean(one.call.tool)} {describe_arguments(one.call.request)}"
    console.print(Text(f"\n→ {one_line(asked, MAX_EXCERPT_LENGTH)}", style="bold"))
    excerpt = Text(one_line(_findings.result_text(one.call), MAX_EXCERPT_LENGTH), style="dim")
    naive = Text(f"naive: {'error' if one.naive_error else 'ok'}")
    judged = Text("judge: ").append_text(outcome_line(one.call.outcome))
    print_pieces(console, (Piece(line, 2) for line in (excerpt, naive, judged)))


def _tell_repair(console: Console, repairs: Sequence[Repair]) -> None:
    repair = _findings.choose_repair(repairs)
    if repair is None:
        return
    _heading(console, "4. A failure and its repair")
    places = len({one.session.id for one in repairs})
    console.print(
        Text(
            f"{count(len(repairs), 'failure')} in {count(places, 'session')} ended well: the same"
            " tool on the same file worked a few calls later. Each session learnt that anew."
            f" One of them, calls {repair.calls[0].position} to {repair.calls[-1].position} of"
            f" {clean(repair.session.id)}:\n"
        )
    )
    for call in repair.calls:
        print_pieces(console, render_call(call, full=False))


def _tell_next(console: Console) -> None:
    _heading(console, "8. Now on your own sessions")
    for command, purpose in list_next_commands():
        console.print(Text(command, style="bold"), soft_wrap=True)
        console.print(Text(f"  {purpose}", style="dim"))


def _story_json(
    workspace: Workspace, stores: Sequence[SampleStore], log: ReadLog
) -> dict[str, Any]:
    sessions = [session for store in stores for session in store.sessions]
    totals = Tally.of(_findings.list_calls(sessions))
    repairs = _findings.find_repairs(sessions)
    return {
        "schema_version": SCHEMA_VERSION,
        "samples": str(samples_path()),
        "stores": [
            {
                "agent": store.agent,
                "path": str(store.path),
                "sessions": len(store.sessions),
                **_tally_json(store.tally),
            }
            for store in stores
        ],
        "sessions": [_session_json(session) for session in sessions],
        "totals": {"sessions": len(sessions), **_tally_json(totals)},
        "naive": _naive_json(sessions),
        "repairs": {"found": len(repairs), "example": _repair_json(repairs)},
        **template_json(mine_and_warm(workspace, samples_path(), ReadLog())),
        "demonstration": to_dict(prove(workspace)),
        "next": [command for command, _ in list_next_commands()],
        "skipped": list_skips(log),
    }


def _session_json(session: Session) -> dict[str, Any]:
    about = {"id": session.id, "agent": session.agent, "title": session.title}
    return {**about, "messages": count_messages(session), **_tally_json(Tally.of(session.calls))}


def _tally_json(tally: Tally) -> dict[str, Any]:
    others = {str(status): tally.statuses[status] for status in NOT_MISTAKES}
    return {"calls": tally.calls, "errors": tally.errors, **others, "error_rate": tally.rate}


def _naive_json(sessions: Sequence[Session]) -> dict[str, Any]:
    found = _findings.find_disagreements(sessions)
    alarms = sum(one.naive_error for one in found)
    return {
        "words": list(_findings.NAIVE_WORDS),
        "errors": sum(map(_findings.says_error, _findings.list_calls(sessions))),
        "false_alarms": alarms,
        "missed": len(found) - alarms,
        "examples": [
            {"session": one.session.id, "naive_error": one.naive_error, **_call_json(one.call)}
            for one in _findings.choose_examples(found)
        ],
    }


def _repair_json(repairs: Sequence[Repair]) -> dict[str, Any] | None:
    repair = _findings.choose_repair(repairs)
    if repair is None:
        return None
    return {"session": repair.session.id, "calls": [_call_json(call) for call in repair.calls]}


def _call_json(call: Call) -> dict[str, Any]:
    return {
        "position": call.position,
        "tool": call.tool,
        "arguments": dict(call.request.arguments),
        "result": _findings.result_text(call),
        "status": call.outcome.status,
        "error_class": call.outcome.error_class,
        "certainty": call.outcome.certainty,
        "evidence": call.outcome.evidence,
    }
