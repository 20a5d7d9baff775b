"""What ``hermes warm`` says, line by line; pure text from what the workspace found."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from warmstart.app.mining import BuildResult
from warmstart.integrations.hermes.printing import (
    make_table,
    percent,
    say_points,
    say_rate,
    shorten,
)
from warmstart.library import Saved, TemplateVersion
from warmstart.profile import SessionProfile
from warmstart.profile.compaction import CompactionReport
from warmstart.profile.comparison import Comparison
from warmstart.profile.proficiency import PROFICIENCY_FORMULA
from warmstart.stats.proportion import wilson

MAX_ROWS = 12
MAX_MARKERS = 8
TOOL_COLUMNS = ("TOOL", "CALLS", "OK", "ERRORS", "ERROR RATE", "95 %")


def say_analysis(found: SessionProfile) -> Iterator[str]:
    """A session with its user and its context."""
    yield from _say_head("Session analysis", found)
    yield "\nTool calls"
    yield from _say_tools(found)
    yield "\nUser"
    yield f"  request style {found.style or '-'}, feedback style {found.feedback or '-'}"
    yield f"  {found.turns:,} turns, preferred tools {', '.join(found.preferred_tools) or '-'}"
    if found.markers:
        yield "\nContext markers"
        rows = [[one.value, str(one.kind), f"{one.uses:,}"] for one in found.markers[:MAX_MARKERS]]
        yield from make_table(("MARKER", "KIND", "USES"), rows, texts=2)


def say_profile(found: SessionProfile) -> Iterator[str]:
    """How reliable a session was."""
    yield from _say_head("Session profile", found)
    if found.gain is not None:
        early, late = percent(found.early_rate), percent(found.late_rate)
        gain = say_points(found.gain)
        yield f"first fifth {early}, last fifth {late} of calls failed: {gain} points"
    kind = found.task_type or "-"
    yield f"task type {kind}, dominant tool type {found.dominant_tool_type or '-'}"
    yield ""
    yield from _say_tools(found)
    if found.error_classes:
        yield "  " + ", ".join(f"{name} {number}" for name, number in found.error_classes.items())
    if found.repair_rate is not None:
        yield f"{percent(found.repair_rate)} of the failures were repaired"


def say_compaction(found: CompactionReport) -> Iterator[str]:
    """What its compactions did."""
    if not found.events:
        yield "this session was never compacted"
        return
    yield found.sentence
    if found.conversations:
        yield f"  before  {say_rate(found.before)}"
        yield f"  after   {say_rate(found.after)}"
        low, high = say_points(found.low), say_points(found.high)
        yield f"  mean change {say_points(found.change)} points [{low}, {high}]"
    yield f"  {len(found.events):,} compaction(s), {found.conversations:,} could be compared"


def say_comparison(found: Comparison) -> Iterator[str]:
    """Two sessions."""
    yield str(found.verdict)
    yield found.sentence
    yield f"  A {found.first.label}  {say_rate(found.first_rate)}"
    yield f"  B {found.second.label}  {say_rate(found.second_rate)}"


def say_templates(rows: Sequence[TemplateVersion]) -> Iterator[str]:
    """Every template."""
    if not rows:
        yield "no templates yet; make one: hermes warm build NAME"
        return
    for row in rows:
        yield f"{row.name}@{row.version}  {row.state}"
        if row.summary.get("description"):
            yield f"  {shorten(str(row.summary['description']))}"
        yield f"  {row.summary.get('examples', 0)} examples, {row.summary.get('tokens', 0)} tokens"
        yield f"  used {row.record.uses:,} times, {_say_success(row)}"


def say_test(tried: Mapping[str, Any]) -> Iterator[str]:
    """Exactly the messages, in their order."""
    messages = tried["messages"]
    name = f"{tried['template']}@{tried['version']}"
    yield f"{name}: {len(messages)} messages, about {tried['tokens']:,} tokens"
    for message in messages:
        yield ""
        yield f"[{message['role']}]"
        if message.get("content"):
            yield str(message["content"])
        for call in message.get("tool_calls", ()):
            yield f"call {call['function']['name']} {call['function']['arguments']}"


def say_mined(mined: BuildResult, saved: Saved) -> Iterator[str]:
    """What was made, and what is next."""
    template, plan = mined.template, mined.plan
    state = "saved as" if saved.is_new else "there already as"
    yield f"{saved.name}: {state} version {saved.version} ({saved.state})"
    yield (
        f"  {len(template.examples)} examples, {len(template.recoveries)} recoveries, "
        f"{len(template.guidance)} lines of guidance"
    )
    if plan is not None:
        yield f"  sessions: {plan.looked_at:,} looked at, {len(plan.qualified):,} qualify"
        for reason, number in plan.left_out.items():
            yield f"    left out: {number:,} {reason}"
    redacted = ", ".join(f"{n} {kind}" for kind, n in template.provenance.redactions.items())
    yield f"  redacted: {redacted or 'nothing found'}"
    if template.provenance.flags:
        yield f"  reads like instructions, look at it: {', '.join(template.provenance.flags)}"
    for command in saved.next_steps:
        yield f"  next: {command}"


def describe_mined(mined: BuildResult, saved: Saved) -> dict[str, Any]:
    """The same for machines."""
    template, plan = mined.template, mined.plan
    return {
        "template": {
            "name": saved.name,
            "version": saved.version,
            "id": saved.id,
            "state": str(saved.state),
            "path": str(saved.path),
        },
        "is_new": saved.is_new,
        "sessions": template.provenance.sessions,
        "examples": len(template.examples),
        "recoveries": len(template.recoveries),
        "guidance": [line.text for line in template.guidance],
        "left_out": dict(plan.left_out) if plan else {},
        "redactions": dict(template.provenance.redactions),
        "flags": list(template.provenance.flags),
        "next": saved.next_steps,
    }


def describe_row(row: TemplateVersion) -> dict[str, Any]:
    """A template's row for machines."""
    record = row.record
    settled = record.successes + record.failures
    return {
        "name": row.name,
        "version": row.version,
        "id": row.id,
        "state": str(row.state),
        "description": row.summary.get("description", ""),
        "task_type": row.summary.get("task_type", ""),
        "tags": list(row.summary.get("tags", ())),
        "examples": row.summary.get("examples", 0),
        "tokens": row.summary.get("tokens", 0),
        "uses": record.uses,
        "successes": record.successes,
        "failures": record.failures,
        "success_rate": record.successes / settled if settled else None,
        "calls": record.calls,
        "errors": record.errors,
    }


