"""AgentDojo runs: one JSON document per run, or one run per line.

A tool message says explicitly whether it failed: ``error`` is the exception text or null. The
framework shows the model that text instead of the (then empty) content. Many models behind it give
no call ids, so calls and results may have to be joined in order.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from warmstart.model import Kind, Message, Result, Role, Session
from warmstart.sources.fields import as_bool, as_list, as_text, parse_time
from warmstart.sources.joining import build_chat
from warmstart.sources.log import ReadLog
from warmstart.sources.openai_blocks import find_role
from warmstart.sources.reader import FileReader, Probe, Unit, file_unit
from warmstart.sources.records import read_records
from warmstart.wire import as_dict, as_dicts, as_id, content_text, encode_text, make_request


class AgentDojo(FileReader):
    """Runs of ethz-spylab/agentdojo."""

    name = "agentdojo"
    title = "AgentDojo"

    def recognises(self, probe: Probe) -> bool:
        """Whether a record is a run: messages, and which task of which suite they are about."""
        return any(_is_run(record) for record in probe.records)

    def units(self, path: Path, log: ReadLog) -> Iterator[Unit]:
        """The file."""
        del log
        return file_unit(path)

    def read(self, unit: Unit, log: ReadLog) -> Iterator[Session]:
        """One session per run."""
        for number, run in read_records(unit.path, log):
            if _is_run(run):
                yield self._read_run(run, unit.path, log, number)
            else:
                log.skip("record is not a run", unit.path, number)

    def _read_run(self, run: dict[str, Any], path: Path, log: ReadLog, number: int) -> Session:
        names = [
            as_text(run.get(key)) or "none"
            for key in ("suite_name", "user_task_id", "injection_task_id")
        ]
        suite, user_task, injection_task = names
        pipeline = as_text(run.get("pipeline_name"))
        attack = as_text(run.get("attack_type")) or "none"
        utility = as_bool(run.get("utility"))
        return build_chat(
            self.name,
            "/".join((suite, pipeline or "none", user_task, attack, injection_task)),
            _read_messages(run, path, log, number),
            log,
            agent_version=as_text(run.get("agentdojo_package_version")),
            model=pipeline,
            project=as_text(run.get("suite_name")),
            started_at=parse_time(run.get("evaluation_timestamp")),
            end_reason="error" if as_text(run.get("error")) else None,
            task="/".join(names),
            reward=None if utility is None else float(utility),
            path=str(path),
        )


def _is_run(record: Any) -> bool:
    run = as_dict(record)
    return isinstance(run.get("messages"), list) and {"suite_name", "user_task_id"} <= run.keys()


def _read_messages(run: dict[str, Any], path: Path, log: ReadLog, number: int) -> Iterator[Message]:
    asked = False
    for item in as_list(run.get("messages")):
        entry = as_dict(item)
        role = find_role(entry)
        if role is None:
            log.skip("message without a known role", path, number)
            continue
        # A run has one prompt; any further user message is a defence repeating it.
        repeated = asked and role is Role.USER
        asked = asked or role is Role.USER
        yield _read_message(entry, role, Kind.INJECTED if repeated else Kind.TURN)


def _read_message(entry: dict[str, Any], role: Role, kind: Kind) -> Message:
    if role is Role.TOOL:
        return Message(role=role, results=(_read_result(entry),))
    return Message(
        role=role,
        text=content_text(entry.get("content")),
        requests=tuple(
            make_request(call.get("function"), call.get("id"), call.get("args"))
            for call in as_dicts(entry.get("tool_calls"))
        ),
        kind=kind,
    )


def _read_result(entry: dict[str, Any]) -> Result:
    call = as_dict(entry.get("tool_call"))
    error = entry.get("error")
    failure = error if isinstance(error, str) else "" if error is None else encode_text(error)
    return Result(
        text=failure or content_text(entry.get("content")),
        call_id=as_id(entry.get("tool_call_id")) or as_id(call.get("id")),
        tool=as_text(call.get("function")),
        is_error=error is not None if "error" in entry else None,
    )
