"""What each arm of an experiment starts with, from the templates its plan has pinned."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from warmstart.app.core import Workspace
from warmstart.app.templates import find_spec, open_library
from warmstart.errors import UsageError
from warmstart.experiment import (
    COLD_START,
    ArmKind,
    ArmSpec,
    ArmStart,
    Plan,
    Task,
    neutral_template,
    parse_arm,
    shape_template,
    start_token_matched,
    start_warm,
)
from warmstart.library import Stored
from warmstart.library.gate import require_approved
from warmstart.runners import builtin_tools
from warmstart.template import template_id
from warmstart.warm import build_warmup, estimate_tokens


def find_template(workspace: Workspace, spec: str, *, unreviewed: bool = False) -> Stored:
    """A template that may be tried: an approved one, or a draft where that was asked for.

    Raises:
        NotFoundError: it is not there.
        UnapprovedError: nobody has approved it.
    """
    with open_library(workspace, read_only=True) as library:
        stored = find_spec(library, spec)
    return require_approved(stored, unreviewed=unreviewed, way="--unreviewed")


def find_observed(workspace: Workspace, spec: str) -> Stored:
    """A template whose sessions are only looked at, in whatever state it is; nothing is sent.

    Raises:
        NotFoundError: it is not there.
    """
    with open_library(workspace, read_only=True) as library:
        return find_spec(library, spec)


def find_pinned(
    workspace: Workspace, spec: str, identity: str, *, unreviewed: bool = False
) -> Stored:
    """The version of a template that a plan means.

    Raises:
        UsageError: no version has that content any more.
        UnapprovedError: nobody has approved it, and the plan was not made for a draft.
    """
    name = spec.partition("@")[0]
    with open_library(workspace, read_only=True) as library:
        for row in library.versions(name):
            stored = library.get(name, row.version)
            if stored.id == identity:
                # A plan is a file, and a file may come from elsewhere too.
                return require_approved(stored, unreviewed=unreviewed)
    raise UsageError(
        f"no version of the template {name!r} has the content this plan was made for"
        f" ({identity[:12]})",
        hint="warmstart template list, then make a new experiment",
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class ArmStarts:
    """Starts by task and arm; each is built once."""

    plan: Plan
    templates: dict[str, Stored]
    _built: dict[tuple[str, str], ArmStart] = field(default_factory=dict)

    def __call__(self, task: Task, arm: str) -> ArmStart:
        """What a trial of this task in this arm starts with."""
        key = (arm, repr((task.prompt, task.tools, [t.name for t in task.tool_definitions])))
        if key not in self._built:
            self._built[key] = self._build(task, arm)
        return self._built[key]

    def _build(self, task: Task, arm: str) -> ArmStart:
        spec = parse_arm(arm)
        match spec.kind:
            case ArmKind.COLD:
                return COLD_START
            case ArmKind.WARM:
                return self._warm(task, spec)
            case ArmKind.TOKEN_MATCHED:
                matched = self._warm(task, spec if spec.template else self._first_warm())
                return start_token_matched(matched.tokens, estimate_tokens)
            case ArmKind.PLACEBO:
                return self._placebo(spec.template)

    def _warm(self, task: Task, spec: ArmSpec) -> ArmStart:
        name = spec.template
        stored = self.templates[name]
        form = shape_template(stored.template, spec.variant, self.plan.design.budget)
        own = [tool.name for tool in task.tool_definitions]
        allowed = task.tools
        if allowed is None:
            allowed = tuple(tool.name for tool in builtin_tools())
        warmup = build_warmup(
            form.template,
            template_id=self.plan.templates[name],
            budget=form.budget,
            tools=[*allowed, *own],
            limits=form.limits,
        )
        # A command that builds the warm-up itself must build it from the pinned version.
        unreviewed = name in self.plan.unreviewed
        return replace(start_warm(warmup), template=stored.spec, unreviewed=unreviewed)

    def _placebo(self, name: str) -> ArmStart:
        # Its tools are not those of the task on purpose, so they are not asked for.
        template = self.templates[name].template if name else neutral_template()
        warmup = build_warmup(
            template,
            template_id=self.plan.templates.get(name) or template_id(template),
            budget=self.plan.design.budget,
        )
        return start_warm(warmup)

    def _first_warm(self) -> ArmSpec:
        specs = map(parse_arm, self.plan.design.arms)
        return next(spec for spec in specs if spec.kind is ArmKind.WARM)


def open_arms(workspace: Workspace, plan: Plan) -> ArmStarts:
    """The starts of a plan's arms, with every template found and checked beforehand."""
    templates = {
        spec: find_pinned(workspace, spec, identity, unreviewed=spec in plan.unreviewed)
        for spec, identity in plan.templates.items()
    }
    return ArmStarts(plan=plan, templates=templates)
