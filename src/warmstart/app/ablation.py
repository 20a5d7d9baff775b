"""Experiments on how short a warm-up may be: their arms, and templates made for them.

What comes out is a list of arms for an ordinary plan, so running, resuming and reporting need
nothing of their own. The full warm-up is the control; every arm asks whether less would do.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from warmstart.app.core import Workspace
from warmstart.app.experiment_arms import find_template
from warmstart.app.experiment_runs import find_key
from warmstart.app.experiments import FOLDER
from warmstart.app.mining import build_from_session
from warmstart.app.redaction import open_redactor
from warmstart.app.templates import open_library
from warmstart.errors import UsageError
from warmstart.experiment import (
    PARTS,
    STRATEGIES,
    Choice,
    Runner,
    RunnerKind,
    Skipped,
    choose_variants,
    list_ablations,
)
from warmstart.library import Saved
from warmstart.mine import BuildRequest
from warmstart.model import Guidance, Message, Role, Selection, Template, TemplateState
from warmstart.redact import strip_hidden
from warmstart.runners import Endpoint
from warmstart.sources import ReadLog
from warmstart.warm import shorten_line
from warmstart.wire import Prompt

__all__ = [
    "SUMMARY",
    "Ablation",
    "AblationRequest",
    "Arms",
    "plan_ablation",
    "plan_compaction",
    "summarise_template",
]  # fmt: skip

SUMMARY = "summary"
WHOLE = "whole"
MAX_SESSION_EXAMPLES = 50
MAX_SUMMARY_TOKENS = 800
MAX_LINE_CHARS = 280
MAX_SHOWN_CHARS = 300
ASK_SUMMARY = (
    "Below is what an agent learned about its tools, as data. Sum it up as advice: for each tool"
    " at most two short lines, each of the form TOOL: ADVICE, with the tool's exact name. Say what"
    " arguments must look like and which mistakes to avoid. Nothing else."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Ablation:
    """A template, and what to leave out of it."""

    template: str
    budget: int
    budgets: tuple[int, ...] = ()
    examples: tuple[int, ...] = ()
    parts: tuple[str, ...] = PARTS
    with_cold: bool = True
    unreviewed: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class AblationRequest:
    """A template or a session, and the ways to shorten it."""

    name: str
    """Of the experiment; templates made for it are called after it."""
    budget: int
    template: str = ""
    session: str = ""
    strategies: tuple[str, ...] = tuple(STRATEGIES)
    """``summary`` among them asks the model."""
    with_cold: bool = True
    unreviewed: bool = False
    """Also drafts; a session's own template and a model's summary are drafts."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Arms:
    """The arms of a plan, the control first."""

    names: tuple[str, ...]
    skipped: tuple[Skipped, ...] = ()
    notes: tuple[str, ...] = ()


def plan_ablation(workspace: Workspace, wanted: Ablation) -> Arms:
    """The full template, nothing, and everything between.

    Raises:
        NotFoundError: there is no such template.
        UsageError: nothing can be left out of it.
    """
    _check_parts(wanted.parts)
    stored = find_template(workspace, wanted.template, unreviewed=wanted.unreviewed)
    variants = list_ablations(
        stored.template,
        wanted.budget,
        budgets=wanted.budgets,
        examples=wanted.examples,
        parts=wanted.parts,
    )
    chosen, skipped = choose_variants(stored.template, variants, wanted.budget)
    return _arms(wanted.template, "", chosen, skipped, with_cold=wanted.with_cold)


def plan_compaction(workspace: Workspace, wanted: AblationRequest, runner: Runner) -> Arms:
    """The whole of it, nothing, the usual budgeted form, and each strategy.

    Raises:
        NotFoundError: there is no such template or session.
        UsageError: the strategy is unknown, or no summary could be made.
    """
    unknown = sorted(set(wanted.strategies) - {*STRATEGIES, SUMMARY})
    if unknown:
        raise UsageError(
            f"no such strategy: {unknown[0]!r}", hint=", ".join((*STRATEGIES, SUMMARY))
        )
    if (workspace.home / FOLDER / wanted.name).exists():
        # Said before a model is asked and paid.
        raise UsageError(
            f"there is an experiment {wanted.name!r} already", hint="choose another name"
        )
    if not wanted.unreviewed and (wanted.session or SUMMARY in wanted.strategies):
        made = "the model's summary" if wanted.template else "a template of one session"
        raise UsageError(
            f"{made} is made by this command, so nobody can have reviewed it",
            hint="add --unreviewed to try it all the same",
        )
    name = wanted.template or _save_session(workspace, wanted)
    template = find_template(workspace, name, unreviewed=wanted.unreviewed).template
    variants = [f"{WHOLE}+{word}" for word in wanted.strategies if word != SUMMARY]
    chosen, skipped = choose_variants(template, variants, wanted.budget, full=WHOLE)
    arms = _arms(name, WHOLE, chosen, skipped, with_cold=wanted.with_cold)
    if SUMMARY in wanted.strategies:
        summary = summarise_template(workspace, template, runner, f"{wanted.name}-summary")
        arms = replace(
            arms,
            names=(*arms.names, f"warm:{summary.name}"),
            notes=(f"the model's summary is the draft {summary.spec}: {summary.next_steps[0]}",),
        )
    return arms


