"""Streams of server-sent events, read as their bytes come in.

Nothing in a stream raises: one that is cut anywhere, in the middle of a character too, gives the
answer as far as it came. Comments, unknown events and data that is not valid JSON are passed over.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from warmstart.wire.codec import Codec, Event, Response
from warmstart.wire.encoding import encode_json
from warmstart.wire.fields import parse_json

_BOM = b"\xef\xbb\xbf"


class EventParser:
    """The events in a stream of bytes, whatever pieces it comes in."""

    def __init__(self) -> None:
        self._line: list[bytes] = []
        self._data: list[bytes] = []
        self._name = ""
        self._is_first = True

    def feed(self, data: bytes) -> Iterator[Event]:
        """The events that these bytes complete."""
        *ends, rest = data.split(b"\n")
        for end in ends:
            line = b"".join((*self._line, end))
            self._line.clear()
            yield from self._read_lines(line)
        if rest:
            self._line.append(rest)

    def close(self) -> Iterator[Event]:
        """What stands behind the last line break, and an event that no empty line ended."""
        line = b"".join(self._line)
        self._line.clear()
        yield from self._read_lines(line)
        yield from self._finish()

    def _read_lines(self, line: bytes) -> Iterator[Event]:
        """Lines may also end in a return alone; JSON has none inside."""
        for one in line.removesuffix(b"\r").split(b"\r"):
            text = one.removeprefix(_BOM) if self._is_first else one
            self._is_first = False
            if not text:
                yield from self._finish()
            field, _, value = text.partition(b":")
            value = value.removeprefix(b" ")
            if field == b"data":
                self._data.append(value)
            elif field == b"event":
                self._name = value.decode("utf-8", "replace")

    def _finish(self) -> Iterator[Event]:
        data, name = b"\n".join(self._data), self._name
        has_data = bool(self._data)
        self._data.clear()
        self._name = ""
        if has_data:
            value = parse_json(data)
            yield Event(data.decode("utf-8", "replace") if value is None else value, name)


class StreamDecoder:
    """An answer read from its bytes: a stream, or a whole JSON body where there is no stream.

    Servers answer a request for a stream with plain JSON when it fails, and Gemini with a JSON
    list where server-sent events were not asked for.
    """

    def __init__(self, codec: Codec) -> None:
        self._codec = codec
        self._stream = codec.stream()
        self._events = EventParser()
        self._whole: list[bytes] | None = None
        self._is_begun = False

    def feed(self, data: bytes) -> None:
        """Take the next bytes in."""
        if not self._is_begun and data.strip():
            self._is_begun = True
            self._whole = [] if data.strip()[:1] in (b"{", b"[") else None
        if self._whole is not None:
            self._whole.append(data)
            return
        for event in self._events.feed(data):
            self._stream.add(event)

    def result(self) -> Response:
        """The answer as far as it has come; call it once, after the last bytes."""
        if self._whole is None:
            for event in self._events.close():
                self._stream.add(event)
            return self._codec.decode_response(self._stream.build())
        body = parse_json(b"".join(self._whole))
        if isinstance(body, dict):
            return self._codec.decode_response(body)
        for chunk in body if isinstance(body, list) else ():
            self._stream.add(Event(chunk))
        return self._codec.decode_response(self._stream.build())


def encode_events(events: Iterable[Event]) -> Iterator[bytes]:
    """Events as the bytes of a stream, one piece each."""
    for event in events:
        name = f"event: {event.name}\n".encode() if event.name else b""
        yield name + b"data: " + _encode_data(event.data) + b"\n\n"


def _encode_data(data: Any) -> bytes:
    return data.encode() if isinstance(data, str) else encode_json(data)
