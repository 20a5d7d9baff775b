"""OpenHands: conversation folders (V1 and V0), event files, and evaluation outputs.

A conversation folder is one unit; its events are ordered by the number in their file names. An
evaluation's ``output.jsonl`` holds one run per line and only grows, so it can be taken up where
the last reading ended. What an event says is read by ``_openhands_events``.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from warmstart.errors import SourceError
from warmstart.model import Session, Tokens
from warmstart.sources.assemble import build_session
from warmstart.sources.fields import as_float, as_int, as_list, as_text
from warmstart.sources.files import read_json, read_json_lines, read_lines, unreadable
from warmstart.sources.json_text import parse_json
from warmstart.sources.log import ReadLog
from warmstart.sources.naming import name_run, strip_suffixes
from warmstart.sources.reader import FileReader, Probe, Unit, file_fingerprint, file_unit
from warmstart.sources.readers import _openhands_events as openhands_events
from warmstart.sources.readers._openhands_events import EventReplay
from warmstart.wire import as_dict, as_dicts, as_id

STORES = frozenset({"conversations", "sessions"})
"""Folders whose sub-folders are conversations."""
BASE_STATE = "base_state.json"
MAX_SAMPLE_LINES = 12
_EVENT_FILE = re.compile(r"(?:event-(\d+)-[^/]*|(\d+))\.json(?:\.gz|\.zst)?\Z")


class _EventFile(NamedTuple):
    number: int
    name: str


class _Bill(NamedTuple):
    tokens: Tokens | None
    cost_usd: float | None


class OpenHands(FileReader):
    """Reads what OpenHands keeps of its conversations, and what its evaluations write."""

    name = "openhands"
    title = "OpenHands"

    def recognises(self, probe: Probe) -> bool:
        """Whether it is a conversation folder, a store of them, or a file of events."""
        if probe.is_folder:
            return _may_hold_events(probe) and bool(_list_conversations(probe.path))
        return any(_is_event(record) or _is_run(record) for record in probe.records)

    def units(self, path: Path, log: ReadLog) -> Iterator[Unit]:
        """Each conversation folder, or the file."""
        del log
        if path.is_dir():
            return map(_folder_unit, _list_conversations(path))
        return file_unit(path)

    def read(self, unit: Unit, log: ReadLog) -> Iterator[Session]:
        """One session per conversation, or per line of an evaluation output."""
        if unit.path.is_dir():
            yield _read_folder(unit.path, log)
            return
        sample = _find_sample(unit.path)
        if _is_run(sample):
            yield from _read_runs(unit, log)
        elif _is_event(sample):
            events = [line.data for line in read_json_lines(unit.path, log)]
            yield _build_events(events, unit.path, log)
        else:
            yield _read_document(unit.path, log)


def _read_runs(unit: Unit, log: ReadLog) -> Iterator[Session]:
    for line in read_json_lines(unit.path, log):
        if isinstance(line.data.get("history"), list):
            yield _build_run(line.data, unit.path, log)
        else:
            log.skip("line is not a run", unit.path, line.number)


def _read_document(path: Path, log: ReadLog) -> Session:
    document = read_json(path)
    if _is_run(document):
        return _build_run(document, path, log)
    events = list(_flatten(document)) if isinstance(document, list) else []
    if not any(map(_is_event, events)):
        raise SourceError(f"cannot read {str(path)!r}: no OpenHands events", path=path)
    return _build_events(events, path, log)


def _is_event(value: Any) -> bool:
    """Whether a JSON value is an event of either language."""
    if not isinstance(value, dict):
        return False
    if isinstance(value.get("kind"), str):
        return value["kind"] in openhands_events.HANDLERS and "source" in value
    if isinstance(value.get("action"), str):
        return isinstance(value.get("args"), dict)
    return isinstance(value.get("observation"), str) and isinstance(value.get("extras"), dict)


def _is_run(value: Any) -> bool:
    """Whether a JSON value is one run of an evaluation."""
    if not isinstance(value, dict) or not isinstance(value.get("history"), list):
        return False
    if "instance_id" not in value or "trajectory" in value:
        return False
    events = list(_flatten(value["history"][:5]))
    return any(map(_is_event, events)) if events else "test_result" in value


def _flatten(history: Iterable[Any]) -> Iterator[Any]:
    """Events of a history, which early evaluations wrote as [action, observation] pairs."""
    for item in history:
        if isinstance(item, list):
            yield from item
        else:
            yield item


def _find_sample(path: Path) -> Any:
    """The first line that is a run or an event by itself; None for a file that is one document."""
    for number, line, _ in read_lines(path, ReadLog()):
        value = parse_json(line)
        if _is_run(value) or _is_event(value):
            return value
        if number >= MAX_SAMPLE_LINES:
            break
    return None


def _list_names(folder: Path, *, folders: bool) -> list[str]:
    try:
        with os.scandir(folder) as entries:
            return sorted(entry.name for entry in entries if entry.is_dir() is folders)
    except OSError as error:
        raise unreadable(folder, error) from error


def _list_event_files(folder: Path) -> list[_EventFile]:
    found = ((name, _EVENT_FILE.match(name)) for name in _list_names(folder, folders=False))
    return sorted(
        _EventFile(int(match[1] or match[2]), name)
        for name, match in found
        if match and len(name) < 200
    )


def _may_hold_events(probe: Probe) -> bool:
    """By its name and the names in it, before anything else is listed."""
    if probe.path.name in STORES or probe.path.name == "events" or "events" in probe.names:
        return True
    return any(name.startswith("event-") for name in probe.names)


def _find_events_folder(path: Path) -> Path | None:
    """Where a conversation's events are: in ``events``, or in the folder itself."""
    inner = path / "events"
    folder = inner if inner.is_dir() else path
    files = _list_event_files(folder)
    if any(file.name.startswith("event-") for file in files):
        return folder
    # Bare numbers are too common a name to go by alone.
    if files and folder.name == "events" and _is_event(_load_json(folder / files[0].name)):
        return folder
    return None


