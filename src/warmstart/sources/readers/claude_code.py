"""Claude Code: one JSONL file per session, its subagents in files of their own.

    <config>/projects/<project>/<session>.jsonl
    <config>/projects/<project>/<session>/subagents/agent-<id>.jsonl (+ agent-<id>.meta.json)
    <config>/projects/<project>/agent-<id>.jsonl                     (versions before 2.1)

A folder is taken as a whole only where nothing else can be in it: what this reader lists is all
that is read there. Everything else is left to the walk, which asks file by file. A session comes
before its subagents and an older file before a newer one, so that a copy follows its original.

Every line has ``type``; those of a conversation also ``uuid``, ``parentUuid``, ``sessionId``,
``timestamp``, ``cwd``, ``gitBranch``, ``version`` and ``isSidechain``::

    user        {"message": {"role": "user", "content": "text" or blocks}, "isMeta",
                 "isCompactSummary", "toolUseResult", "toolDenialKind"}
                 block: {"type": "tool_result", "tool_use_id", "content", "is_error"}
    assistant   {"message": {"id", "model", "usage", "content": [block]}, "requestId", "costUSD"}
                 block: {"type": "text", "text"}, {"type": "thinking", "thinking"},
                        {"type": "tool_use", "id", "name", "input"}
    system      {"subtype": "compact_boundary", "compactMetadata": {"trigger", "preTokens"}}
    attachment  {"attachment": {"type": "queued_command" or a hook's, "prompt", "content"}}
    progress    what a running tool shows; it only links two other lines
    summary, ai-title, custom-title    the session's title

Nearly half of all bytes are lines that show progress, and details of results that the model never
saw. Both are recognised by bytes that can stand in one place of a valid line only: a quote after a
comma, followed by a name, opens a name; what stands before the first inner brace, and flat values
up to the closing one, belong to the line itself. Any line that looks different is parsed whole.
What is left out is not checked either: damage in it costs nothing.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

from warmstart.errors import SourceError
from warmstart.model import Session
from warmstart.sources.files import parse_line, read_lines
from warmstart.sources.json_text import has_too_many_values, parse_strictly
from warmstart.sources.log import ReadLog
from warmstart.sources.probe import probe_path
from warmstart.sources.reader import FileReader, Probe, Unit, file_fingerprint, file_unit
from warmstart.sources.readers._claude_code_transcript import ClaudeFile, is_uuid
from warmstart.sources.records import file_stem

TRANSCRIPT_SUFFIXES = (".jsonl", ".jsonl.gz", ".jsonl.zst")
DATA_SUFFIXES = (".json", ".jsonl", ".gz", ".zst", ".db", ".sqlite", ".sqlite3", ".eval", ".traj")
BOOKKEEPING = frozenset(
    {
        "ai-title", "agent-name", "custom-title", "last-prompt", "mode", "permission-mode",
        "pr-link", "progress", "queue-operation", "tag",
    }
)  # fmt: skip
"""Line types without a parent of their own that may open a file."""
HOME_NAMES = frozenset(
    {
        ".credentials.json", "file-history", "history.jsonl", "plugins", "session-env",
        "settings.json", "shell-snapshots", "statsig", "todos",
    }
)  # fmt: skip
"""What else stands in a configuration folder; one of them tells it from any folder "projects"."""
PROJECT_FILES = frozenset({"sessions-index.json"})
PROJECT_FOLDERS = frozenset({"memory"})
SAMPLES = 2
"""Files looked into before a folder is taken as a whole."""


class ClaudeCode(FileReader):
    """Claude Code."""

    name = "claude_code"
    title = "Claude Code"

    def recognises(self, probe: Probe) -> bool:
        """Whether the path holds this format."""
        if probe.is_folder:
            return _is_store(probe.path, probe.names)
        if _is_sidecar(probe.path.name):
            return True
        return probe.is_lines and any(map(_is_line, probe.records))

    def units(self, path: Path, log: ReadLog) -> Iterator[Unit]:
        """List what is there: transcripts, each session followed by its subagents."""
        if not path.is_dir():
            if not _is_sidecar(path.name):
                yield from file_unit(path)
            return
        for file in _list_store(path, log):
            try:
                yield Unit(path=file, fingerprint=file_fingerprint(file))
            except OSError as error:
                log.skip(error.strerror or "unreadable", file)

    def read(self, unit: Unit, log: ReadLog) -> Iterator[Session]:
        """Read a file's session, and the subagents that older versions wrote into it."""
        transcript = ClaudeFile(unit.path, log)
        for number, line, complete in read_lines(unit.path, log):
            note = read_progress(line)
            if note is not None:
                transcript.add_progress(*note)
                continue
            data = parse_known(line) if complete else None
            if data is None:
                data = parse_line(line, number, unit.path, log, complete=complete)
            if data is not None:
                transcript.add(number, data)
        for draft in transcript.conversations():
            yield draft.finish()


