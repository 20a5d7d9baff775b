"""The routing index: which session a chat's messages go to now.

What an entry holds is the gateway's business; only its ``session_id`` is read here, to find a key
by it.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import orjson

from warmstart.store.route_texts import RouteText, RouteTexts
from warmstart.store.values import encode_json


class Routes(RouteTexts):
    """Session keys and the entries they lead to, apart for each scope."""

    def put_route(self, scope: str, session_key: str, entry: Mapping[str, Any]) -> None:
        """Set the entry of a key."""
        self.put_route_text(scope, session_key, _encode(entry))

    def swap_route(
        self,
        scope: str,
        session_key: str,
        known: Mapping[str, Any] | None,
        entry: Mapping[str, Any],
    ) -> bool:
        """Set the entry of a key that still has the ``known`` one (None: has none); whether it did.

        What is known may have been written in another spacing or order.
        """
        if known is None:
            return self.swap_route_text(scope, session_key, None, _encode(entry))
        text = self.find_route_text(scope, session_key)
        if text is None or decode_route(text) != known:
            return False
        return self.swap_route_text(scope, session_key, text, _encode(entry))

    def get_route(self, scope: str, session_key: str) -> dict[str, Any] | None:
        """The entry of a key, or None."""
        text = self.find_route_text(scope, session_key)
        return None if text is None else decode_route(text)

    def find_route(self, scope: str, session_id: str) -> tuple[str, dict[str, Any]] | None:
        """The key and entry that lead to a session, or None."""
        found = self.find_session_route(scope, session_id)
        return (found[0], decode_route(found[1])) if found else None

    def list_routes(self, scope: str) -> Iterator[tuple[str, dict[str, Any]]]:
        """Every key with its entry, in the order of the keys, a page at a time."""
        for session_key, text in self.list_route_texts(scope):
            yield session_key, decode_route(text)

    def iterate_routes(self) -> Iterator[tuple[str, str, dict[str, Any]]]:
        """Scope, key and entry of every route there is."""
        for row in self._backend.query("SELECT DISTINCT scope FROM routes ORDER BY scope"):
            for session_key, entry in self.list_routes(row["scope"]):
                yield row["scope"], session_key, entry

    def take_routes(self, routes: Iterable[tuple[str, str, Mapping[str, Any]]]) -> None:
        """Put many routes in one transaction."""

        def work() -> None:
            for scope, session_key, entry in routes:
                self.put_route(scope, session_key, entry)

        self._backend.write(work)


def decode_route(text: str) -> Any:
    """What the text of an entry says."""
    try:
        return orjson.loads(text)
    except orjson.JSONDecodeError:  # lone surrogates, which only the slower decoder reads
        return json.loads(text)


def _encode(entry: Mapping[str, Any]) -> RouteText:
    return RouteText(entry.get("session_id"), encode_json(dict(entry)))
