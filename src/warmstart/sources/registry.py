"""Every reader by name, in the order they are asked: the most particular formats first.

A reader is imported when it is asked for. Readers bring the judge's tables with them, and most
commands need one format or none.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from importlib import import_module

from warmstart.errors import UsageError
from warmstart.sources.reader import Probe, Reader

CLASSES = {
    "warmstart": "Warmstart",
    "live_store": "LiveStore",
    "hermes": "Hermes",
    "claude_code": "ClaudeCode",
    "codex": "Codex",
    "gemini": "Gemini",
    "opencode": "Opencode",
    "copilot": "Copilot",
    "openai_agents": "OpenAIAgents",
    "mini_swe_agent": "MiniSweAgent",
    "swe_agent": "SweAgent",
    "openhands": "OpenHands",
    "inspect_ai": "InspectAI",
    "tau_bench": "TauBench",
    "tau2_bench": "Tau2Bench",
    "agentdojo": "AgentDojo",
    "sharegpt": "ShareGPT",
    "anthropic": "Anthropic",
    "openai_chat": "OpenAIChat",
}
"""The class of each reader, in the module of its name."""


class _Readers(Mapping[str, Reader]):
    """A dict of readers that makes each one on first use; its names cost nothing."""

    def __init__(self) -> None:
        self._made: dict[str, Reader] = {}

    def __getitem__(self, name: str) -> Reader:
        if name not in self._made:
            kind = CLASSES[name]
            module = import_module(f"warmstart.sources.readers.{name}")
            self._made[name] = getattr(module, kind)()
        return self._made[name]

    def __contains__(self, name: object) -> bool:
        return name in CLASSES

    def __iter__(self) -> Iterator[str]:
        return iter(CLASSES)

    def __len__(self) -> int:
        return len(CLASSES)


READERS: Mapping[str, Reader] = _Readers()


def get_reader(name: str) -> Reader:
    """The reader of that name.

    Raises:
        UsageError: there is none.
    """
    if name not in READERS:
        known = ", ".join(READERS)
        raise UsageError(f"unknown format {name!r}", hint=f"known formats: {known}")
    return READERS[name]


def find_reader(probe: Probe) -> Reader | None:
    """The first reader that recognises what was probed."""
    return next((reader for reader in READERS.values() if reader.recognises(probe)), None)


__all__ = ["READERS", "find_reader", "get_reader"]