def _list_conversations(path: Path) -> list[Path]:
    """The folder itself, or the conversations of a store."""
    if _find_events_folder(path):
        return [path]
    if path.name not in STORES:
        return []
    inner = (path / name for name in _list_names(path, folders=True))
    return [folder for folder in inner if _find_events_folder(folder)]


def _home_of(events: Path) -> Path:
    return events.parent if events.name == "events" else events


def _folder_unit(path: Path) -> Unit:
    """Events are written once and never changed, so their number and the newest one tell."""
    folder = _find_events_folder(path) or path
    files = _list_event_files(folder)
    marks = [str(len(files))]
    for file in (*(folder / f.name for f in files[-1:]), _home_of(folder) / BASE_STATE):
        if file.is_file():
            marks += [file.name, file_fingerprint(file)]
    return Unit(path=path, fingerprint=" ".join(marks))


def _read_folder(path: Path, log: ReadLog) -> Session:
    folder = _find_events_folder(path) or path
    home = _home_of(folder)
    transcript = _replay(_load_events(folder, log), path, log)
    if not transcript.entries:
        raise SourceError(f"cannot read {str(path)!r}: no readable event", path=path)
    state = as_dict(_load_json(home / BASE_STATE))
    transcript.rewind_to(as_id(state.get("leaf_event_id")))
    bill = _read_bill(list(as_dict(_dig(state, "stats", "usage_to_metrics")).values()))
    return build_session(
        OpenHands.name,
        as_id(state.get("id")) or home.name or "conversation",
        transcript.messages,
        model=as_text(_dig(state, "agent", "llm", "model")),
        project=as_text(_dig(state, "workspace", "working_dir")),
        title=as_text(state.get("title")),
        end_reason=as_text(state.get("execution_status")) or transcript.state,
        compactions=tuple(transcript.compactions),
        tokens=bill.tokens,
        cost_usd=bill.cost_usd,
        path=str(path),
    )


def _load_events(folder: Path, log: ReadLog) -> Iterator[Any]:
    for file in _list_event_files(folder):
        try:
            yield read_json(folder / file.name)
        except SourceError:
            log.skip("event file unreadable", folder / file.name)