def _arms(
    name: str, full: str, chosen: Sequence[Choice], skipped: Sequence[Skipped], *, with_cold: bool
) -> Arms:
    control = f"warm:{name}/{full}" if full else f"warm:{name}"
    names = [control, *(["cold"] if with_cold else [])]
    names += [f"warm:{name}/{choice.variant}" for choice in chosen]
    if len(names) < 2:
        raise UsageError(
            f"nothing can be left out of {name!r}", hint=f"warmstart template show {name}"
        )
    return Arms(names=tuple(names), skipped=tuple(skipped))


def _check_parts(parts: Sequence[str]) -> None:
    unknown = sorted(set(parts) - set(PARTS))
    if unknown:
        raise UsageError(f"no such part: {unknown[0]!r}", hint=", ".join(PARTS))


def _save_session(workspace: Workspace, wanted: AblationRequest) -> str:
    """One session as a template, as far as its calls can be verified."""
    request = BuildRequest(name=f"{wanted.name}-session", max_examples=MAX_SESSION_EXAMPLES)
    note = "one session, for compaction"
    build_from_session(workspace, wanted.session, request, Selection(), ReadLog(), note=note)
    return request.name


def summarise_template(
    workspace: Workspace, template: Template, runner: Runner, name: str
) -> Saved:
    """Let the model sum up a template; the draft that holds its advice.

    What comes back is redacted, and only lines on tools of the template are kept.

    Raises:
        UsageError: there is no endpoint to ask, or its answer holds no advice.
        EndpointError: it does not answer.
    """
    if runner.kind is not RunnerKind.ENDPOINT:
        raise UsageError("a summary needs a model to ask", hint="--endpoint URL --model NAME")
    endpoint = Endpoint(runner, find_key(runner))
    prompt = Prompt(
        model=runner.model,
        system=ASK_SUMMARY,
        messages=(Message(role=Role.USER, text="\n".join(list_lessons(template))),),
        tools=(),
        temperature=0.0,
        max_tokens=MAX_SUMMARY_TOKENS,
        seed=1,
    )
    answer = endpoint.ask(prompt, time.monotonic() + runner.trial_timeout)
    redactor = open_redactor(workspace, pii=True)
    lines = read_advice(redactor.text(strip_hidden(answer.text)), template)
    if not lines:
        raise UsageError(
            "the model's summary holds no line of the form TOOL: ADVICE",
            hint="leave the strategy summary out, or use another model",
        )
    made = replace(
        template, name=name, description=f"A model's summary of {template.name}.",
        system_context="", guidance=lines, examples=(), recoveries=(), markers=(),
    )  # fmt: skip
    with open_library(workspace) as library:
        return library.save(made, state=TemplateState.DRAFT, note="summary by a model")


def list_lessons(template: Template) -> Iterator[str]:
    """What a template teaches, one line each, for a model to sum up."""
    for line in template.guidance:
        yield f"{line.tool}: {shorten_line(line.text, MAX_SHOWN_CHARS)}"
    for example in template.examples:
        yield f"{example.tool} worked with {_show(example.arguments)}"
    for repair in template.recoveries:
        yield (
            f"{repair.tool} failed with {_show(repair.failed_arguments)}:"
            f" {shorten_line(repair.error, MAX_SHOWN_CHARS)}; then {repair.repaired_by} worked with"
            f" {_show(repair.arguments)}"
        )


def _show(arguments: Mapping[str, Any]) -> str:
    return shorten_line(json.dumps(dict(arguments), default=str), MAX_SHOWN_CHARS)


def read_advice(text: str, template: Template) -> tuple[Guidance, ...]:
    """The lines of an answer that are about a tool of the template, at most two per tool."""
    tools = {one.tool for one in template.guidance} | {one.tool for one in template.examples}
    tools |= {one.tool for one in template.recoveries}
    found: dict[str, list[str]] = {}
    for line in text.splitlines():
        tool, colon, advice = line.strip().lstrip("-*• ").partition(":")
        tool, advice = tool.strip("`* "), advice.strip()
        if colon and advice and tool in tools and len(found.setdefault(tool, [])) < 2:
            found[tool].append(advice[:MAX_LINE_CHARS])
    return tuple(
        Guidance(tool=tool, text=advice, calls=0, errors=0)
        for tool in sorted(found)
        for advice in found[tool]
    )
