"""tau2-bench results: one JSON document of simulations, or a folder with one file for each.

Both sides of the conversation may call tools here. Only the agent's calls are calls: what the
simulated user does with its own device is kept as text the harness wrote. Usage and cost of the
simulated user are not the agent's either.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from warmstart.errors import SourceError
from warmstart.model import Kind, Message, Result, Role, Session
from warmstart.sources.assemble import build_session
from warmstart.sources.fields import as_bool, as_float, as_list, as_text, parse_time
from warmstart.sources.files import read_json
from warmstart.sources.log import ReadLog
from warmstart.sources.naming import name_file
from warmstart.sources.openai_blocks import find_role, read_usage
from warmstart.sources.reader import FileReader, Probe, Unit, file_unit
from warmstart.wire import as_dict, as_dicts, as_id, content_text, encode_text, make_request


class Tau2Bench(FileReader):
    """Results of sierra-research/tau2-bench."""

    name = "tau2_bench"
    title = "tau2-bench"

    def recognises(self, probe: Probe) -> bool:
        """Whether the document is a set of simulations, or a single one."""
        if len(probe.records) != 1:
            return False
        return _is_results(probe.records[0]) or _is_simulation(probe.records[0])

    def units(self, path: Path, log: ReadLog) -> Iterator[Unit]:
        """The file, read as a whole."""
        del log
        return file_unit(path)

    def read(self, unit: Unit, log: ReadLog) -> Iterator[Session]:
        """One session per simulation."""
        document = as_dict(read_json(unit.path))
        if _is_simulation(document):
            yield self._read_simulation(document, _info_beside(unit.path), unit.path, log)
            return
        for number, simulation in enumerate(as_list(document.get("simulations")), 1):
            if isinstance(simulation, dict):
                info = as_dict(document.get("info"))
                yield self._read_simulation(simulation, info, unit.path, log, number)
            else:
                log.skip("simulation is not an object", unit.path, number)

    def _read_simulation(
        self,
        simulation: dict[str, Any],
        info: dict[str, Any],
        path: Path,
        log: ReadLog,
        number: int = 1,
    ) -> Session:
        model = as_text(as_dict(info.get("agent_info")).get("llm"))
        task = as_id(simulation.get("task_id"))
        trial = as_id(simulation.get("trial")) or 0
        return build_session(
            self.name,
            as_id(simulation.get("id")) or f"{name_file(path)}/{task or number}/{trial}",
            list(_read_messages(simulation, model, path, log)),
            model=model,
            agent_version=as_text(info.get("git_commit")),
            project=as_text(as_dict(info.get("environment_info")).get("domain_name")),
            started_at=parse_time(simulation.get("start_time")),
            ended_at=parse_time(simulation.get("end_time")),
            end_reason=as_text(simulation.get("termination_reason")),
            cost_usd=as_float(simulation.get("agent_cost")),
            task=task,
            reward=as_float(as_dict(simulation.get("reward_info")).get("reward")),
            path=str(path),
        )


def _is_results(record: dict[str, Any]) -> bool:
    info = as_dict(record.get("info"))
    described = "tasks" in record or "agent_info" in info or "environment_info" in info
    return described and (isinstance(record.get("simulations"), list) or "agent_info" in info)


def _is_simulation(record: dict[str, Any]) -> bool:
    return {"task_id", "messages", "termination_reason"} <= record.keys()


def _info_beside(path: Path) -> dict[str, Any]:
    """What the run says of itself, where each simulation has a file of its own."""
    try:
        return as_dict(as_dict(read_json(path.parent.parent / "results.json")).get("info"))
    except SourceError:
        return {}


def _read_messages(
    simulation: dict[str, Any], model: str | None, path: Path, log: ReadLog
) -> Iterator[Message]:
    for item in as_list(simulation.get("messages")):
        entry = as_dict(item)
        role = find_role(entry)
        if role is None:
            log.skip("message without a known role", path)
        elif role is Role.TOOL:
            yield from _read_tool_message(entry)
        elif role is Role.ASSISTANT:
            yield _read_assistant(entry, model)
        else:
            yield _read_other(entry, role)


def _read_assistant(entry: dict[str, Any], model: str | None) -> Message:
    return Message(
        role=Role.ASSISTANT,
        text=content_text(entry.get("content")),
        reasoning=content_text(entry.get("reasoning")),
        requests=tuple(
            make_request(call.get("name"), call.get("id"), call.get("arguments"))
            for call in as_dicts(entry.get("tool_calls"))
            if call.get("requestor") != "user"
        ),
        timestamp=parse_time(entry.get("timestamp")),
        model=model,
        tokens=read_usage(entry.get("usage")),
    )


def _read_other(entry: dict[str, Any], role: Role) -> Message:
    """A system or user message; one that only calls the user's own tools is shown as such."""
    text = content_text(entry.get("content"))
    actions = as_dicts(entry.get("tool_calls"))
    silent = bool(actions) and not text
    return Message(
        role=role,
        text="\n".join(_action_text(action) for action in actions) if silent else text,
        timestamp=parse_time(entry.get("timestamp")),
        kind=Kind.INJECTED if silent else Kind.TURN,
    )


def _action_text(action: dict[str, Any]) -> str:
    return f"{as_text(action.get('name')) or 'unknown'}({encode_text(action.get('arguments'))})"


def _read_tool_message(entry: dict[str, Any]) -> Iterator[Message]:
    """One message; results that came as a bundle stay one message of several results."""
    parts = as_dicts(entry.get("tool_messages")) or [entry]
    timestamp = parse_time(entry.get("timestamp")) or parse_time(parts[0].get("timestamp"))
    results = tuple(_read_result(part) for part in parts if part.get("requestor") != "user")
    if results:
        yield Message(role=Role.TOOL, results=results, timestamp=timestamp)
    for part in parts:
        if part.get("requestor") == "user":
            yield Message(
                role=Role.USER,
                text=content_text(part.get("content")),
                timestamp=parse_time(part.get("timestamp")),
                kind=Kind.INJECTED,
            )


def _read_result(part: dict[str, Any]) -> Result:
    return Result(
        text=content_text(part.get("content")),
        call_id=as_id(part.get("id")),
        is_error=as_bool(part.get("error")),
    )
