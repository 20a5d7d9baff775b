"""Starting a session warm: choose a template, cut it to size once, record the start.

    start = prepare_start(Workspace.open(), StartRequest(message="Fix the failing test"))
    start.render("hermes-prefill")

Which template and which arm a session got is kept in the store, never in the prompt, so that a
later reading of its transcript shows what came of it. A share of the sessions for which a template
was found is held out on purpose: ``WarmStart.arm`` is ``holdout`` then, and nothing is put in front
of the session. The warm-up of a held-out session is built all the same: a template that has nothing
for a session leaves it cold in both groups.
"""

from __future__ import annotations

import time
import uuid
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from warmstart.app.candidates import Candidates, find_existing
from warmstart.app.config import load_section
from warmstart.app.core import Workspace
from warmstart.app.starts import StartOutcome, hash_message, settle_start
from warmstart.app.templates import open_library
from warmstart.errors import NotFoundError, UsageError, WarmstartError
from warmstart.library import (
    Library,
    StoredTemplate,
    TemplateVersion,
    describe_unreviewed,
    require_approved,
)
from warmstart.model import Arm, TemplateState, WarmUp
from warmstart.store import Start
from warmstart.template import TemplateError
from warmstart.warm import (
    ANYWHERE,
    DEFAULT_BUDGET,
    DEFAULT_HOLDOUT,
    DEFAULT_THRESHOLD,
    FormKind,
    Policy,
    Rendered,
    SelectionRules,
    Target,
    TemplateChoice,
    WarmUpLimits,
    build_warmup,
    choose,
    guess_task_type,
    render,
)

if TYPE_CHECKING:
    from warmstart.model import Message

__all__ = [
    "AUTO",
    "StartRequest",
    "TemplateTrial",
    "WarmConfig",
    "WarmStart",
    "decide_start",
    "load_config",
    "prepare_start",
    "start",
    "try_template",
]

AUTO = "auto"
UNREVIEWED = "unreviewed"
"""Stands behind the form in the record of a start whose template nobody had approved."""
UNREVIEWED_WAY = "--unreviewed, in code unreviewed=True"
COLD_WARMUP = WarmUp(template="", template_id="")
Messages = Sequence[Mapping[str, Any]]


@dataclass(frozen=True, slots=True, kw_only=True)
class WarmConfig:
    """The ``[warm]`` section of the settings."""

    budget: int = field(default=DEFAULT_BUDGET, metadata={"least": 0, "most": 100_000})
    holdout: float = field(default=DEFAULT_HOLDOUT, metadata={"least": 0.0, "most": 1.0})
    threshold: float = field(default=DEFAULT_THRESHOLD, metadata={"least": 0.0, "most": 2.0})
    policy: Policy = field(default=Policy.THOMPSON, metadata={"choices": tuple(map(str, Policy))})


@dataclass(frozen=True, slots=True, kw_only=True)
class StartRequest:
    """A session that is about to start."""

    message: str = ""
    """The user's first message."""
    opening: str | None = None
    """What the session will really begin with, where ``message`` only describes it."""
    agent: str = "library"
    model: str | None = None
    tools: Collection[str] | None = None
    """Names of the tools it has; None if that is not known."""
    template: str = AUTO
    """A name, a name with its version (``fix-tests@3``), or ``auto``."""
    unreviewed: bool = False
    """Also start with a draft that nobody has approved, where it is named."""
    cwd: str = ""
    seed: str = ""
    """What the draws depend on; a session's own id, so that asking again changes nothing."""
    form: str = ""
    """How the warm-up is given to the agent."""
    history: Mapping[str, int] | None = None
    """Past sessions by kind of work, for messages that do not name one."""
    native_id: str | None = None
    """The id the agent will give the session, if that is known."""

    @property
    def folder(self) -> Path:
        """The session's folder."""
        return Path(self.cwd) if self.cwd else Path.cwd()