def _say_head(title: str, found: SessionProfile) -> Iterator[str]:
    yield f"{title}: {found.session_id}"
    if found.title:
        yield f"  {shorten(found.title)}"
    yield f"{found.messages:,} messages, {found.calls:,} calls"
    if found.warmups:
        yield f"{found.warmups:,} messages of a warm-up, never counted"
    yield f"error rate {say_rate(found.rate)}"
    if found.proficiency is not None:
        yield f"proficiency {found.proficiency:.2f} = {PROFICIENCY_FORMULA}"


def _say_tools(found: SessionProfile) -> list[str]:
    rows = [
        [one.tool, f"{one.calls:,}", f"{one.ok:,}", f"{one.errors:,}", percent(one.rate),
         f"{100 * one.low:.1f}-{100 * one.high:.1f}"]
        for one in found.tools[:MAX_ROWS]
    ]  # fmt: skip
    return make_table(TOOL_COLUMNS, rows) if rows else ["  no calls"]


def _say_success(row: TemplateVersion) -> str:
    settled = row.record.successes + row.record.failures
    if not settled:
        return "no outcome known yet"
    low, high = wilson(row.record.successes, settled)
    return f"{row.record.successes / settled:.0%} success ({low:.0%}-{high:.0%}, {settled} settled)"
