"""Where agents keep their sessions on this machine, and the units that are there.

Each agent's own environment override is honoured, as the agent itself does. A place is a store
when it exists; ``list_places`` also names the ones that do not, so that a user sees where we
looked. An agent's home is only ever read by its own reader: it also holds what is none of our
business (settings, credentials), so nothing walks through it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from warmstart.sources.log import ReadLog
from warmstart.sources.probe import probe_path
from warmstart.sources.registry import get_reader
from warmstart.sources.scan import FoundUnit, find_units


@dataclass(frozen=True, slots=True, kw_only=True)
class Store:
    """A place that one agent writes its sessions to."""

    reader: str
    """Name of the reader of its format; empty to detect it."""
    path: Path
    """What the reader is asked to take as a whole."""
    folders: tuple[Path, ...] = ()
    """What is searched file by file where it does not: folders that hold sessions only."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Machine:
    """What decides where agents write: the environment and the homes."""

    environ: Mapping[str, str]
    user_home: Path
    warmstart_home: Path

    def folder(self, variable: str, default: str) -> Path:
        """A folder named by an environment variable, else relative to the user's home."""
        return self.resolve(self.environ.get(variable) or default, self.user_home)

    def resolve(self, path: str, base: Path) -> Path:
        """A path as users write it in a variable: absolute, from ``~``, or relative to a base."""
        if path.startswith("~/"):
            return self.user_home / path[2:]
        return base / path


def list_places(machine: Machine) -> list[Store]:
    """Every place a known agent writes to by default, whether it exists or not."""
    return [
        Store(reader=reader, path=place[0], folders=place[1:])
        for reader, locate in PLACES.items()
        for place in dict.fromkeys(locate(machine))
    ]


def find_stores(machine: Machine) -> list[Store]:
    """The places that exist on this machine."""
    return [place for place in list_places(machine) if _exists(place.path)]


def list_units(store: Store, log: ReadLog) -> Iterator[FoundUnit]:
    """Everything readable in a store.

    Raises:
        SourceError: the store itself cannot be read, or is a file that no reader knows.
    """
    if store.reader:
        reader = get_reader(store.reader)
        if reader.recognises(probe_path(store.path)):
            yield from (FoundUnit(reader, unit) for unit in reader.units(store.path, log))
            return
        for folder in store.folders:
            if _exists(folder):
                yield from find_units(folder, log)
    if not store.reader or store.path.is_file():
        yield from find_units(store.path, log)


Places = Iterator[tuple[Path, ...]]
"""A path for the reader, followed by the folders to search if it does not take it."""


def _hermes(machine: Machine) -> Places:
    home = machine.folder("HERMES_HOME", ".hermes")
    yield (home / "state.db",)
    for database in _children(home / "profiles", "*/state.db"):
        yield (database,)


def _claude_code(machine: Machine) -> Places:
    projects = machine.folder("CLAUDE_CONFIG_DIR", ".claude") / "projects"
    yield projects, projects
    elsewhere = machine.folder("XDG_CONFIG_HOME", ".config") / "claude" / "projects"
    if not machine.environ.get("CLAUDE_CONFIG_DIR") and _exists(elsewhere):
        yield elsewhere, elsewhere


def _codex(machine: Machine) -> Places:
    home = machine.folder("CODEX_HOME", ".codex")
    yield home, home / "sessions", home / "archived_sessions"


def _gemini(machine: Machine) -> Places:
    # The variable stands for the user's home, not for the .gemini folder in it.
    yield (machine.folder("GEMINI_CLI_HOME", "") / ".gemini",)


def _opencode(machine: Machine) -> Places:
    data = machine.folder("XDG_DATA_HOME", ".local/share") / "opencode"
    named = machine.environ.get("OPENCODE_DB", ":memory:")
    yield (data / "opencode.db" if named == ":memory:" else machine.resolve(named, data),)
    if _exists(data / "storage"):  # before there was a database
        yield data / "storage", data / "storage"


def _copilot(machine: Machine) -> Places:
    yield (machine.folder("COPILOT_HOME", ".copilot"),)


def _openhands(machine: Machine) -> Places:
    conversations = machine.user_home / ".openhands" / "conversations"
    yield conversations, conversations


def _live_store(machine: Machine) -> Places:
    yield (machine.warmstart_home / "store.db",)
    gateway = machine.warmstart_home / "gateway" / "state.db"
    if _exists(gateway):
        yield (gateway,)


def _warmstart(machine: Machine) -> Places:
    archive = machine.warmstart_home / "archive"
    yield archive, archive


PLACES: dict[str, Callable[[Machine], Places]] = {
    "hermes": _hermes,
    "claude_code": _claude_code,
    "codex": _codex,
    "gemini": _gemini,
    "opencode": _opencode,
    "copilot": _copilot,
    "openhands": _openhands,
    "live_store": _live_store,
    "warmstart": _warmstart,
}
"""Reader name to where its agent writes. Archived exports come last: live sessions win."""


def _children(folder: Path, pattern: str) -> list[Path]:
    try:
        return sorted(folder.glob(pattern))
    except OSError:
        return []


def _exists(path: Path) -> bool:
    """Whether something is there; what we may not look at counts, so that it is reported."""
    try:
        return path.exists()
    except OSError:
        return True
