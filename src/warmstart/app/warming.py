"""A new session made ready: the library asked, the template cut to size, the start written down.

    prepared = prepare(Workspace.open(), Occasion(message="Fix the failing test", agent="hermes"))
    prepared.render("hermes-prefill")

Which template and which arm a session got is kept in the store, never in the prompt, so that a
later reading of its transcript can say what came of it. A ``Bookcase`` keeps what does not change
from one message to the next; a process that starts many sessions holds on to one.
"""

from __future__ import annotations

import hashlib
import os
import time
import uuid
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from warmstart.app.config import load_section
from warmstart.app.core import Workspace
from warmstart.app.shelf import Shelf, find_existing, read_shelf
from warmstart.library import Library, Stored
from warmstart.library.gate import require_approved, say_unreviewed
from warmstart.library.opening import TEMPLATES_FOLDER, open_for_reading
from warmstart.model.template import TemplateState
from warmstart.model.warmup import Arm, WarmUp
from warmstart.store import Start
from warmstart.template import parse_spec
from warmstart.warm import (
    ANYWHERE,
    DEFAULT_BUDGET,
    DEFAULT_HOLDOUT,
    DEFAULT_THRESHOLD,
    Policy,
    Rendered,
    SelectionRules,
    Target,
    TemplateChoice,
    TemplateIndex,
    WarmUpLimits,
    build_warmup,
    choose,
    guess_task_type,
    render,
)

AUTO = "auto"
UNREVIEWED = "unreviewed"
"""Stands behind the form in the record of a start whose template nobody had approved."""
UNREVIEWED_WAY = "--unreviewed, in code unreviewed=True"
Messages = Sequence[Mapping[str, Any]]


@dataclass(frozen=True, slots=True, kw_only=True)
class WarmConfig:
    """The ``[warm]`` section of the settings."""

    budget: int = field(default=DEFAULT_BUDGET, metadata={"least": 0, "most": 100_000})
    holdout: float = field(default=DEFAULT_HOLDOUT, metadata={"least": 0.0, "most": 1.0})
    threshold: float = field(default=DEFAULT_THRESHOLD, metadata={"least": 0.0, "most": 2.0})
    policy: Policy = field(default=Policy.THOMPSON, metadata={"choices": tuple(map(str, Policy))})


