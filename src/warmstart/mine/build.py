"""From chosen sessions to a template. Deterministic: the same sessions in any order, same bytes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from hashlib import sha256
from typing import Any, NamedTuple

import orjson

from warmstart.errors import UsageError
from warmstart.facts import derive_facts
from warmstart.mine import context
from warmstart.mine.abstract import Vocabulary
from warmstart.mine.arguments import count_arguments, list_arguments
from warmstart.mine.candidates import MiningPlan, count_tools, plan_mining
from warmstart.mine.conditions import find_conditions
from warmstart.mine.episodes import find_episodes
from warmstart.mine.guidance import write_guidance
from warmstart.mine.mask import mask_facts, mask_sessions
from warmstart.mine.merge import merge_episodes
from warmstart.mine.people import find_names
from warmstart.mine.recoveries import collect_repairs, select_recoveries
from warmstart.mine.rules import MiningRules, tally
from warmstart.mine.seal import Redacts, seal
from warmstart.mine.select import select_examples
from warmstart.mine.signature import common_messages
from warmstart.model import Provenance, Session, SessionFacts, Status, Template

CONTEXT_SESSIONS = 200
"""The best sessions that context is counted over."""
AUTO = "auto"
MIN_PROPOSED_SESSIONS = 3
MAX_BYTES = 60_000
"""Below the 64 KB a template file may have, leaving room for what the library adds."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BuildRequest:
    """One template to be mined."""

    name: str
    description: str = ""
    task_type: str = "auto"
    """A task type to restrict sessions to, or ``auto`` for all of them."""
    tags: tuple[str, ...] = ()
    rules: MiningRules = field(default_factory=MiningRules)
    max_sessions: int = 40
    """Sessions whose contents are read."""
    max_examples: int = 12
    max_recoveries: int = 8
    textual: bool = False
    """Also take successes that rest on words alone."""
    keep_outside: bool = False
    """Also keep results of web, mail, browser and MCP tools."""
    max_bytes: int = MAX_BYTES


class Proposal(NamedTuple):
    """A template worth building, found without being asked for."""

    request: BuildRequest
    plan: MiningPlan


def plan_template(request: BuildRequest, facts: Iterable[SessionFacts]) -> MiningPlan:
    """Which sessions a template would be built from, and why the others are left out."""
    if request.task_type != AUTO:
        facts = [one for one in facts if context.task_type_of([one]) == request.task_type]
    return plan_mining(facts, request.rules, max_sessions=request.max_sessions)


def build_template(
    request: BuildRequest, plan: MiningPlan, sessions: Iterable[Session], redactor: Redacts
) -> Template:
    """Mine the sessions a plan asked for.

    Raises:
        UsageError: there is nothing to learn from.
        SealError: it could not be made safe.
    """
    unique = {session.id: session for session in sessions}
    ordered = [unique[key] for key in sorted(unique)]
    exemplary = {one.id for one in plan.exemplary}
    names = find_names(ordered)
    # Before anything is cut or split: no rule knows half a key.
    before, secrets = dict(redactor.found), redactor.without_people()
    masked = mask_sessions(ordered, secrets)
    best = mask_facts(plan.qualified[:CONTEXT_SESSIONS] or plan.repairs, secrets)
    draft = {
        **_draft(request, plan, masked, [s for s in masked if s.id in exemplary]),
        **_context(request, len(plan.qualified), best),
    }
    template = seal(draft, redactor, names, before=before)
    if not template.examples and not template.recoveries and not template.guidance:
        raise UsageError(
            "nothing in these sessions could be verified as a success",
            hint="--textual also takes successes that rest on words alone",
        )
    return _fit(template, request.max_bytes)


def extract_template(session: Session, request: BuildRequest, redactor: Redacts) -> Template:
    """Mine one session that a person named; no rule is asked whether it is good enough."""
    facts = derive_facts(session)
    plan = MiningPlan(
        looked_at=1,
        qualified=(facts,),
        left_out={},
        exemplary=(facts,),
        repairs=(),
        tools=count_tools([tally(facts, request.rules)]),
        rules=("one session, chosen by hand",),
    )
    return build_template(request, plan, [session], redactor)