def _is_line(data: dict[str, Any]) -> bool:
    """Whether a JSON object is a line only Claude Code writes."""
    kind = data.get("type")
    if not isinstance(kind, str):
        return False
    if "parentUuid" in data or (kind == "summary" and "leafUuid" in data):
        return True
    if kind == "file-history-snapshot":
        return "snapshot" in data
    if not isinstance(data.get("sessionId"), str):
        return False
    return kind in BOOKKEEPING or isinstance(data.get("message"), dict)


def _is_sidecar(name: str) -> bool:
    """A subagent's ``.meta.json``: read together with its transcript, never alone."""
    return name.startswith("agent-") and name.endswith(".meta.json")


def _is_transcript(name: str) -> bool:
    stem = file_stem(name)
    return name.endswith(TRANSCRIPT_SUFFIXES) and (is_uuid(stem) or stem.startswith("agent-"))


class _Entries(NamedTuple):
    files: list[os.DirEntry[str]]
    folders: list[os.DirEntry[str]]


def _scan(folder: Path | str) -> _Entries:
    """What is in a folder, by name; nothing where it cannot be read."""
    try:
        with os.scandir(folder) as listing:
            entries = sorted(listing, key=lambda entry: entry.name)
        return _Entries(
            [entry for entry in entries if entry.is_file()],
            [entry for entry in entries if entry.is_dir(follow_symlinks=False)],
        )
    except OSError:
        return _Entries([], [])


def _is_store(path: Path, names: frozenset[str]) -> bool:
    """Whether all of a folder can be left to this reader."""
    if "projects" in names and (names == {"projects"} or names & HOME_NAMES):
        return _holds_sessions(_project_folders(path))
    if path.name == "projects":
        folders = _project_folders(path)
        return all(map(_is_project, folders)) and _holds_sessions(folders)
    if path.name == "subagents" or (is_uuid(path.name) and "subagents" in names):
        return _holds_sessions([path])
    return _is_project(path) and _holds_sessions([path])


def _project_folders(path: Path) -> list[Path]:
    """The project folders of a configuration folder, or of its ``projects``."""
    inner = path if path.name == "projects" else path / "projects"
    return [Path(entry.path) for entry in _scan(inner).folders]


def _is_project(folder: Path) -> bool:
    """Whether every data file and folder in it has a name that Claude Code gives."""
    files, folders = _scan(folder)
    return all(
        _is_transcript(entry.name) or _is_sidecar(entry.name) or entry.name in PROJECT_FILES
        for entry in files
        if entry.name.endswith(DATA_SUFFIXES)
    ) and all(is_uuid(entry.name) or entry.name in PROJECT_FOLDERS for entry in folders)


def _holds_sessions(folders: Iterable[Path]) -> bool:
    """Whether one of the first transcripts found is what its name promises."""
    found = (file for folder in folders for group in _groups(folder) for file in group.files)
    return any(map(_is_claude_file, islice(found, SAMPLES)))


def _is_claude_file(path: Path) -> bool:
    try:
        probe = probe_path(path)
    except SourceError:
        return False
    return probe.is_lines and any(map(_is_line, probe.records))


class _Group(NamedTuple):
    """A session's file and its subagents', ordered among the others by its last change."""

    changed: int
    files: list[Path]


def _list_store(path: Path, log: ReadLog) -> Iterator[Path]:
    is_home = path.name == "projects" or (path / "projects").is_dir()
    folders = _project_folders(path) if is_home else [path]
    groups = [group for folder in folders for group in _groups(folder)]
    if not groups:
        log.skip("folder holds no session", path)
    for group in sorted(groups):
        yield from group.files


