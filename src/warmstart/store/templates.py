"""What the store knows of templates: states, versions, uses and verdicts; never their contents.

A template is a file, and its bytes say what it teaches. Whether it may be used, which version is
in use and how sessions with it went is kept here, so the file stays the same when those change.
Whatever has no row here was put into the folder by someone else and counts as quarantined.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar

from warmstart.errors import NotFoundError
from warmstart.model import Arm, TemplateState
from warmstart.store.backend import Dialect, Row
from warmstart.store.errors import StoreDamagedError
from warmstart.store.part import Part, find_one
from warmstart.store.values import encode_json, make_storable

T = TypeVar("T")
COLUMNS = (
    "name", "version", "template_id", "state", "reason", "current", "created_at", "changed_at",
    "settled_before", "summary",
)  # fmt: skip
LISTED = ", ".join(COLUMNS)
PUT = f"""INSERT INTO templates ({LISTED}) VALUES ({", ".join("?" * len(COLUMNS))})
    ON CONFLICT (name, version) DO NOTHING"""
SET_STATE = """UPDATE templates SET state = ?, reason = ?, changed_at = ?, settled_before = ?
    WHERE name = ? AND version = ?"""
MAX_REASON_LENGTH = 2000
ADVISORY_LOCK = 0x7761726E
"""Another one than the migrations have."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TemplateRow:
    """One version of a template, without its contents."""

    name: str
    version: int
    template_id: str
    state: TemplateState
    reason: str = ""
    """Why it has this state; filled for every retirement."""
    current: bool = False
    """Whether this version is the one a bare name means."""
    created_at: float
    changed_at: float
    settled_before: int = 0
    """Settled uses when it last got its state: only later ones may retire it again."""
    summary: Mapping[str, Any] = field(default_factory=dict)
    """What a listing shows, so that it opens no file."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TemplateRecord:
    """How sessions of one arm went, for one template and one model."""

    template_id: str
    """Empty for starts that no template fitted."""
    model: str
    arm: Arm
    uses: int = 0
    successes: int = 0
    failures: int = 0
    calls: int = 0
    errors: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class TemplateVerdict:
    """What an experiment said about a template."""

    template_id: str
    model: str
    text: str
    numbers: Mapping[str, Any] = field(default_factory=dict)
    decided_at: float


class Templates(Part):
    """Rows about templates; the files are the library's."""

    def in_one_write(self, work: Callable[[], T]) -> T:
        """Run ``work`` while no one else may do the same.

        It may be run again, so it must find what it already did outside the store.
        """

        def locked() -> T:
            if self._backend.dialect is Dialect.POSTGRESQL:
                self._backend.query("SELECT pg_advisory_xact_lock(?)", (ADVISORY_LOCK,))
            return work()

        return self._backend.write(locked)

    def put_template(self, row: TemplateRow) -> None:
        """Make a version known; one that is known stays as it is."""
        values = (
            row.name, row.version, row.template_id, str(row.state), _reason(row.reason), 0,
            row.created_at, row.changed_at, row.settled_before, encode_json(dict(row.summary)),
        )  # fmt: skip

        def work() -> None:
            self._backend.execute(PUT, values)
            if row.current:
                self.set_current_template(row.name, row.version)

        self._backend.write(work)

    def list_template_rows(self, name: str | None = None) -> list[TemplateRow]:
        """Every version of every template, or of one, by name and version."""
        condition, values = ("WHERE name = ?", (name,)) if name is not None else ("", ())
        sql = f"SELECT {LISTED} FROM templates {condition} ORDER BY name, version"
        return [self._decode(row) for row in self._backend.query(sql, values)]

    def list_approved(self) -> list[tuple[str, str, str]]:
        """Name, id and summary (as JSON text) of what may be chosen unnamed, by name.

        Choosing reads all of them for every session, so nothing is decoded here.
        """
        rows = self._backend.query(
            "SELECT name, template_id, summary FROM templates"
            " WHERE current = 1 AND state = ? ORDER BY name",
            (str(TemplateState.APPROVED),),
        )
        return [(row["name"], row["template_id"], row["summary"]) for row in rows]

    def find_template_row(self, template_id: str) -> TemplateRow | None:
        """The version with this content, or None."""
        sql = f"SELECT {LISTED} FROM templates WHERE template_id = ?"
        row = find_one(self._backend, sql, template_id)
        return None if row is None else self._decode(row)

    def set_current_template(self, name: str, version: int) -> None:
        """Let a bare name mean this version."""
        sql = (
            "UPDATE templates SET current = CASE WHEN version = ? THEN 1 ELSE 0 END WHERE name = ?"
        )
        self._backend.write(lambda: self._backend.execute(sql, (version, name)))

    def set_template_state(
        self, name: str, version: int, state: TemplateState, reason: str = ""
    ) -> None:
        """Give a version another state.

        Raises:
            NotFoundError: the store does not know the version.
        """

        def work() -> None:
            rows = [row for row in self.list_template_rows(name) if row.version == version]
            if not rows:
                raise NotFoundError(
                    f"the store knows no version {version} of {name!r}", wanted=name
                )
            settled = self._count_settled(rows[0].template_id)
            values = (str(state), _reason(reason), time.time(), settled, name, version)
            self._backend.execute(SET_STATE, values)

        self._backend.write(work)

    def delete_template_rows(self, name: str, version: int | None = None) -> int:
        """Forget one version or all of them; uses and verdicts stay. How many there were."""
        sql, values = "DELETE FROM templates WHERE name = ?", [name]
        if version is None:
            return self._backend.write(lambda: self._backend.execute(sql, values))
        return self._backend.write(
            lambda: self._backend.execute(f"{sql} AND version = ?", [*values, version])
        )

    def list_template_records(self, template_id: str | None = None) -> list[TemplateRecord]:
        """Counts by template, model and arm; an empty id is for starts without a template."""
        condition, values = ("", ()) if template_id is None else ("WHERE template_id = ?",
                                                                  (template_id,))  # fmt: skip
        rows = self._backend.query(
            "SELECT template_id, model, arm, uses, successes, failures, calls, errors"
            f" FROM template_records {condition} ORDER BY template_id, model, arm",
            values,
        )
        return [TemplateRecord(**{**row, "arm": Arm(row["arm"])}) for row in rows]

    def record_verdict(self, verdict: TemplateVerdict) -> None:
        """Keep what an experiment said."""
        values = (
            verdict.template_id, make_storable(verdict.model), make_storable(verdict.text),
            encode_json(dict(verdict.numbers)), verdict.decided_at,
        )  # fmt: skip
        sql = """INSERT INTO template_verdicts (template_id, model, text, numbers, decided_at)
            VALUES (?, ?, ?, ?, ?)"""
        self._backend.write(lambda: self._backend.execute(sql, values))

    def list_verdicts(self, template_id: str) -> list[TemplateVerdict]:
        """What experiments said about a template, oldest first."""
        rows = self._backend.query(
            "SELECT template_id, model, text, numbers, decided_at FROM template_verdicts"
            " WHERE template_id = ? ORDER BY decided_at, id",
            (template_id,),
        )
        return [TemplateVerdict(**{**row, "numbers": json.loads(row["numbers"])}) for row in rows]

    def list_verdict_notes(self) -> dict[str, str]:
        """The latest verdict on each template in a word or two, for listings."""
        rows = self._backend.query(
            "SELECT template_id, numbers FROM template_verdicts ORDER BY decided_at, id", ()
        )
        notes = ((row["template_id"], json.loads(row["numbers"]).get("short")) for row in rows)
        return {key: str(note) for key, note in notes if note}

    def _decode(self, row: Row) -> TemplateRow:
        try:
            return TemplateRow(
                **{
                    **row,
                    "state": TemplateState(row["state"]),
                    "current": bool(row["current"]),
                    "summary": json.loads(row["summary"]),
                }
            )
        except (TypeError, ValueError) as error:
            reason = f"a row about the template {row['name']!r:.80} cannot be read"
            raise StoreDamagedError(self._backend.location, reason) from error

    def _count_settled(self, template_id: str) -> int:
        row = find_one(
            self._backend,
            "SELECT coalesce(sum(successes + failures), 0) AS n FROM template_records"
            " WHERE template_id = ? AND arm = ?",
            template_id, str(Arm.WARM),
        )  # fmt: skip
        return int(row["n"]) if row else 0


def _reason(text: str) -> str:
    return make_storable(text)[:MAX_REASON_LENGTH]
