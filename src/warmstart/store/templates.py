"""The tables of templates: states, versions, uses and verdicts, never the templates themselves.

A template is a file. Whether it may be used, which version is in use and how sessions with it went
is kept here, so the file stays the same when those change. A file without a row here was put into
the folder by someone else and counts as quarantined.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar

from warmstart.errors import NotFoundError
from warmstart.model import Arm, TemplateState
from warmstart.store.backend import Dialect, OpenStore, Row, find_one
from warmstart.store.errors import StoreDamagedError
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
"""Not the one that migrations use."""


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
    """What a listing shows, so that it need not open the file."""


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
    """An experiment's verdict on a template."""

    template_id: str
    model: str
    text: str
    numbers: Mapping[str, Any] = field(default_factory=dict)
    decided_at: float


def in_one_write(db: OpenStore, work: Callable[[], T]) -> T:
    """Run ``work`` in one transaction while no other process may do the same.

    It may be run again, so it must recognise what it already did outside the store.
    """

    def locked() -> T:
        if db.backend.dialect is Dialect.POSTGRESQL:
            db.backend.query("SELECT pg_advisory_xact_lock(?)", (ADVISORY_LOCK,))
        return work()

    return db.backend.write(locked)


def put_template(db: OpenStore, row: TemplateRow) -> None:
    """Add the row of a version; an existing row stays as it is."""
    values = (
        row.name, row.version, row.template_id, str(row.state), _reason(row.reason), 0,
        row.created_at, row.changed_at, row.settled_before, encode_json(dict(row.summary)),
    )  # fmt: skip

    def work() -> None:
        db.backend.execute(PUT, values)
        if row.current:
            set_current_template(db, row.name, row.version)

    db.backend.write(work)


def list_template_rows(db: OpenStore, name: str | None = None) -> list[TemplateRow]:
    """The rows of all versions of all templates, or of one, by name and version."""
    condition, values = ("WHERE name = ?", (name,)) if name is not None else ("", ())
    sql = f"SELECT {LISTED} FROM templates {condition} ORDER BY name, version"
    return [_decode(db, row) for row in db.backend.query(sql, values)]


def list_approved(db: OpenStore) -> list[tuple[str, str, str]]:
    """Name, id and summary (JSON text) of the templates that may be chosen unnamed, by name.

    Choosing reads all of them for every session, so nothing is decoded here.
    """
    rows = db.backend.query(
        "SELECT name, template_id, summary FROM templates"
        " WHERE current = 1 AND state = ? ORDER BY name",
        (str(TemplateState.APPROVED),),
    )
    return [(row["name"], row["template_id"], row["summary"]) for row in rows]


def find_template_row(db: OpenStore, template_id: str) -> TemplateRow | None:
    """The version with this content, or None."""
    sql = f"SELECT {LISTED} FROM templates WHERE template_id = ?"
    row = find_one(db.backend, sql, template_id)
    return None if row is None else _decode(db, row)


def set_current_template(db: OpenStore, name: str, version: int) -> None:
    """Make this version the one that a bare name means."""
    sql = "UPDATE templates SET current = CASE WHEN version = ? THEN 1 ELSE 0 END WHERE name = ?"
    db.change(sql, (version, name))


def set_template_state(
    db: OpenStore, name: str, version: int, state: TemplateState, reason: str = ""
) -> None:
    """Give a version another state.

    Raises:
        NotFoundError: the store does not know the version.
    """

    def work() -> None:
        rows = [row for row in list_template_rows(db, name) if row.version == version]
        if not rows:
            raise NotFoundError(f"the store knows no version {version} of {name!r}", wanted=name)
        settled = _count_settled(db, rows[0].template_id)
        values = (str(state), _reason(reason), time.time(), settled, name, version)
        db.backend.execute(SET_STATE, values)

    db.backend.write(work)


def delete_template_rows(db: OpenStore, name: str, version: int | None = None) -> int:
    """Delete the rows of one version or of all; uses and verdicts stay. Their number."""
    sql, values = "DELETE FROM templates WHERE name = ?", [name]
    if version is None:
        return db.change(sql, values)
    return db.change(f"{sql} AND version = ?", [*values, version])


def list_template_records(db: OpenStore, template_id: str | None = None) -> list[TemplateRecord]:
    """Counts by template, model and arm; an empty id is for starts without a template."""
    condition, values = ("", ()) if template_id is None else ("WHERE template_id = ?",
                                                              (template_id,))  # fmt: skip
    rows = db.backend.query(
        "SELECT template_id, model, arm, uses, successes, failures, calls, errors"
        f" FROM template_records {condition} ORDER BY template_id, model, arm",
        values,
    )
    return [TemplateRecord(**{**row, "arm": Arm(row["arm"])}) for row in rows]


def record_verdict(db: OpenStore, verdict: TemplateVerdict) -> None:
    """Store an experiment's verdict."""
    values = (
        verdict.template_id, make_storable(verdict.model), make_storable(verdict.text),
        encode_json(dict(verdict.numbers)), verdict.decided_at,
    )  # fmt: skip
    sql = """INSERT INTO template_verdicts (template_id, model, text, numbers, decided_at)
        VALUES (?, ?, ?, ?, ?)"""
    db.change(sql, values)


def list_verdicts(db: OpenStore, template_id: str) -> list[TemplateVerdict]:
    """The verdicts on a template, oldest first."""
    rows = db.backend.query(
        "SELECT template_id, model, text, numbers, decided_at FROM template_verdicts"
        " WHERE template_id = ? ORDER BY decided_at, id",
        (template_id,),
    )
    return [TemplateVerdict(**{**row, "numbers": json.loads(row["numbers"])}) for row in rows]


def list_verdict_notes(db: OpenStore) -> dict[str, str]:
    """The latest verdict on each template in a word or two, for listings."""
    rows = db.backend.query(
        "SELECT template_id, numbers FROM template_verdicts ORDER BY decided_at, id", ()
    )
    notes = ((row["template_id"], json.loads(row["numbers"]).get("short")) for row in rows)
    return {key: str(note) for key, note in notes if note}


def _decode(db: OpenStore, row: Row) -> TemplateRow:
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
        raise StoreDamagedError(db.backend.location, reason) from error


def _count_settled(db: OpenStore, template_id: str) -> int:
    row = find_one(
        db.backend,
        "SELECT coalesce(sum(successes + failures), 0) AS n FROM template_records"
        " WHERE template_id = ? AND arm = ?",
        template_id, str(Arm.WARM),
    )  # fmt: skip
    return int(row["n"]) if row else 0


def _reason(text: str) -> str:
    return make_storable(text)[:MAX_REASON_LENGTH]