@dataclass(frozen=True, slots=True, kw_only=True)
class WarmStart:
    """What a session starts with; a cold one has an empty warm-up, so that callers need no case."""

    choice: TemplateChoice
    warmup: WarmUp
    request: StartRequest = field(default_factory=StartRequest)
    info: TemplateVersion | None = None
    """The version that is used, or was withheld."""
    version: int | None = None
    """Its number."""
    withheld: WarmUp | None = None
    """What a held-out session would have got."""
    start: int | None = None
    """The row in the store; None if the start was not recorded."""
    unreviewed: str = ""
    """The sentence to print where the template is a draft nobody reviewed; else empty."""
    workspace: Workspace | None = None
    """Where the start was recorded."""

    @property
    def arm(self) -> Arm:
        """``warm``, ``cold``, or ``holdout``: a template fitted and was withheld on purpose."""
        return self.choice.arm

    @property
    def reason(self) -> str:
        """Why this arm, in one sentence."""
        return self.choice.reason

    @property
    def is_warm(self) -> bool:
        """Whether there is something to put in front of the session."""
        return not self.warmup.is_empty

    def __str__(self) -> str:
        if not self.is_warm:
            return f"{self.arm}: {self.reason}"
        calls = sum(len(message.requests) for message in self.warmup.messages)
        plural = "" if calls == 1 else "s"
        return (
            f"warm: {self.choice.template}@{self.version}, about {self.warmup.tokens:,} tokens,"
            f" {calls} example call{plural}"
        )

    def render(self, form: str, target: Target = ANYWHERE) -> Rendered:
        """The warm-up in the form an agent takes."""
        return render(self.warmup, form, target)

    def openai(self, messages: Messages) -> dict[str, Any]:
        """Keywords for ``chat.completions.create``."""
        return self._render_body("openai", messages)

    def responses(self, messages: Messages) -> dict[str, Any]:
        """Keywords for ``responses.create``."""
        return self._render_body("responses", messages)

    def anthropic(self, messages: Messages) -> dict[str, Any]:
        """Keywords for ``messages.create``."""
        return self._render_body("anthropic", messages)

    def gemini(self, messages: Messages) -> dict[str, Any]:
        """Fields for ``generateContent``."""
        return self._render_body("gemini", messages)

    def record(
        self, library: Library, *, form: str | None = None, native_id: str | None = None
    ) -> WarmStart:
        """The same start, written to the store."""
        request, info = self.request, self.info
        form = request.form if form is None else form
        opening = request.message if request.opening is None else request.opening
        row = Start(
            agent=request.agent,
            arm=self.arm,
            model=request.model,
            template=info.name if info else None,
            template_id=info.id if info else None,
            version=info.version if info else None,
            form=f"{form} {UNREVIEWED}".lstrip() if self.unreviewed else form,
            message_hash=hash_message(opening),
            started_at=time.time(),
            cwd=request.cwd or None,
            native_id=native_id or request.native_id,
        )
        return replace(self, start=library.require_db().record_start(row))

    def finish(
        self,
        messages: Sequence[Message | Mapping[str, Any]] | None = None,
        *,
        success: bool | None = None,
        calls: int | None = None,
        errors: int | None = None,
        session_id: str | None = None,
    ) -> bool:
        """Record what became of a session that your own code ran.

        Give the whole conversation as ``messages`` (calls and failures are counted, the last test
        run decides on success), or the numbers yourself; what you give counts before what is found.

        Returns whether it was recorded: False for a start that was not, or was finished before.

        Raises:
            UsageError: there are neither messages nor ``success`` nor counts, or they contradict.
        """
        if self.start is None or self.workspace is None:
            return False
        if messages is None and success is None and calls is None:
            raise UsageError(
                "nothing is known of how the session went",
                hint="give messages=[…], or success=True or False, with calls= and errors=",
            )
        native = session_id or self.request.native_id or f"start-{self.start}"
        found = StartOutcome(f"{self.request.agent}:{native}", 0, 0, None)
        if messages is not None:
            found = _count_messages(found.session_id, messages)
        given: dict[str, Any] = {"calls": calls, "errors": errors, "success": success}
        outcome = found._replace(**{k: v for k, v in given.items() if v is not None})
        with open_library(self.workspace) as library:
            if library.require_db().get_start(self.start).settled_at is not None:
                return False
            settle_start(library, self.start, outcome)
        return True

    def _render_body(self, form: str, messages: Messages) -> dict[str, Any]:
        body: dict[str, Any] = render(self.warmup, form, messages=messages).body
        return body


