"""Every reader by name, in the order they are asked: the most particular formats first.

A reader is imported when it is asked for. Readers bring the judge's tables with them, and most
commands need one format or none. To add a format: its module in ``readers``, a line in ``CLASSES``
and a test; or, in a package of your own, an entry point of the group ``warmstart.readers``.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import suppress
from functools import cached_property
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

from warmstart.errors import UsageError
from warmstart.sources.faults import go_on_after
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


ENTRY_POINTS = "warmstart.readers"
"""The group under which installed packages name reader classes of their own."""


class BrokenReader(NamedTuple):
    """An installed reader that cannot be used."""

    name: str
    package: str
    problem: str


class _Readers(Mapping[str, Reader]):
    """A dict of readers that makes each one on first use; its names cost nothing.

    Readers of other packages come after ours, so that none of them can take a format away.
    """

    def __init__(self) -> None:
        self._made: dict[str, Reader] = {}
        self.broken: list[BrokenReader] = []
        """Installed readers that were left out, and why."""
        self.packages: dict[str, str] = {}
        """The package that brought a reader, by the reader's name; none for ours."""

    def __getitem__(self, name: str) -> Reader:
        if name not in CLASSES:
            return self._installed[name]
        if name not in self._made:
            module = import_module(f"warmstart.sources.readers.{name}")
            self._made[name] = getattr(module, CLASSES[name])()
        return self._made[name]

    def drop(self, name: str, error: Exception) -> None:
        """Leave out a reader of another package that failed."""
        del self._installed[name]
        problem = f"{type(error).__name__}: {error}"
        self.broken.append(BrokenReader(name, self.packages.pop(name), problem))

    def __contains__(self, name: object) -> bool:
        return name in CLASSES or name in self._installed

    def __iter__(self) -> Iterator[str]:
        yield from CLASSES
        yield from list(self._installed)

    def __len__(self) -> int:
        return len(CLASSES) + len(self._installed)

    @cached_property
    def _installed(self) -> dict[str, Reader]:
        """Readers of other packages; looked for only where none of ours will do."""
        installed: dict[str, Reader] = {}
        if not _may_be_installed():
            return installed
        from importlib.metadata import entry_points  # noqa: PLC0415 - slow, and seldom needed

        for point in entry_points(group=ENTRY_POINTS):
            package = point.dist.name if point.dist else "unknown"

            def report(error: Exception, name: str = point.name, package: str = package) -> None:
                problem = f"{type(error).__name__}: {error}"
                self.broken.append(BrokenReader(name, package, problem))

            with go_on_after(report):
                reader = point.load()()
                problem = _find_fault(point.name, reader)
                if problem:
                    self.broken.append(BrokenReader(point.name, package, problem))
                else:
                    installed[point.name] = reader
                    self.packages[point.name] = package
        return installed


def _may_be_installed() -> bool:
    """Whether an installed package may name readers; ``importlib.metadata`` takes far longer."""
    for folder in filter(Path.exists, map(Path, sys.path)):
        if not folder.is_dir():
            return True  # a zip file, which may hold packages
        with suppress(OSError), os.scandir(folder) as entries:
            for entry in entries:
                if entry.name.endswith(("-info", ".egg")) and _names_readers(entry.path):
                    return True
    return False


def _names_readers(folder: str) -> bool:
    """Whether the metadata of a package holds our group."""
    if folder.endswith(".egg"):
        return True
    try:
        with open(f"{folder}/entry_points.txt", "rb") as file:  # noqa: PTH123 - for speed
            return ENTRY_POINTS.encode() in file.read()
    except OSError:
        return False


def _find_fault(name: str, reader: Any) -> str:
    """What is wrong with another package's reader; empty where nothing is."""
    if name in CLASSES:
        return f"{name!r} is the name of a reader of warmstart"
    if getattr(reader, "name", None) != name:
        return f"its name is {getattr(reader, 'name', None)!r}, not {name!r}"
    wanted = ("title", "recognises", "units", "read", "open")
    missing = [part for part in wanted if not hasattr(reader, part)]
    return f"it has no {missing[0]!r}" if missing else ""


READERS = _Readers()


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
    for name, reader in READERS.items():

        def report(error: Exception, name: str = name) -> None:
            if name in CLASSES:
                raise error
            READERS.drop(name, error)

        with go_on_after(report):
            if reader.recognises(probe):
                return reader
    return None