@dataclass(frozen=True, slots=True, kw_only=True)
class Occasion:
    """A session that is about to start."""

    message: str = ""
    """The user's first message."""
    opening: str | None = None
    """What the session will really begin with, where ``message`` only says what it is about."""
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
    history: Mapping[str, int] | None = None
    """Past sessions by kind of work, for messages that do not say of which they are."""
    native_id: str | None = None
    """The id the agent will give the session, if that is known."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Prepared:
    """What a session starts with. A cold one has an empty warm-up, so that callers need no case."""

    choice: TemplateChoice
    warmup: WarmUp
    version: int | None = None
    start: int | None = None
    """The row in the store; None if it was not written down."""
    unreviewed: str = ""
    """The sentence to print where the template is a draft nobody reviewed; else empty."""

    @property
    def is_warm(self) -> bool:
        """Whether there is something to put in front of the session."""
        return not self.warmup.is_empty

    def render(self, form: str, target: Target = ANYWHERE) -> Rendered:
        """In the form an agent takes."""
        return render(self.warmup, form, target)

    def openai(self, messages: Messages) -> dict[str, Any]:
        """Keywords for ``chat.completions.create``."""
        return self._body("openai", messages)

    def responses(self, messages: Messages) -> dict[str, Any]:
        """Keywords for ``responses.create``."""
        return self._body("responses", messages)

    def anthropic(self, messages: Messages) -> dict[str, Any]:
        """Keywords for ``messages.create``."""
        return self._body("anthropic", messages)

    def gemini(self, messages: Messages) -> dict[str, Any]:
        """Fields for ``generateContent``."""
        return self._body("gemini", messages)

    def _body(self, form: str, messages: Messages) -> dict[str, Any]:
        body: dict[str, Any] = render(self.warmup, form, messages=messages).body
        return body


class Bookcase:
    """A library with its search index, kept between messages; ``refresh`` looks again."""

    def __init__(self, library: Library) -> None:
        self.library = library
        self._shelf: Shelf | None = None
        self._read: dict[str, Stored] = {}

    def refresh(self) -> None:
        """Forget what was read: a template was added, approved or retired, a session settled."""
        self._shelf = None
        self._read.clear()

    def index(self, model: str | None) -> TemplateIndex:
        """What can be chosen, with how it went for a model."""
        shelf = self.shelf
        return TemplateIndex.of_texts(
            shelf.names,
            shelf.texts,
            lambda place: shelf.make_entry(place, model),
            unapproved=shelf.unapproved,
            searcher=shelf.searcher,
        )

    @property
    def shelf(self) -> Shelf:
        """What the store says of the approved templates."""
        if self._shelf is None:
            self._shelf = read_shelf(self.library)
        return self._shelf

    def get(self, spec: str) -> Stored:
        """A template with its contents."""
        if spec not in self._read:
            name, version = parse_spec(spec)
            self._read[spec] = self.library.get(name, version)
        return self._read[spec]


def start(message: str, *, workspace: Workspace | None = None, **fields: Any) -> Prepared:
    """Prepare a session of one's own code and write the start down.

    Keywords are those of ``Occasion``: ``template``, ``model``, ``tools``, ``agent``, ``cwd``,
    ``unreviewed``. A template nobody approved is refused unless ``unreviewed=True``.
    """
    fields.setdefault("seed", uuid.uuid4().hex)
    return prepare(workspace or Workspace.open(), Occasion(message=message, **fields))


def load_config(workspace: Workspace, flags: Mapping[str, Any] | None = None) -> WarmConfig:
    """The ``[warm]`` settings, flags first."""
    return load_section(workspace, "warm", WarmConfig, flags)


def prepare(
    workspace: Workspace,
    occasion: Occasion,
    config: WarmConfig | None = None,
    *,
    record: bool = True,
    bookcase: Bookcase | None = None,
) -> Prepared:
    """Choose, build, and write the start down.

    Args:
        workspace: whose library and store are used.
        occasion: the session that is about to start.
        config: settings, if not those of the workspace.
        record: write the start down; without, nothing is written and nobody is held out.
        bookcase: a library that is open already.

    Raises:
        NotFoundError: there is no template of the name asked for.
        UnapprovedError: nobody has approved it.
    """
    settings = config or load_config(workspace)
    if bookcase is not None:
        return _prepare(bookcase, occasion, settings, record=record)
    with _open_library(workspace, record=record) as library:
        return _prepare(Bookcase(library), occasion, settings, record=record)


def _open_library(workspace: Workspace, *, record: bool) -> Library:
    if not record:
        return open_for_reading(workspace.home)
    store = workspace.open_store(os.environ.get("WARMSTART_STORE") or None)
    return Library(workspace.home / TEMPLATES_FOLDER, store)


def _prepare(
    bookcase: Bookcase,
    occasion: Occasion,
    config: WarmConfig,
    *,
    record: bool,
) -> Prepared:
    holdout = config.holdout if record else 0.0
    if occasion.template == AUTO:
        choice = _choose(bookcase, occasion, replace(config, holdout=holdout))
        stored = require_approved(bookcase.get(choice.template)) if choice.template else None
    else:
        stored = _get_named(bookcase, occasion)
        choice = _take_named(stored, occasion)
    warmup = _build(stored, occasion, config) if choice.arm is Arm.WARM else _stay_cold(choice)
    if stored and choice.arm is Arm.WARM and warmup.is_empty:
        reason = f"nothing of {stored.name} is of use here: " + "; ".join(warmup.left_out[:3])
        choice = replace(choice, arm=Arm.COLD, reason=reason.rstrip(": "))
    prepared = Prepared(
        choice=choice,
        warmup=warmup,
        version=stored.version if stored else None,
        unreviewed=_tell_unreviewed(stored) if choice.arm is Arm.WARM else "",
    )
    return _record(bookcase.library, prepared, stored, occasion) if record else prepared


def _get_named(bookcase: Bookcase, occasion: Occasion) -> Stored:
    stored = bookcase.get(occasion.template)
    return require_approved(stored, unreviewed=occasion.unreviewed, way=UNREVIEWED_WAY)


def _tell_unreviewed(stored: Stored | None) -> str:
    if stored is None or stored.state is TemplateState.APPROVED:
        return ""
    return say_unreviewed(stored)


def _choose(bookcase: Bookcase, occasion: Occasion, config: WarmConfig) -> TemplateChoice:
    rules = SelectionRules(
        policy=config.policy,
        holdout=config.holdout,
        threshold=config.threshold,
        tools=occasion.tools,
        history=occasion.history,
        freshness=lambda name: bookcase.shelf.measure_freshness(name, _folder(occasion)),
    )
    index = bookcase.index(occasion.model)
    return choose(occasion.message, index, session_seed=_seed(occasion), rules=rules)


def _seed(occasion: Occasion) -> str:
    return occasion.seed or f"{occasion.agent}:{hash_message(occasion.message)}"


def hash_message(message: str) -> str:
    """A message as the store knows it: enough to find it again, nothing to read."""
    return hashlib.sha256(message.encode("utf-8", "replace")).hexdigest()[:16]


def _take_named(stored: Stored, occasion: Occasion) -> TemplateChoice:
    """A template someone asked for by name."""
    return TemplateChoice(
        template=stored.name,
        arm=Arm.WARM,
        reason=f"{stored.name} was asked for by name",
        task_type=guess_task_type(occasion.message),
    )


def _build(stored: Stored | None, occasion: Occasion, config: WarmConfig) -> WarmUp:
    if stored is None:
        return WarmUp(template="", template_id="")
    return build_warmup(
        stored.template,
        template_id=stored.id,
        budget=config.budget,
        tools=occasion.tools,
        limits=WarmUpLimits(existing=find_existing(stored.template.markers, _folder(occasion))),
    )


def _stay_cold(choice: TemplateChoice) -> WarmUp:
    return WarmUp(template=choice.template or "", template_id="")


def _folder(occasion: Occasion) -> Path:
    return Path(occasion.cwd) if occasion.cwd else Path.cwd()


def _record(
    library: Library, prepared: Prepared, stored: Stored | None, occasion: Occasion
) -> Prepared:
    row = Start(
        agent=occasion.agent,
        arm=prepared.choice.arm,
        model=occasion.model,
        template=stored.name if stored else None,
        template_id=stored.id if stored else None,
        version=stored.version if stored else None,
        form=f"{occasion.form} {UNREVIEWED}".lstrip() if prepared.unreviewed else occasion.form,
        message_hash=hash_message(
            occasion.message if occasion.opening is None else occasion.opening
        ),
        started_at=time.time(),
        cwd=occasion.cwd or None,
        native_id=occasion.native_id,
    )
    return replace(prepared, start=library.require_db().record_start(row))


__all__ = [
    "AUTO",
    "Bookcase",
    "Occasion",
    "Prepared",
    "WarmConfig",
    "hash_message",
    "load_config",
    "prepare",
    "start",
]