class TemplateTrial(NamedTuple):
    """What a session would start with; nothing was sent and nothing counts as a use."""

    info: TemplateVersion
    warmup: WarmUp
    form: str
    rendered: Rendered
    unreviewed: str
    """The sentence to print where the template is a draft nobody reviewed; else empty."""

    @property
    def content(self) -> Any:
        """The text, the files by name, or the body of the request."""
        if self.rendered.kind is FormKind.TEXT:
            return self.rendered.text
        return self.rendered.files or self.rendered.body


def start(
    message: str,
    *,
    template: str = AUTO,
    model: str | None = None,
    tools: Collection[str] | None = None,
    agent: str = "library",
    cwd: str = "",
    unreviewed: bool = False,
    form: str = "",
    native_id: str | None = None,
    seed: str = "",
    workspace: Workspace | None = None,
) -> WarmStart:
    """Start a session of your own code, and record the start; ``finish`` records how it went.

    Whatever stands in the way of a warm start that was not asked for by name (a store in use, a
    damaged file), the session starts cold and ``reason`` says why.

    Args:
        message: the user's first message.
        template: a name, ``NAME@VERSION``, or ``auto``: the one that fits.
        model: its name; records of templates are kept per model.
        tools: names of the tools the session has; examples of others are left out.
        agent: what your program is called in the records.
        cwd: the session's folder, if not the current one.
        unreviewed: also use a draft that nobody has approved, where it is named.
        form: how the warm-up is given to the model, for the record.
        native_id: the id your program gives the session, if it has one.
        seed: what the draws depend on; the same seed gives the same answer.
        workspace: where templates and records are, if not in the usual place.

    Raises:
        NotFoundError: there is no template of the name asked for.
        UnapprovedError: nobody has approved it, and ``unreviewed=True`` is missing.
    """
    request = StartRequest(
        message=message, template=template, model=model, tools=tools, agent=agent, cwd=cwd,
        unreviewed=unreviewed, form=form, native_id=native_id, seed=seed or uuid.uuid4().hex,
    )  # fmt: skip
    try:
        return prepare_start(workspace or Workspace.open(), request)
    except (WarmstartError, OSError) as error:
        is_named = request.template != AUTO
        if isinstance(error, UsageError):
            raise
        if is_named and isinstance(error, NotFoundError | TemplateError):
            raise
        return WarmStart(
            choice=TemplateChoice(template=None, arm=Arm.COLD, reason=str(error)),
            warmup=COLD_WARMUP,
            request=request,
        )


def load_config(workspace: Workspace, flags: Mapping[str, Any] | None = None) -> WarmConfig:
    """The ``[warm]`` settings; flags come first."""
    return load_section(workspace, "warm", WarmConfig, flags)


def prepare_start(
    workspace: Workspace,
    request: StartRequest,
    config: WarmConfig | None = None,
    *,
    record: bool = True,
    library: Library | None = None,
) -> WarmStart:
    """Choose a template, build the warm-up, and record the start.

    Args:
        workspace: whose library and store are used.
        request: the session that is about to start.
        config: settings, if not those of the workspace.
        record: write the start to the store; without, nothing is written or held out.
        library: the library, if it is open already.

    Raises:
        NotFoundError: there is no template of the name asked for.
        UnapprovedError: nobody has approved it.
    """
    config = config or load_config(workspace)
    if library is None:
        with open_library(workspace, read_only=not record) as opened:
            return prepare_start(workspace, request, config, record=record, library=opened)
    decided = decide_start(
        workspace, library, request, config if record else replace(config, holdout=0.0)
    )
    return decided.record(library) if record else decided


