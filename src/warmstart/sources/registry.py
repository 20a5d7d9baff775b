"""Every reader by name, in the order they are asked: the most particular formats first."""

from __future__ import annotations

from warmstart.errors import UsageError
from warmstart.sources.reader import Probe, Reader
from warmstart.sources.readers.agentdojo import AgentDojo
from warmstart.sources.readers.anthropic import Anthropic
from warmstart.sources.readers.claude_code import ClaudeCode
from warmstart.sources.readers.codex import Codex
from warmstart.sources.readers.copilot import Copilot
from warmstart.sources.readers.gemini import Gemini
from warmstart.sources.readers.hermes import Hermes
from warmstart.sources.readers.inspect_ai import InspectAI
from warmstart.sources.readers.live_store import LiveStore
from warmstart.sources.readers.mini_swe_agent import MiniSweAgent
from warmstart.sources.readers.openai_agents import OpenAIAgents
from warmstart.sources.readers.openai_chat import OpenAIChat
from warmstart.sources.readers.opencode import Opencode
from warmstart.sources.readers.openhands import OpenHands
from warmstart.sources.readers.sharegpt import ShareGPT
from warmstart.sources.readers.swe_agent import SweAgent
from warmstart.sources.readers.tau2_bench import Tau2Bench
from warmstart.sources.readers.tau_bench import TauBench
from warmstart.sources.readers.warmstart import Warmstart

READERS: dict[str, Reader] = {
    reader.name: reader
    for reader in (
        Warmstart(),
        LiveStore(),
        Hermes(),
        ClaudeCode(),
        Codex(),
        Gemini(),
        Opencode(),
        Copilot(),
        OpenAIAgents(),
        MiniSweAgent(),
        SweAgent(),
        OpenHands(),
        InspectAI(),
        TauBench(),
        Tau2Bench(),
        AgentDojo(),
        ShareGPT(),
        Anthropic(),
        OpenAIChat(),
    )
}


def get_reader(name: str) -> Reader:
    """The reader of that name.

    Raises:
        UsageError: there is none.
    """
    try:
        return READERS[name]
    except KeyError:
        known = ", ".join(READERS)
        raise UsageError(f"unknown format {name!r}", hint=f"known formats: {known}") from None


def find_reader(probe: Probe) -> Reader | None:
    """The first reader that recognises what was probed."""
    return next((reader for reader in READERS.values() if reader.recognises(probe)), None)


__all__ = ["READERS", "find_reader", "get_reader"]
