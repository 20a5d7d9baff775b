"""``TemplateVersion``: the one row the library hands out about a version of a template.

It is made from the store's rows and the names of files; no template file is opened for it, so a
listing of a thousand templates costs one query.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

from warmstart.library.files import ID_DIGITS
from warmstart.model import TemplateState

if TYPE_CHECKING:
    from warmstart.model import Template
    from warmstart.store import TemplateRow

__all__ = [
    "Retired",
    "Saved",
    "StoredTemplate",
    "TemplateProblem",
    "TemplateVersion",
    "UseRecord",
    "describe_row",
    "get_current",
    "list_review_steps",
    "summarise",
]

NO_SUMMARY: Mapping[str, Any] = MappingProxyType({})
UNKNOWN = "unknown to the store"
"""The reason of a file that the store has no row for."""
MAX_MARKERS = 20
SENT_FIELDS = ("system_context", "guidance", "examples", "recoveries")
"""The fields of a template that may be sent to an agent."""


def list_review_steps(spec: str) -> list[str]:
    """The commands that show and approve exactly this version, ``NAME@VERSION``."""
    return [f"warmstart template show {spec}", f"warmstart template approve {spec}"]


class UseRecord(NamedTuple):
    """How sessions with a template went, all models together."""

    uses: int = 0
    successes: int = 0
    failures: int = 0
    calls: int = 0
    errors: int = 0

    @property
    def settled(self) -> int:
        """Sessions that are known to have done their task, or not."""
        return self.successes + self.failures

    @property
    def success_rate(self) -> float | None:
        """The share of settled sessions that did their task; None where none is settled."""
        return self.successes / self.settled if self.settled else None

    @property
    def success_interval(self) -> tuple[float, float] | None:
        """The 95 % Wilson interval of the success rate."""
        if not self.settled:
            return None
        from warmstart.stats import wilson  # noqa: PLC0415 - only where sessions settled

        return wilson(self.successes, self.settled)


class TemplateVersion(NamedTuple):
    """One version of a template, without its contents."""

    name: str
    version: int
    id: str
    """sha256 of the content; its first 12 digits where the store does not know the file."""
    state: TemplateState
    created_at: float
    reason: str = ""
    """Why it has its state."""
    current: bool = False
    """Whether the bare name means this version."""
    versions: int = 1
    """How many versions of this name there are."""
    newest: int = 1
    """The highest version of this name."""
    is_known: bool = True
    """False for a file that the store has no row for."""
    summary: Mapping[str, Any] = NO_SUMMARY
    """task_type, description, tags, anchors, tools, markers, counts of parts, tokens, flags."""
    record: UseRecord = UseRecord()
    verdict: str = ""
    """The latest experiment's verdict in a word or two."""

    @property
    def spec(self) -> str:
        """The exact version as commands take it: ``NAME@VERSION``."""
        return f"{self.name}@{self.version}"

    @property
    def review_steps(self) -> list[str]:
        """The commands that show and approve exactly this version."""
        return list_review_steps(self.spec)

    @property
    def flags(self) -> tuple[str, ...]:
        """Places that read like instructions, found when it was saved."""
        return tuple(self.summary.get("flags", ()))

    @property
    def description(self) -> str:
        """What it is for."""
        return str(self.summary.get("description", ""))

    @property
    def task_type(self) -> str:
        """The kind of work it is for; empty where that is not known."""
        return str(self.summary.get("task_type", ""))


class StoredTemplate(NamedTuple):
    """A version with its contents."""

    info: TemplateVersion
    template: Template

    @property
    def spec(self) -> str:
        """The exact version as commands take it."""
        return self.info.spec

    @property
    def id(self) -> str:
        """sha256 of the content."""
        return self.info.id

    @property
    def state(self) -> TemplateState:
        """Whether it may be used."""
        return self.info.state


class Saved(NamedTuple):
    """The result of saving a template."""

    name: str
    version: int
    id: str
    path: Path
    state: TemplateState
    is_new: bool
    """False when the same content was there already, and nothing was written."""

    @property
    def spec(self) -> str:
        """The exact version as commands take it."""
        return f"{self.name}@{self.version}"

    @property
    def next_steps(self) -> list[str]:
        """The commands to run next: show it, and approve it unless that was done."""
        steps = list_review_steps(self.spec)
        return steps[:1] if self.state is TemplateState.APPROVED else steps


class TemplateProblem(NamedTuple):
    """One fault in the library's folder."""

    name: str
    version: int | None
    text: str


class Retired(NamedTuple):
    """A version that its record took out of use."""

    name: str
    version: int
    reason: str


def describe_row(
    row: TemplateRow,
    rows: Sequence[TemplateRow],
    records: dict[str, UseRecord] | None = None,
    verdicts: dict[str, str] | None = None,
) -> TemplateVersion:
    """A row among the other versions of its name."""
    return TemplateVersion(
        name=row.name, version=row.version, id=row.template_id, state=row.state,
        reason=row.reason, current=row is get_current(rows), versions=len(rows),
        newest=rows[-1].version, created_at=row.created_at,
        is_known=len(row.template_id) > ID_DIGITS,
        summary=row.summary, record=(records or {}).get(row.template_id, UseRecord()),
        verdict=(verdicts or {}).get(row.template_id, ""),
    )  # fmt: skip


def get_current(rows: Sequence[TemplateRow]) -> TemplateRow:
    """The version marked as current; the newest where none is."""
    return next((row for row in rows if row.current), rows[-1])


def summarise(template: Template, flags: tuple[str, ...]) -> dict[str, Any]:
    """Counts of a template and the few texts that are searched; kept with its row."""
    from warmstart.template import canonical_json, list_tools  # noqa: PLC0415 - not for listings

    return {
        "task_type": template.task_type,
        "description": template.description,
        "tags": list(template.tags),
        "anchors": list(template.anchors),
        "domains": list(template.domains),
        "tools": list_tools(template),
        "markers": [[str(marker.kind), marker.value] for marker in template.markers[:MAX_MARKERS]],
        "guidance": len(template.guidance),
        "examples": len(template.examples),
        "recoveries": len(template.recoveries),
        "tokens": _count_tokens(template),
        "bytes": len(canonical_json(template)),
        "flags": list(flags),
    }


def _count_tokens(template: Template) -> int:
    """The cost of all that may be sent, before a budget cuts it."""
    from warmstart.template import list_texts  # noqa: PLC0415 - not for listings
    from warmstart.warm import estimate_tokens  # noqa: PLC0415 - not for listings

    return sum(
        estimate_tokens(text)
        for where, text in list_texts(template)
        if where.startswith(SENT_FIELDS)
    )
