"""The approved templates of a library as selection needs them, without opening a template.

They are read for every start, so their summaries are decoded in one go and an entry is made only
for the few that fit. How sessions with a template went is asked of the store once; whether its
files still exist is asked of the disk, for the few that fit.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import orjson

from warmstart.library import Library
from warmstart.model import Arm, Marker, MarkerKind
from warmstart.store import TemplateRecord
from warmstart.warm import TemplateEntry, TemplateIndex, join_text

__all__ = ["Candidates", "find_existing"]

OTHER_MODEL_WEIGHT = 0.5
"""How much a session with another model says about this one."""


class Candidates:
    """Approved templates in the order of their names; where there is no store, there are none."""

    def __init__(self, library: Library) -> None:
        rows = library.db.list_approved() if library.db else []
        self._names = [name for name, _, _ in rows]
        self._ids = [identity for _, identity, _ in rows]
        self._summaries: Sequence[Mapping[str, Any]] = orjson.loads(
            f"[{','.join(summary for _, _, summary in rows)}]"
        )
        self._records: dict[str, list[TemplateRecord]] = {}
        for record in library.db.list_template_records() if library.db else ():
            self._records.setdefault(record.template_id, []).append(record)
        self._unapproved = 0 if rows else len(library.files.list_names())

    def make_index(self, model: str | None) -> TemplateIndex:
        """What can be chosen, with how it went for a model."""
        texts = [
            join_text(name, summary.get("tags", ()), summary.get("anchors", ()))
            for name, summary in zip(self._names, self._summaries, strict=True)
        ]
        return TemplateIndex.of_texts(
            self._names,
            texts,
            lambda place: self._make_entry(place, model),
            unapproved=self._unapproved,
        )

    def measure_freshness(self, name: str, cwd: Path) -> float:
        """The share of a template's files that still exist; 1 if it names none."""
        markers = self._summaries[self._names.index(name)].get("markers", ())
        files = [value for kind, value in markers if kind == MarkerKind.FILE]
        return len(_list_existing(files, cwd)) / len(files) if files else 1.0

    def _make_entry(self, place: int, model: str | None) -> TemplateEntry:
        summary = self._summaries[place]
        good = bad = 0.0
        uses = 0
        for record in self._records.get(self._ids[place], ()):
            if record.arm is Arm.WARM:
                weight = 1.0 if model in (None, record.model) else OTHER_MODEL_WEIGHT
                good += weight * record.successes
                bad += weight * record.failures
                uses += record.uses
        return TemplateEntry(
            name=self._names[place],
            tags=tuple(summary.get("tags", ())),
            anchors=tuple(summary.get("anchors", ())),
            description=summary.get("description", ""),
            task_type=summary.get("task_type", "mixed"),
            tools=frozenset(summary.get("tools", ())),
            alpha=1.0 + good,
            beta=1.0 + bad,
            uses=uses,
        )


def find_existing(markers: Iterable[Marker], cwd: Path) -> frozenset[str]:
    """The files among markers that exist, seen from a folder."""
    return _list_existing([m.value for m in markers if m.kind is MarkerKind.FILE], cwd)


def _list_existing(files: Iterable[str], cwd: Path) -> frozenset[str]:
    return frozenset(value for value in files if os.path.lexists(_join(cwd, value)))


def _join(cwd: Path, value: str) -> str:
    # A template from elsewhere may hold anything; a null byte cannot be in a path at all.
    return os.path.join(cwd, value.replace("\0", ""))  # noqa: PTH118 - hundreds of these per start