def propose_templates(
    facts: Iterable[SessionFacts], request: BuildRequest, *, min_sessions: int | None = None
) -> list[Proposal]:
    """One template per task type that has enough sessions that went well, largest first."""
    least = MIN_PROPOSED_SESSIONS if min_sessions is None else min_sessions
    by_type: dict[str, list[SessionFacts]] = {}
    for one in facts:
        if one.calls:
            by_type.setdefault(context.task_type_of([one]), []).append(one)
    proposals = []
    for kind in sorted(by_type):
        wanted = replace(request, name=f"{request.name}-{kind}", task_type=kind)
        plan = plan_mining(by_type[kind], wanted.rules, max_sessions=wanted.max_sessions)
        if len(plan.qualified) >= least:
            proposals.append(Proposal(wanted, plan))
    return sorted(proposals, key=lambda one: (-len(one.plan.qualified), one.request.name))


def _draft(
    request: BuildRequest,
    plan: MiningPlan,
    fetched: Sequence[Session],
    exemplary: Sequence[Session],
) -> dict[str, Any]:
    """What the sessions fetched tell, masked but not yet sealed; of the plan only its counts."""
    vocabulary = Vocabulary.of(fetched)
    repairs = collect_repairs(fetched)
    families = merge_episodes(
        (
            episode
            for session in exemplary
            # A solved task vouches for its calls better than any shape of a result could.
            for episode in find_episodes(
                session, textual=request.textual or session.reward is not None
            )
        ),
        vocabulary,
        keep_outside=request.keep_outside,
    )
    alone = len(exemplary) == 1
    return {
        "name": request.name,
        "guidance": write_guidance(
            plan.tools, find_conditions(fetched), repairs, common_messages(fetched)
        ),
        "examples": tuple(
            select_examples(families, plan.tools, request.max_examples, shared=not alone)
        ),
        "recoveries": tuple(
            select_recoveries(repairs, vocabulary, plan.tools, request.max_recoveries)
        ),
        "arguments": list_arguments(count_arguments(fetched)),
        "provenance": _provenance(plan, fetched),
    }


def _context(request: BuildRequest, qualified: int, best: Sequence[SessionFacts]) -> dict[str, Any]:
    """What the best sessions have in common, from their facts."""
    task_type = context.task_type_of(best) if request.task_type == AUTO else request.task_type
    markers = context.find_markers(best)
    domains = context.list_domains(best)
    described = request.description or (
        f"What {qualified:,} sessions that went well have in common ({task_type})."
    )
    return {
        "description": described,
        "task_type": task_type,
        "tags": context.make_tags(request.tags, best, task_type, *domains[:3]),
        "anchors": context.find_anchors(best),
        "system_context": context.describe_context(best, markers),
        "user": context.find_user_patterns(best),
        "markers": markers,
        "preferred_tools": context.find_preferred_tools(best),
        "domains": domains,
    }


def _provenance(plan: MiningPlan, fetched: Sequence[Session]) -> Provenance:
    return Provenance(
        sessions=len(fetched),
        messages=sum(message.counts for session in fetched for message in session.messages),
        calls=sum(len(session.calls) for session in fetched),
        errors=sum(
            call.outcome.status is Status.ERROR for session in fetched for call in session.calls
        ),
        agents=_count(session.agent for session in fetched),
        models=_count(session.model for session in fetched if session.model),
        tasks=tuple(sorted({session.task for session in fetched if session.task})),
        session_hashes=tuple(sorted(hash_id(session.id) for session in fetched)),
        rules=plan.rules,
    )


def hash_id(session_id: str) -> str:
    """What provenance keeps of a session's id."""
    return sha256(session_id.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def _count(names: Iterable[str]) -> Mapping[str, int]:
    # On one line each, whatever a transcript calls its model.
    return dict(sorted(Counter(" ".join(name.split()) for name in names).items()))


def _fit(template: Template, limit: int) -> Template:
    """Leave out the least useful patterns until the template is small enough."""
    while _size(template) > limit and (template.recoveries or len(template.examples) > 1):
        if len(template.recoveries) >= len(template.examples):
            template = replace(template, recoveries=template.recoveries[:-1])
        else:
            template = replace(template, examples=template.examples[:-1])
    return template


def _size(template: Template) -> int:
    return len(orjson.dumps(template, default=_plain, option=orjson.OPT_NON_STR_KEYS))


def _plain(value: Any) -> Any:
    return list(value) if isinstance(value, tuple) else str(value)