def _load_json(path: Path) -> Any:
    """A document beside the events, None where it is missing or broken."""
    try:
        return read_json(path)
    except SourceError:
        return None


def _dig(data: Any, *keys: str) -> Any:
    for key in keys:
        data = as_dict(data).get(key)
    return data


def _replay(events: Iterable[Any], path: Path, log: ReadLog) -> EventReplay:
    """The conversation that events add up to; those of an unknown kind are counted."""
    transcript = EventReplay()
    unknown = sum(not _replay_event(transcript, event) for event in events)
    if unknown:
        log.skip("event of no known kind", path, count=unknown)
    return transcript


def _replay_event(transcript: EventReplay, event: Any) -> bool:
    if not isinstance(event, dict):
        return False
    if isinstance(event.get("kind"), str):
        return openhands_events.read_event(transcript, event)
    if as_text(event.get("action")):
        openhands_events.read_action(transcript, event, event["action"])
    elif as_text(event.get("observation")):
        openhands_events.read_observation(transcript, event, event["observation"])
    else:
        return False
    return True


def _build_events(events: list[Any], path: Path, log: ReadLog) -> Session:
    """A file of events: it names no conversation, and is often called the same everywhere."""
    transcript = _replay(events, path, log)
    return build_session(
        OpenHands.name,
        _mark(strip_suffixes(path), events),
        transcript.messages,
        end_reason=transcript.state,
        compactions=tuple(transcript.compactions),
        path=str(path),
    )


def _build_run(row: dict[str, Any], path: Path, log: ReadLog) -> Session:
    history = list(_flatten(as_list(row.get("history"))))
    transcript = _replay(history, path, log)
    metadata = as_dict(row.get("metadata"))
    bill = _read_bill([row.get("metrics")])
    task = as_id(row.get("instance_id")) or "run"
    failed = "error" if row.get("error") else None
    return build_session(
        OpenHands.name,
        _mark(task, history),
        transcript.messages,
        model=as_text(_dig(metadata, "llm_config", "model"))
        or as_text(_dig(metadata, "llm", "model")),
        end_reason=failed or transcript.state,
        compactions=tuple(transcript.compactions),
        tokens=bill.tokens,
        cost_usd=bill.cost_usd,
        task=task,
        reward=_find_reward(row),
        path=str(path),
    )


def _mark(name: str, events: list[Any]) -> str:
    """The name and a mark of the first events: a task is run many times under one name."""
    return name_run(name, events[:4]) if events else name


def _find_reward(row: dict[str, Any]) -> float | None:
    """Whether the evaluation resolved the task, wherever this version of it says so."""
    result = as_dict(row.get("test_result"))
    holders = (row.get("report"), result.get("report"), result, result.get("result"))
    verdicts = (holder.get("resolved") for holder in as_dicts(list(holders)))
    return next((float(v) for v in verdicts if isinstance(v, bool)), None)


def _read_bill(metrics: list[Any]) -> _Bill:
    """Tokens and cost over all models of a run, None where no model reported any."""
    tokens, costs = Tokens(), []
    for one in as_dicts(metrics):
        tokens += _read_usage(one.get("accumulated_token_usage"))
        costs.append(as_float(one.get("accumulated_cost")))
    known = [cost for cost in costs if cost is not None]
    return _Bill(tokens if tokens.total else None, sum(known) if known else None)


def _read_usage(value: Any) -> Tokens:
    """Totals of a run; prompt tokens include what came from or went into the cache."""
    usage = as_dict(value)
    sent, output, read, written, thought = (
        max(as_int(usage.get(key)) or 0, 0)
        for key in (
            "prompt_tokens",
            "completion_tokens",
            "cache_read_tokens",
            "cache_write_tokens",
            "reasoning_tokens",
        )
    )
    return Tokens(
        input=sent - read - written if sent >= read + written else sent,
        output=output,
        cache_read=read,
        cache_write=written,
        reasoning=thought,
    )
