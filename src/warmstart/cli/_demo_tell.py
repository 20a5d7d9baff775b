"""How the demo tells its second half: the template, what a session is sent, the verdict."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rich.text import Text

from warmstart.cli._text import clean, count, one_line

if TYPE_CHECKING:
    from rich.console import Console

    from warmstart.cli._demo_loop import Warmed
    from warmstart.experiment import Verdict
    from warmstart.profile.corpus import CorpusProfile

MAX_GUIDANCE = 3
MAX_REPAIRS = 2
MAX_SENT_LINES = 34


def tell_learning(console: Console, profile: CorpusProfile) -> None:
    """Whether errors fall inside a session, or reliable sessions just last longer."""
    asked = "Do agents get better inside a session?"
    console.print(Text(f"\n{asked} {clean(profile.learning.sentence)}"))


def tell_template(console: Console, warmed: Warmed) -> None:
    """What was mined, as its reviewer would skim it."""
    template, plan = warmed.template, warmed.mined.plan
    left_out = ", ".join(f"{n} {why}" for why, n in plan.left_out.items()) if plan else ""
    looked_at, qualified = (plan.looked_at, len(plan.qualified)) if plan else (0, 0)
    console.print(
        Text(
            f"From the {count(looked_at, 'session')} of Claude Code, {qualified} went well enough"
            f" to learn from ({left_out} left out). They give"
            f" {count(len(template.examples), 'example')},"
            f" {count(len(template.recoveries), 'repair')} and"
            f" {count(len(template.guidance), 'line')} of advice; secrets, home folders and names"
            " are taken out before a template exists, and nothing uses it until a person approves"
            " it. Some of it:\n"
        )
    )
    room = console.width - len("  advice  ") - 1
    for line in template.guidance[:MAX_GUIDANCE]:
        console.print(Text(f"  advice  {one_line(clean(line.text), room)}"), soft_wrap=True)
    for repair in template.recoveries[:MAX_REPAIRS]:
        text = f"{repair.tool}: {repair.signature} -> {repair.change}"
        worked = f" ({repair.count} of {repair.tries})"
        cut = one_line(clean(text), room - len(worked))
        console.print(Text(f"  repair  {cut}{worked}"), soft_wrap=True)


def tell_warmup(console: Console, warmed: Warmed, message: str) -> None:
    """The words in front of a new session."""
    warmup = warmed.prepared.warmup
    lines = warmed.prepared.render("text").text.splitlines()
    console.print(
        Text(
            f'A Claude Code session that begins with "{message}" is sent this first, about'
            f" {warmup.tokens:,} tokens chosen by what they are worth; agents that take messages"
            " get the examples as real tool calls. The same bytes every time, so prompt caches"
            " hold:\n"
        )
    )
    for line in lines[:MAX_SENT_LINES]:
        cut = one_line(clean(line), console.width - len("  | ") - 1)
        console.print(Text(f"  | {cut}".rstrip(), style="dim"), soft_wrap=True)
    if len(lines) > MAX_SENT_LINES:
        rest = count(len(lines) - MAX_SENT_LINES, "more line")
        console.print(Text(f"  | … {rest}", style="dim"))


def tell_verdict(console: Console, verdict: Verdict) -> None:
    """The answer, and what it is not."""
    console.print(
        Text(
            "A demonstration, not a result: the model here is a script that was written to slip"
            " less often when it is shown examples. It ran cold on some tasks, those sessions were"
            " mined, and other tasks were then run cold and warm. What an answer looks like:\n"
        )
    )
    for arm in verdict.arms:
        line = Text(f"  {arm.conclusion.upper()}  ", style="bold")
        console.print(line.append(clean(arm.sentence), style="not bold"))
        for one in arm.metrics:
            if not one.primary:
                text = f"  {one.conclusion:<12}  {clean(one.sentence)}"
                console.print(Text(text, style="dim"))
    console.print(
        Text(
            "\nThe unit is the task, not the call; the cost is shown with the gain; and the answer"
            " is inconclusive whenever the data cannot tell."
        )
    )


def template_json(warmed: Warmed) -> dict[str, Any]:
    """The template and the warm-up for machines."""
    template, warmup = warmed.template, warmed.prepared.warmup
    return {
        "template": {
            "name": template.name,
            "sessions": template.provenance.sessions,
            "examples": len(template.examples),
            "recoveries": len(template.recoveries),
            "guidance": [line.text for line in template.guidance],
        },
        "warmup": {
            "tokens": warmup.tokens,
            "parts": list(warmup.parts),
            "text": warmed.prepared.render("text").text,
        },
    }