def decide_start(
    workspace: Workspace, library: Library, request: StartRequest, config: WarmConfig
) -> WarmStart:
    """The start that ``request`` gets, its warm-up built; nothing is recorded yet.

    Raises:
        NotFoundError: there is no template of the name asked for.
        UnapprovedError: nobody has approved it.
    """
    if request.template == AUTO:
        choice = _choose(library, request, config)
        stored = require_approved(library.get(choice.template)) if choice.template else None
    else:
        stored = require_approved(
            library.get(request.template), unreviewed=request.unreviewed, way=UNREVIEWED_WAY
        )
        choice = _take_named(stored, request)
    if stored is None:
        return WarmStart(choice=choice, warmup=COLD_WARMUP, request=request, workspace=workspace)
    built = _build(stored, request, config)
    if built.is_empty:
        reason = f"nothing of {stored.info.name} is of use here: " + "; ".join(built.left_out[:3])
        choice = replace(choice, arm=Arm.COLD, reason=reason.rstrip(": "))
    is_warm = choice.arm is Arm.WARM
    is_draft = stored.info.state is not TemplateState.APPROVED
    return WarmStart(
        choice=choice,
        warmup=built if choice.arm is not Arm.HOLDOUT else _empty(stored),
        request=request,
        info=stored.info,
        version=stored.info.version,
        withheld=built if choice.arm is Arm.HOLDOUT else None,
        unreviewed=describe_unreviewed(stored) if is_warm and is_draft else "",
        workspace=workspace,
    )


def try_template(
    workspace: Workspace,
    spec: str,
    message: str,
    *,
    form: str = "openai",
    budget: int | None = None,
    unreviewed: bool = False,
    way: str = "",
    store: str | None = None,
) -> TemplateTrial:
    """Exactly what a session about ``message`` would start with.

    Raises:
        UnapprovedError: nobody has approved the template; drafts pass with ``unreviewed``, and
            ``way`` is the option that allows them.
    """
    with open_library(workspace, store, read_only=True) as library:
        stored = require_approved(library.get(spec), unreviewed=unreviewed, way=way)
    warmup = build_warmup(
        stored.template,
        template_id=stored.info.id,
        budget=load_config(workspace).budget if budget is None else budget,
    )
    rendered = render(warmup, form, messages=[{"role": "user", "content": message}])
    is_draft = stored.info.state is not TemplateState.APPROVED
    return TemplateTrial(
        stored.info, warmup, form, rendered, describe_unreviewed(stored) if is_draft else ""
    )


def _choose(library: Library, request: StartRequest, config: WarmConfig) -> TemplateChoice:
    candidates = Candidates(library)
    rules = SelectionRules(
        policy=config.policy,
        holdout=config.holdout,
        threshold=config.threshold,
        tools=request.tools,
        history=request.history,
        freshness=lambda name: candidates.measure_freshness(name, request.folder),
    )
    seed = request.seed or f"{request.agent}:{hash_message(request.message)}"
    index = candidates.make_index(request.model)
    return choose(request.message, index, session_seed=seed, rules=rules)


def _take_named(stored: StoredTemplate, request: StartRequest) -> TemplateChoice:
    """A template that was asked for by name."""
    return TemplateChoice(
        template=stored.info.name,
        arm=Arm.WARM,
        reason=f"{stored.info.name} was asked for by name",
        task_type=guess_task_type(request.message),
    )


def _build(stored: StoredTemplate, request: StartRequest, config: WarmConfig) -> WarmUp:
    return build_warmup(
        stored.template,
        template_id=stored.info.id,
        budget=config.budget,
        tools=request.tools,
        limits=WarmUpLimits(existing=find_existing(stored.template.markers, request.folder)),
    )


def _empty(stored: StoredTemplate) -> WarmUp:
    return WarmUp(template=stored.info.name, template_id="")


def _count_messages(
    session_id: str, messages: Sequence[Message | Mapping[str, Any]]
) -> StartOutcome:
    """Calls, failed calls and success of a conversation; its warm-up never counts."""
    from warmstart.app.checks import judge_success  # noqa: PLC0415 - once per session, at its end
    from warmstart.model import Status  # noqa: PLC0415 - same
    from warmstart.profile import session_from_messages  # noqa: PLC0415 - same

    session = session_from_messages(messages)
    errors = sum(call.outcome.status is Status.ERROR for call in session.calls)
    return StartOutcome(session_id, len(session.calls), errors, judge_success(session))