def _groups(folder: Path) -> Iterator[_Group]:
    """The sessions of a project folder, of one session's folder or of its ``subagents``."""
    files, folders = _scan(folder)
    children = {entry.name: _subagents(Path(entry.path) / "subagents") for entry in folders}
    if folder.name == "subagents":
        children = {"": _subagents(folder)}
        files = []
    elif "subagents" in children:
        children = {"": _subagents(folder / "subagents")}
    for entry in files:
        if entry.name.endswith(TRANSCRIPT_SUFFIXES):
            own = children.pop(file_stem(entry.name), [])
            path = Path(entry.path)
            yield _Group(_changed(path), [path, *own])
    for orphans in children.values():
        if orphans:
            yield _Group(_changed(orphans[0]), orphans)


def _subagents(folder: Path) -> list[Path]:
    """Subagent transcripts, those of workflows one folder further down included."""
    found = [
        path
        for path in folder.rglob("agent-*")
        if path.name.endswith(TRANSCRIPT_SUFFIXES) and path.is_file()
    ]
    return sorted(found, key=lambda path: (_changed(path), path.name))


def _changed(path: Path) -> int:
    """When a file was last written to; one that has just vanished is reported later."""
    try:
        return path.stat().st_mtime_ns
    except OSError:
        return 0


__all__ = ["parse_known", "read_progress"]

_PROGRESS_TYPE = b',"type":"progress","data":'
_PROGRESS_OPENING = re.compile(rb'\{"parentUuid":"([0-9a-f-]{36})","isSidechain":false,')
_PROGRESS_ENDING = re.compile(
    rb',"uuid":"([0-9a-f-]{36})","timestamp":"[^"\\]{24}"\}\n\Z'
    rb'|,"timestamp":"[^"\\]{24}","uuid":"([0-9a-f-]{36})"\}\n\Z'
)
_PROGRESS_ENDING_BYTES = 87
_LONG_BYTES = 3000
"""Shorter lines are parsed faster than they are looked through."""
_TAIL_BYTES = 1000
_DETAILS = b',"toolUseResult":{'
_SOURCE = b'},"sourceToolAssistantUUID":"'
_AFTER_DETAILS = re.compile(
    rb'\}(,"sourceToolAssistantUUID":"[^"\\]*"(?:,"\w+":(?:"[^"\\]*"|true|false|null))*\}\n\Z)'
)
_DETAILS_OPENINGS = (b'"filePath":"', b'"type":"text","file":{')
_DETAILS_ENDING = re.compile(rb'"(?:replaceAll":(?:true|false)|totalLines":\d{1,9}\})\Z')
"""How the details of an edit and of a file that was read begin and end. Both are large; neither
has the one field that counts, which says that a command was interrupted."""
_ENDING_BYTES = 24


def read_progress(line: bytes) -> tuple[str, str] | None:
    """Uuid and parent of a line that only shows progress; None for any line to be parsed."""
    if not line.endswith(_PROGRESS_TYPE, 0, line.find(b"{", 1)):
        return None
    opening = _PROGRESS_OPENING.match(line)
    ending = _PROGRESS_ENDING.match(line, len(line) - _PROGRESS_ENDING_BYTES)
    if opening is None or ending is None:
        return None
    return (ending[1] or ending[2]).decode(), opening[1].decode()


def parse_known(line: bytes) -> dict[str, Any] | None:
    """The object on a line, perhaps without unused details; None where it takes more."""
    if len(line) > _LONG_BYTES:
        if has_too_many_values(line):
            return None
        line = _leave_out_details(line)
    data = parse_strictly(line)
    return data if data.__class__ is dict else None


def _leave_out_details(line: bytes) -> bytes:
    """The line without what an edit or a read file looked like to the harness.

    Where the details are not a field of the line itself, what is returned is not valid JSON.
    """
    end = line.rfind(_SOURCE, len(line) - _TAIL_BYTES)
    if end < 0 or not _DETAILS_ENDING.search(line, end - _ENDING_BYTES, end):
        return line
    start = line.find(_DETAILS, 0, end)
    after = _AFTER_DETAILS.match(line, end)
    if start < 0 or after is None:
        return line
    is_known = line.startswith(_DETAILS_OPENINGS, start + len(_DETAILS))
    return line[:start] + after[1] if is_known else line
