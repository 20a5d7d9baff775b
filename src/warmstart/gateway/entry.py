"""The record behind a session key: which session it leads to now, and what is known about it.

Every lookup gives an entry of its own, which knows the row it was read from. Its holder may change
it; ``SessionStore.save_entry`` stores such a change. Everything survives ``to_dict`` and
``from_dict``, and ``write_row`` and ``read_row``. Records come from files and other versions: ids
that could leave a folder are refused, wrong counters are zero, an unknown platform is None.

Times are stored in UTC, so that several machines agree; without a zone in the clock they come back
as the machine's wall clock, which is how entries are made then.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

import orjson

from warmstart.gateway.errors import GatewayError, RecordError, show_value
from warmstart.gateway.keys import check_session_id, check_session_key
from warmstart.gateway.source import Platform, SessionSource, find_platform
from warmstart.store import Chat, decode_state, encode_json

_COUNTERS = (
    "input_tokens", "output_tokens", "cache_read_tokens", "cache_write_tokens", "total_tokens",
    "last_prompt_tokens", "flush_attempts",
)  # fmt: skip
_FLAGS = ("was_auto_reset", "reset_had_activity", "expiry_finalized", "suspended")
_UNSET = (None, False, 0)
MAX_COUNT = 2**53
_YEARS = range(1971, 9000)
"""Outside of these a moment cannot be converted between zones."""


@dataclass(slots=True)
class SessionEntry:
    """What a session key leads to."""

    session_key: str
    session_id: str
    created_at: datetime
    updated_at: datetime
    origin: SessionSource | None = None
    display_name: str | None = None
    platform: Platform | None = None
    chat_type: str = "dm"
    input_tokens: int = 0
    output_tokens: int = 0
    cache_read_tokens: int = 0
    cache_write_tokens: int = 0
    total_tokens: int = 0
    last_prompt_tokens: int = 0
    estimated_cost_usd: float = 0.0
    cost_status: str = "unknown"
    was_auto_reset: bool = False
    """This session replaced one that expired, and the notice of it is still due."""
    auto_reset_reason: str | None = None
    """"idle", "daily" or "suspended"."""
    reset_had_activity: bool = False
    """The session that expired had messages."""
    expiry_finalized: bool = False
    """The expiry watcher has flushed this session."""
    flush_attempts: int = 0
    """How often a flush was tried and failed."""
    suspended: bool = False
    """The next message starts a new session, whatever the policy says."""
    claimed_until: float = 0.0
    """Until then, in seconds since 1970, one watcher has this session's flush for itself."""
    stored: Chat | None = field(default=None, repr=False, compare=False)
    """The row that this entry was read from or written to; None if it has none yet."""

    def start_over(self, session_id: str, now: datetime) -> SessionEntry:
        """A new entry of the same chat with another session, over this entry's row."""
        return SessionEntry(
            session_key=self.session_key,
            session_id=session_id,
            created_at=now,
            updated_at=now,
            origin=self.origin,
            display_name=self.display_name,
            platform=self.platform,
            chat_type=self.chat_type,
            stored=self.stored,
        )

    def note_activity(self, now: datetime) -> None:
        """Note a message: what follows has not been flushed."""
        self.updated_at = now
        self.expiry_finalized = False
        self.flush_attempts = 0

    def to_dict(self, write_time: Callable[[datetime], str] = datetime.isoformat) -> dict[str, Any]:
        """As plain JSON."""
        data: dict[str, Any] = {
            "session_key": self.session_key,
            "session_id": self.session_id,
            "created_at": write_time(self.created_at),
            "updated_at": write_time(self.updated_at),
            "display_name": self.display_name,
            "platform": self.platform.value if self.platform else None,
            "chat_type": self.chat_type,
            "estimated_cost_usd": self.estimated_cost_usd,
            "cost_status": self.cost_status,
            "auto_reset_reason": self.auto_reset_reason,
        }
        for name in (*_COUNTERS, *_FLAGS):
            data[name] = getattr(self, name)
        if self.claimed_until:
            data["claimed_until"] = self.claimed_until
        if self.origin:
            data["origin"] = self.origin.to_dict()
        return data

    @classmethod
    def from_dict(cls, data: Any) -> SessionEntry:
        """An entry as it was stored.

        Raises:
            RecordError: it has no usable id, key or time.
        """
        if not isinstance(data, Mapping):
            raise RecordError(f"{show_value(data)} is not a session entry", value=data)
        return cls(
            session_key=check_session_key(data.get("session_key")),
            session_id=check_session_id(data.get("session_id")),
            created_at=_parse_moment(data, "created_at"),
            updated_at=_parse_moment(data, "updated_at"),
            **_read_state(data),
        )


