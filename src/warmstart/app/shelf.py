"""The approved templates of a library as selection needs them, without opening a template.

Reading them is part of every start, so their summaries are decoded in one go and an entry is made
only for the few that fit. What is believed of a template is asked of the store once; whether its
files still exist is asked of the disk, for the few that fit.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import orjson

from warmstart.library import Library
from warmstart.model.marker import Marker, MarkerKind
from warmstart.model.warmup import Arm
from warmstart.store import TemplateRecord
from warmstart.warm import Bm25, TemplateEntry, join_text

OTHER_MODEL_WEIGHT = 0.5
"""How much a session with another model says about this one."""


@dataclass(frozen=True, kw_only=True)
class Shelf:
    """Approved templates, in the order of their names."""

    names: Sequence[str]
    ids: Sequence[str]
    summaries: Sequence[Mapping[str, Any]]
    records: Mapping[str, Sequence[TemplateRecord]]
    """By template id."""
    unapproved: int = 0

    @cached_property
    def texts(self) -> list[str]:
        """What is searched."""
        return [
            join_text(name, summary.get("tags", ()), summary.get("anchors", ()))
            for name, summary in zip(self.names, self.summaries, strict=True)
        ]

    @cached_property
    def searcher(self) -> Bm25:
        """The search over the texts; it learns as it is asked."""
        return Bm25(self.texts)

    @cached_property
    def places(self) -> dict[str, int]:
        """Where each name stands."""
        return {name: place for place, name in enumerate(self.names)}

    def make_entry(self, place: int, model: str | None) -> TemplateEntry:
        """What selection needs of one template: its words, and what is believed of it."""
        summary = self.summaries[place]
        good = bad = 0.0
        uses = 0
        for record in self.records.get(self.ids[place], ()):
            if record.arm is Arm.WARM:
                weight = 1.0 if model in (None, record.model) else OTHER_MODEL_WEIGHT
                good += weight * record.successes
                bad += weight * record.failures
                uses += record.uses
        return TemplateEntry(
            name=self.names[place],
            tags=tuple(summary.get("tags", ())),
            anchors=tuple(summary.get("anchors", ())),
            description=summary.get("description", ""),
            task_type=summary.get("task_type", "mixed"),
            tools=frozenset(summary.get("tools", ())),
            alpha=1.0 + good,
            beta=1.0 + bad,
            uses=uses,
        )

    def measure_freshness(self, name: str, cwd: Path) -> float:
        """Which share of a template's files is still there; 1 if it names none."""
        markers = self.summaries[self.places[name]].get("markers", ())
        files = [value for kind, value in markers if kind == MarkerKind.FILE]
        return len(_list_existing(files, cwd)) / len(files) if files else 1.0


def read_shelf(library: Library) -> Shelf:
    """What the store says of a library; where there is no store, nothing is approved."""
    if library.db is None:
        files = len(library.files.list_names())
        return Shelf(names=(), ids=(), summaries=(), records={}, unapproved=files)
    rows = library.db.list_approved()
    records: dict[str, list[TemplateRecord]] = {}
    for record in library.db.list_template_records():
        records.setdefault(record.template_id, []).append(record)
    return Shelf(
        names=[name for name, _, _ in rows],
        ids=[identity for _, identity, _ in rows],
        summaries=orjson.loads(f"[{','.join(summary for _, _, summary in rows)}]"),
        records=records,
        unapproved=0 if rows else len(library.files.list_names()),
    )


def find_existing(markers: Iterable[Marker], cwd: Path) -> frozenset[str]:
    """The files among markers that are there, seen from a folder."""
    return _list_existing([m.value for m in markers if m.kind is MarkerKind.FILE], cwd)


def _list_existing(files: Iterable[str], cwd: Path) -> frozenset[str]:
    return frozenset(value for value in files if os.path.lexists(_join(cwd, value)))


def _join(cwd: Path, value: str) -> str:
    # A template from elsewhere may hold anything; a null byte is no path at all.
    return os.path.join(cwd, value.replace("\0", ""))  # noqa: PTH118 - hundreds of these per start


__all__ = ["Shelf", "find_existing", "read_shelf"]
