"""What a session's calls keep coming back to: files, addresses and commands, ranked by use.

Only named arguments are looked at: a path inside a program that was run is not what the call was
about. Commands are reduced to the program and its subcommand, so that ``git log -5`` and
``git log --oneline`` are one.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from warmstart.model.facts import Marker, MarkerKind
from warmstart.outcome.tools import ToolKind, command_of, kind_of

MAX_PER_KIND = 12
MAX_VALUE_CHARS = 300
MAX_LINE_CHARS = 2000
_FILE_KEYS = frozenset({
    "path", "file_path", "filepath", "file", "filename", "file_name", "notebook_path",
    "target_file", "absolute_path", "relative_path", "filePath", "dir_path", "directory",
})  # fmt: skip
_URL_KEYS = frozenset({"url", "uri", "urls", "link", "href"})
_KEYS = _FILE_KEYS | _URL_KEYS
_SHELL = ToolKind.SHELL
_PASSED_OVER = frozenset({
    "sudo", "time", "nohup", "env", "exec", "builtin", "command", "stdbuf", "nice", "then", "do",
    "else", "!", "(", "{",
})  # fmt: skip
_SETTINGS = frozenset({"cd", "export", "source", ".", "set", "pushd", "popd", "true", "sleep"})
"""Commands that only prepare the one that follows them."""
_WITH_SUBCOMMANDS = frozenset({
    "apt", "apt-get", "aws", "brew", "bun", "bundle", "cargo", "composer", "conda", "deno",
    "docker", "docker-compose", "dotnet", "flutter", "gcloud", "gh", "git", "go", "gradle", "helm",
    "hermes", "kubectl", "make", "mix", "mvn", "npm", "npx", "pip", "pip3", "pnpm", "podman",
    "poetry", "rails", "rustup", "swift", "systemctl", "terraform", "uv", "uvx", "yarn",
})  # fmt: skip
_PYTHONS = frozenset({"python", "python3", "py"})
_QUOTES = "'\""


class MarkerCounter:
    """Collects what calls point to."""

    __slots__ = ("commands", "files", "urls")

    def __init__(self) -> None:
        self.files: dict[str, int] = {}
        self.urls: dict[str, int] = {}
        self.commands: dict[str, int] = {}

    def add(self, tool: str, arguments: Mapping[str, Any]) -> None:
        """One call."""
        if kind_of(tool) is _SHELL:
            line = command_of(arguments)
            name = name_command(line if len(line) <= MAX_LINE_CHARS else line[:MAX_LINE_CHARS])
            if name:
                self.commands[name] = self.commands.get(name, 0) + 1
            return
        if _KEYS.isdisjoint(arguments):
            return
        for key in _KEYS.intersection(arguments):
            value = arguments[key]
            if isinstance(value, str) and 0 < len(value) <= MAX_VALUE_CHARS:
                seen = self.urls if key in _URL_KEYS or "://" in value else self.files
                seen[value] = seen.get(value, 0) + 1

    def finish(self) -> tuple[Marker, ...]:
        """The most used ones of each kind, most used first."""
        found: list[Marker] = []
        for kind, seen in (
            (MarkerKind.FILE, self.files),
            (MarkerKind.URL, self.urls),
            (MarkerKind.COMMAND, self.commands),
        ):
            if seen:
                ranked = sorted(seen.items(), key=_rank)[:MAX_PER_KIND]
                found += [Marker(kind, value, uses) for value, uses in ranked]
        found.sort(key=_order)
        return tuple(found)


def _rank(item: tuple[str, int]) -> tuple[int, str]:
    return -item[1], item[0]


def _order(marker: Marker) -> int:
    return -marker.uses


@lru_cache(maxsize=8192)
def name_command(line: str) -> str:
    """The program a line runs, with its subcommand; empty where none can be told."""
    for stage in _stages(line):
        words = _program_words(stage)
        if not words or words[0] in _SETTINGS or words[0].startswith("#"):
            continue
        return _join_subcommand(words)[:MAX_VALUE_CHARS]
    return ""


def _stages(line: str) -> list[str]:
    if "\n" in line or "&" in line or ";" in line or "|" in line:
        for operator in ("&&", "||", ";", "|"):
            line = line.replace(operator, "\n")
        return line.split("\n")
    return [line]


def _program_words(stage: str) -> list[str]:
    """The words of a stage from its program on."""
    words = stage.split(None, 12)
    while words and (words[0] in _PASSED_OVER or _is_assignment(words[0])):
        words = words[1:]
    if words[:1] == ["timeout"]:
        rest = iter(words[1:])
        words = [*_from_program(rest)]
    return words


def _from_program(words: Any) -> list[str]:
    """What follows ``timeout`` and its own options."""
    kept = list(words)
    while kept and (kept[0][:1] in "-0123456789"):
        kept = kept[1:]
    return kept


def _is_assignment(word: str) -> bool:
    name, equals, _ = word.partition("=")
    return bool(equals) and name.isidentifier()


def _join_subcommand(words: list[str]) -> str:
    program = words[0].strip(_QUOTES).lstrip("({").rpartition("/")[2]
    if program in _PYTHONS and words[1:2] == ["-m"] and len(words) > 2:
        return words[2].partition(".")[0]
    if program in _WITH_SUBCOMMANDS:
        sub = next((word for word in words[1:] if not word.startswith("-")), "")
        if sub and sub.replace("-", "").replace(":", "").replace("_", "").isalnum():
            return f"{program} {sub}"
    return program