def write_row(entry: SessionEntry) -> Chat:
    """The row of an entry, over the revision the entry was read from."""
    stored = {name: value for name, value in entry.to_dict().items() if name not in Chat._fields}
    if "origin" in stored:
        stored["origin"] = _drop_unset(stored["origin"])
    return Chat(
        session_key=entry.session_key,
        session_id=entry.session_id,
        created_at=entry.created_at.timestamp(),
        updated_at=entry.updated_at.timestamp(),
        state=_encode(_drop_unset(stored)),
        revision=entry.stored.revision if entry.stored else 0,
    )


def read_row(row: Chat, zone: Any = UTC) -> SessionEntry:
    """The entry of a row, its times in ``zone`` (None: on the machine's wall clock).

    Raises:
        RecordError: it is not a usable entry.
    """
    try:
        state = decode_state(row.state)
    except (ValueError, RecursionError) as error:
        raise RecordError("its state is not valid JSON", value=row.state) from error
    if not isinstance(state, Mapping):
        raise RecordError("its state is not an object", value=row.state)
    return SessionEntry(
        session_key=check_session_key(row.session_key),
        session_id=check_session_id(row.session_id),
        created_at=_read_time(row.created_at, zone),
        updated_at=_read_time(row.updated_at, zone),
        stored=row,
        **_read_state(state),
    )


def _read_state(data: Mapping[str, Any]) -> dict[str, Any]:
    """Everything usable in a record except its key, its session and its times."""
    values = {name: _READERS[name](value) for name, value in data.items() if name in _READERS}
    if data.get("memory_flushed") is True:  # its name until May 2026
        values["expiry_finalized"] = True
    return values


def _parse_moment(data: Mapping[str, Any], name: str) -> datetime:
    value = data.get(name)
    try:
        moment = datetime.fromisoformat(value) if isinstance(value, str) else None
    except ValueError:
        moment = None
    if moment is None or moment.year not in _YEARS:
        raise RecordError(
            f"{name} of a session entry is {show_value(value)}, not a time", value=value
        )
    return moment


def _find_origin(value: Any) -> SessionSource | None:
    """The source; None for a platform that this version does not know."""
    try:
        return SessionSource.from_dict(value) if value else None
    except GatewayError:
        return None


def _as_text(value: Any) -> str | None:
    return value if isinstance(value, str) else None


def _as_count(value: Any) -> int:
    is_count = isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= MAX_COUNT
    return value if is_count else 0


def _as_number(value: Any) -> float:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return float(value) if is_number and abs(value) < MAX_COUNT and math.isfinite(value) else 0.0


_READERS: dict[str, Callable[[Any], Any]] = {
    **dict.fromkeys(_COUNTERS, _as_count),
    **dict.fromkeys(_FLAGS, lambda value: value is True),
    "origin": _find_origin,
    "display_name": _as_text,
    "platform": find_platform,
    "chat_type": lambda value: _as_text(value) or "dm",
    "estimated_cost_usd": _as_number,
    "cost_status": lambda value: _as_text(value) or "unknown",
    "auto_reset_reason": _as_text,
    "claimed_until": _as_number,
}


def _read_time(seconds: float, zone: Any) -> datetime:
    try:
        moment = datetime.fromtimestamp(seconds, zone)
    except (ValueError, OverflowError, OSError) as error:
        raise RecordError(f"{seconds!r} is not a time", value=seconds) from error
    if moment.year not in _YEARS:
        raise RecordError(f"{seconds!r} is not a time", value=seconds)
    return moment


def _drop_unset(values: Mapping[str, Any]) -> dict[str, Any]:
    """The values that are set: half the bytes of a row."""
    return {name: value for name, value in values.items() if value not in _UNSET}


def _encode(state: Mapping[str, Any]) -> str:
    try:
        return orjson.dumps(state).decode()
    except TypeError:  # integers beyond 64 bits and lone surrogates, as the slower encoder can
        return encode_json(state)
