"""An entry and the text of the row that keeps it.

Times are stored in UTC, so that several machines agree; without a zone in the clock they come back
as the machine's wall clock, which is how entries are made then. The time of the last activity
stands first in the text: a touch writes it anew and takes the rest as it is, unless the entry's
holder changed something else in it.
"""

from __future__ import annotations

from datetime import datetime
from operator import attrgetter
from typing import Any, NamedTuple

import orjson

from warmstart.gateway.entry import SessionEntry
from warmstart.gateway.errors import RecordError
from warmstart.gateway.policy import to_utc
from warmstart.gateway.source import SessionSource
from warmstart.store.routes import decode_route
from warmstart.store.values import encode_json

_START = '{"updated_at":"'
_END = '",'
_NAMES = tuple(
    name for name in SessionEntry.__dataclass_fields__ if name not in ("updated_at", "origin")
)
_ORIGIN_NAMES = tuple(SessionSource.__dataclass_fields__)
_SESSION_ID = _NAMES.index("session_id")
_read_values = attrgetter(*_NAMES)
_read_origin = attrgetter(*_ORIGIN_NAMES)
_UNSET = (None, False, 0)
_State = tuple[Any, ...]
"""Every value of an entry but the time of the last activity, then those of its origin, if any."""


class EntryRow(NamedTuple):
    """An entry, what it was when it was stored, and the text it was stored as."""

    entry: SessionEntry
    updated_at: datetime
    state: _State
    text: str

    @property
    def session_id(self) -> str:
        """The session that the row leads to."""
        return str(self.state[_SESSION_ID])

    @property
    def is_changed(self) -> bool:
        """Whether the entry's holder changed it since."""
        entry = self.entry
        return entry.updated_at != self.updated_at or _take_state(entry) != self.state

    def renew(self) -> EntryRow:
        """The row as it must be for the entry as it is now."""
        state = _take_state(self.entry)
        if state == self.state and self.text.startswith(_START):
            return _make_row(self.entry, self.state, self.text.partition(_END)[2])
        return _make_row(self.entry, state, _write_rest(state))


def write_row(entry: SessionEntry) -> EntryRow:
    """The row of an entry."""
    state = _take_state(entry)
    return _make_row(entry, state, _write_rest(state))


def read_row(text: str, *, aware: bool) -> EntryRow:
    """The entry that a row's text stands for.

    Raises:
        RecordError: none can be made of it.
    """
    try:
        stored = decode_route(text)
    except ValueError as error:
        raise RecordError("the entry is not JSON", value=text) from error
    entry = SessionEntry.from_dict(stored)
    if not aware:
        entry.created_at = _to_wall(entry.created_at)
        entry.updated_at = _to_wall(entry.updated_at)
    return EntryRow(entry, entry.updated_at, _take_state(entry), text)


def _make_row(entry: SessionEntry, state: _State, rest: str) -> EntryRow:
    moment = entry.updated_at
    text = f"{_START}{_write_time(moment)}{_END}{rest}"
    return EntryRow(entry, moment, state, text)


def _take_state(entry: SessionEntry) -> _State:
    origin = entry.origin
    values = _read_values(entry)
    return values if origin is None else (*values, *_read_origin(origin))


def _write_rest(state: _State) -> str:
    """What is not set is left out: half the bytes of a row."""
    stored = _drop_unset(_NAMES, state)
    stored["created_at"] = _write_time(stored["created_at"])
    if len(state) > len(_NAMES):
        stored["origin"] = _drop_unset(_ORIGIN_NAMES, state[len(_NAMES) :])
    try:
        text = orjson.dumps(stored).decode()
    except TypeError:  # integers beyond 64 bits and lone surrogates, as the slower encoder can
        text = encode_json(stored)
    return text[1:]


def _drop_unset(names: tuple[str, ...], values: tuple[Any, ...]) -> dict[str, Any]:
    pairs = zip(names, values, strict=False)
    return {name: value for name, value in pairs if value not in _UNSET}


def _write_time(moment: datetime) -> str:
    """ISO 8601 with the zone; a third of the time when the zone is not the datetime's own."""
    return f"{to_utc(moment).replace(tzinfo=None).isoformat()}+00:00"


def _to_wall(moment: datetime) -> datetime:
    """A moment as the machine's wall clock shows it; four times as fast as ``astimezone``."""
    return datetime.fromtimestamp(moment.timestamp())  # noqa: DTZ006 - that is what is wanted
