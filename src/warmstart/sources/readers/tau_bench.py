"""tau-bench results: one JSON array of runs, each an OpenAI chat with a simulated user.

The format has no failure field: its tools answer ``Error: ...`` as text, which is the judge's to
read. A run carries its task and reward, so identity is file, task and trial.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from warmstart.model import Message, Role, Session
from warmstart.sources.fields import as_float, as_list
from warmstart.sources.files import read_json
from warmstart.sources.joining import build_chat
from warmstart.sources.log import ReadLog
from warmstart.sources.naming import name_file
from warmstart.sources.openai_blocks import find_role, read_requests, read_tool_message
from warmstart.sources.reader import FileReader, Probe, Unit, file_unit
from warmstart.sources.records import file_stem
from warmstart.wire import as_dict, as_id, content_text

ENVIRONMENTS = ("airline", "retail")


class TauBench(FileReader):
    """Results files of sierra-research/tau-bench."""

    name = "tau_bench"
    title = "tau-bench"

    def recognises(self, probe: Probe) -> bool:
        """Whether the document holds runs: a trajectory with the id of its task."""
        one_document = not probe.is_lines or len(probe.records) == 1
        return one_document and any(_is_run(record) for record in probe.records)

    def units(self, path: Path, log: ReadLog) -> Iterator[Unit]:
        """The file, read as a whole."""
        del log
        return file_unit(path)

    def read(self, unit: Unit, log: ReadLog) -> Iterator[Session]:
        """One session per run."""
        document = read_json(unit.path)
        stem = file_stem(unit.path.name)
        name = name_file(unit.path)
        seen: Counter[str] = Counter()
        for number, run in enumerate(document if isinstance(document, list) else [document], 1):
            if not isinstance(run, dict) or not _is_run(run):
                log.skip("entry is not a run", unit.path, number)
                continue
            native_id = _native_id(run, name, number)
            seen[native_id] += 1
            if seen[native_id] > 1:
                native_id = f"{native_id}#{seen[native_id]}"
            yield build_chat(
                self.name,
                native_id,
                _read_messages(run, unit.path, log),
                log,
                task=as_id(run.get("task_id")),
                reward=_reward(run),
                project=_environment(stem),
                path=str(unit.path),
            )


def _is_run(record: dict[str, Any]) -> bool:
    return isinstance(record.get("traj"), list) and "task_id" in record


def _native_id(run: dict[str, Any], name: str, number: int) -> str:
    task = as_id(run.get("task_id"))
    if task is None:
        return f"{name}:{number}"
    return f"{name}/{task}/{as_id(run.get('trial')) or 0}"


def _reward(run: dict[str, Any]) -> float | None:
    reward = as_float(run.get("reward"))
    if reward is not None:
        return reward
    return as_float(as_dict(as_dict(run.get("info")).get("reward_info")).get("reward"))


def _environment(stem: str) -> str | None:
    """The environment, where the file name leaves no doubt; nothing inside the file says it."""
    named = [name for name in ENVIRONMENTS if name in stem.lower()]
    return named[0] if len(named) == 1 else None


def _read_messages(run: dict[str, Any], path: Path, log: ReadLog) -> Iterator[Message]:
    for item in as_list(run.get("traj")):
        entry = as_dict(item)
        role = find_role(entry)
        if role is None:
            log.skip("message without a known role", path)
        elif role is Role.TOOL:
            yield Message(role=role, results=(read_tool_message(entry),))
        else:
            yield Message(
                role=role,
                text=content_text(entry.get("content")),
                reasoning=content_text(entry.get("reasoning_content")),
                requests=read_requests(entry.get("tool_calls")),
            )
