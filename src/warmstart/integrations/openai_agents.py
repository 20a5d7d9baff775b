"""A session of the OpenAI Agents SDK that starts warm.

    from agents import Agent, Runner, SQLiteSession
    from warmstart.integrations.openai_agents import WarmSession

    session = WarmSession.start(SQLiteSession("s1", "sessions.db"), "Why does the checkout fail?")
    result = await Runner.run(agent, "Why does the checkout fail?", session=session)

The warm-up stands before the items of the session it wraps and is never written into it, so that
the store holds what really happened. It is chosen once and stays the same, byte for byte. Nothing
of the SDK is imported here: any object with the SDK's four methods can be wrapped.
"""

from __future__ import annotations

from typing import Any, Protocol

from warmstart.app import CODECS, Prompt, is_warm, list_messages
from warmstart.model import WarmUp

Item = dict[str, Any]


class AgentsSession(Protocol):
    """What the SDK asks of a session."""

    session_id: str

    async def get_items(self, limit: int | None = None) -> list[Any]:
        """The newest items, oldest first."""

    async def add_items(self, items: list[Any]) -> None:
        """Keep items."""

    async def pop_item(self) -> Any | None:
        """Take the newest item back."""

    async def clear_session(self) -> None:
        """Forget all items."""


class WarmSession:
    """Another session with a warm-up before it."""

    def __init__(self, session: AgentsSession, warmup: WarmUp) -> None:
        self.session = session
        self.warmup = warmup
        # The agent's instructions are the system message; frame and guidance go with the examples.
        prompt = Prompt(messages=list_messages(warmup, with_system=True))
        self._items = CODECS["responses"].encode_request(prompt)["input"]

    @classmethod
    def start(cls, session: AgentsSession, message: str, **fields: Any) -> WarmSession:
        """Choose a template for the message and write the start down.

        Keywords are those of ``warmstart.app.starts.StartRequest``.
        """
        from warmstart.app import start  # noqa: PLC0415 - opens a store; only here

        fields = {"agent": "openai_agents", "seed": session.session_id, **fields}
        fields.setdefault("native_id", session.session_id)
        return cls(session, start(message, **fields).warmup)

    @property
    def session_id(self) -> str:
        """The wrapped session's."""
        return self.session.session_id

    @session_id.setter
    def session_id(self, value: str) -> None:
        self.session.session_id = value

    @property
    def session_settings(self) -> Any:
        """The wrapped session's, where the SDK has them."""
        return getattr(self.session, "session_settings", None)

    @session_settings.setter
    def session_settings(self, value: Any) -> None:
        wrapped: Any = self.session
        wrapped.session_settings = value

    async def get_items(self, limit: int | None = None) -> list[Any]:
        """The warm-up and the newest items; a limit is for the session's own."""
        items = await self.session.get_items(limit)
        return items if is_warm(items, self.warmup) else [*self._copy(), *items]

    async def add_items(self, items: list[Any]) -> None:
        """Keep what the run adds; the SDK hands over new items alone."""
        await self.session.add_items(items)

    async def pop_item(self) -> Any | None:
        """Take back the newest item of the session; the warm-up stays."""
        return await self.session.pop_item()

    async def clear_session(self) -> None:
        """Forget the session's items; the next run starts warm again."""
        await self.session.clear_session()

    def _copy(self) -> list[Item]:
        return [dict(item) for item in self._items]


__all__ = ["AgentsSession", "WarmSession"]
