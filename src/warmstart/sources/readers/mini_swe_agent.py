"""mini-swe-agent trajectories: one ``*.traj.json`` document is one session.

Two generations share the document. Until 1.x the agent answers with one fenced shell block and
the next user message is its output, so the place in the list joins them; since 2.0 calls have ids
and each result keeps ``extra.returncode``. The run's own end (role ``exit``, or the last message
of a 1.x run) answers the submitting command, which gets no ordinary result.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from warmstart.errors import SourceError
from warmstart.model import Kind, Message, Request, Result, Role, Session, Status
from warmstart.sources.assemble import build_session
from warmstart.sources.fields import as_float, as_int, as_list, as_text, parse_time
from warmstart.sources.files import read_json
from warmstart.sources.log import ReadLog
from warmstart.sources.naming import name_run, strip_suffixes
from warmstart.sources.openai_blocks import read_requests, read_usage
from warmstart.sources.reader import FileReader, Probe, Unit, file_unit
from warmstart.wire import as_dict, as_dicts, as_id, content_text, make_request

SUBMITTED = "Submitted"
NOT_EXECUTED = "action was not executed"
TAGS = ("bash_code", "mswea_bash_command")
_OPENING = re.compile(r"```(?:mswea_bash_command|bash)[ \t\r]*\n")
_INTERRUPTS = {"UserRejection": Status.REJECTED, "UserInterruption": Status.CANCELLED}


class MiniSweAgent(FileReader):
    """Reads the trajectory documents of mini-swe-agent, 1.x and 2.x."""

    name = "mini_swe_agent"
    title = "mini-swe-agent"

    def recognises(self, probe: Probe) -> bool:
        """Whether it is one document with the run's info beside its messages."""
        if probe.is_array or len(probe.records) != 1:
            return False
        document = probe.records[0]
        if not isinstance(document.get("messages"), list):
            return False
        if str(document.get("trajectory_format", "")).startswith("mini-swe-agent"):
            return True
        info = as_dict(document.get("info"))
        return "exit_status" in info and ("model_stats" in info or "mini_version" in info)

    def units(self, path: Path, log: ReadLog) -> Iterator[Unit]:
        """The file itself: it is rewritten as a whole after every step."""
        del log
        return file_unit(path)

    def read(self, unit: Unit, log: ReadLog) -> Iterator[Session]:
        """The one session of the document."""
        document = read_json(unit.path)
        if isinstance(document, list):
            # The first releases wrote the bare message list.
            document = {"messages": document}
        if not isinstance(document, dict) or not isinstance(document.get("messages"), list):
            raise SourceError(f"cannot read {str(unit.path)!r}: no trajectory", path=unit.path)
        yield _build(document, unit.path, log)


@dataclass(slots=True)
class _RunMessages:
    """What has to be remembered from one message to the next."""

    rows: Sequence[dict[str, Any]]
    submitted: bool
    messages: list[Message] = field(default_factory=list)
    open: list[str] = field(default_factory=list)
    """Calls of the latest assistant message that have no result yet."""
    by_place: bool = False
    """The latest assistant message has no call ids: the next user message is its result."""


def _build(document: dict[str, Any], path: Path, log: ReadLog) -> Session:
    info = as_dict(document.get("info"))
    config = as_dict(info.get("config"))
    stats = as_dict(info.get("model_stats"))
    rows = as_dicts(document["messages"])
    if len(rows) < len(document["messages"]):
        log.skip("message is not an object", path, count=len(document["messages"]) - len(rows))
    task = as_id(document.get("instance_id")) or strip_suffixes(path)
    talk = _RunMessages(rows=rows, submitted=info.get("exit_status") == SUBMITTED)
    for index, row in enumerate(rows):
        talk.messages.append(_read_row(talk, index, row))
    return build_session(
        MiniSweAgent.name,
        _run_id(task, rows),
        talk.messages,
        agent_version=as_text(info.get("mini_version")),
        model=as_text(as_dict(config.get("model")).get("model_name")),
        project=as_text(as_dict(config.get("environment")).get("cwd")),
        end_reason=as_text(info.get("exit_status")),
        cost_usd=as_float(stats.get("instance_cost")),
        task=task,
        path=str(path),
    )


def _run_id(task: str, rows: Sequence[dict[str, Any]]) -> str:
    """The task and a mark of the first answer: a task is run many times, under one file name."""
    first = next((row for row in rows if _is_assistant(row)), None)
    return task if first is None else name_run(task, first)


def _is_assistant(row: dict[str, Any]) -> bool:
    return row.get("role") == "assistant" or row.get("object") == "response"


def _read_row(talk: _RunMessages, index: int, row: dict[str, Any]) -> Message:
    if _is_assistant(row):
        return _read_answer(talk, index, row)
    if row.get("role") == "exit":
        return _read_exit(talk, row)
    call_id = as_id(row.get("tool_call_id")) or as_id(row.get("call_id"))
    if call_id is not None or row.get("role") == "tool":
        return _read_tool(talk, index, row, call_id)
    if row.get("role") == "user":
        return _read_user(talk, index, row)
    return Message(role=Role.SYSTEM, text=_text(row), timestamp=_time(row))


def _read_answer(talk: _RunMessages, index: int, row: dict[str, Any]) -> Message:
    extra = as_dict(row.get("extra"))
    text = _text(row)
    requests = _list_requests(row, extra) or _parse_blocks(text)
    talk.by_place = all(request.id is None for request in requests)
    if talk.by_place:
        requests = tuple(
            Request(tool=r.tool, id=f"{index}.{n}", arguments=r.arguments, raw=r.raw)
            for n, r in enumerate(requests)
        )
    talk.open = [request.id for request in requests if request.id is not None]
    response = as_dict(extra.get("response"))
    return Message(
        role=Role.ASSISTANT,
        text=text,
        requests=requests,
        reasoning=_reasoning(row),
        native_id=as_id(response.get("id")) or as_id(row.get("id")),
        timestamp=_time(row),
        model=as_text(response.get("model")) or as_text(row.get("model")),
        tokens=read_usage(response.get("usage") or row.get("usage")),
    )


def _list_requests(row: dict[str, Any], extra: dict[str, Any]) -> tuple[Request, ...]:
    """Calls as the provider's message has them, else as the agent took them down itself."""
    calls = read_requests(row.get("tool_calls"), unnamed="bash")
    calls += tuple(
        make_request(
            item.get("name"), item.get("call_id") or item.get("id"), item.get("arguments"), "bash"
        )
        for item in as_dicts(row.get("output"))
        if item.get("type") == "function_call"
    )
    return calls or tuple(
        Request(
            tool="bash",
            id=as_id(action.get("tool_call_id")),
            arguments={"command": content_text(action.get("command"))},
        )
        for action in as_dicts(extra.get("actions"))
    )


def _parse_blocks(text: str) -> tuple[Request, ...]:
    """The command of a 1.x answer; several blocks are one request the agent refuses to run."""
    blocks = _find_fenced(text) or _find_tagged(text)
    if not blocks:
        return ()
    if len(blocks) > 1:
        return (Request(tool="bash", raw="\n".join(blocks)),)
    return (Request(tool="bash", arguments={"command": blocks[0].strip()}),)


def _find_fenced(text: str) -> list[str]:
    blocks: list[str] = []
    end = 0
    for opening in _OPENING.finditer(text):
        if opening.start() < end:
            continue
        end = text.find("\n```", opening.end() - 1)
        if end < 0:
            break
        blocks.append(text[opening.end() : end])
    return blocks


def _find_tagged(text: str) -> list[str]:
    return [
        part.partition(f"</{tag}>")[0]
        for tag in TAGS
        for part in text.split(f"<{tag}>")[1:]
        if f"</{tag}>" in part
    ]


def _read_tool(talk: _RunMessages, index: int, row: dict[str, Any], call_id: str | None) -> Message:
    extra = as_dict(row.get("extra"))
    if call_id in talk.open:
        talk.open.remove(call_id)
    result = Result(
        text=_text(row), call_id=call_id, tool="bash", exit_code=as_int(extra.get("returncode"))
    )
    if extra.get("exception_info") == NOT_EXECUTED:
        result = _read_unexecuted(talk, index, result)
    return Message(role=Role.TOOL, results=(result,), timestamp=_time(row))


def _read_unexecuted(talk: _RunMessages, index: int, result: Result) -> Result:
    """A call that was never run: the user said no, or the run ended with the call before it.

    The first of its batch before a submission is the submitting command itself.
    """
    rest = talk.rows[index:]
    after = next((row for row in rest if row.get("role") not in ("tool", None)), {})
    extra = as_dict(after.get("extra"))
    before = as_dict(talk.rows[index - 1].get("extra")) if index else {}
    ends = after.get("role") == "exit" and extra.get("exit_status") == SUBMITTED
    if ends and before.get("exception_info") != NOT_EXECUTED:
        return Result(text=result.text, call_id=result.call_id, tool="bash", is_error=False)
    rejected = extra.get("interrupt_type") == "UserRejection"
    status = Status.REJECTED if rejected else Status.CANCELLED
    return Result(text=result.text, call_id=result.call_id, tool="bash", status=status)


def _read_exit(talk: _RunMessages, row: dict[str, Any]) -> Message:
    status = as_dict(row.get("extra")).get("exit_status")
    if status != SUBMITTED or not talk.open:
        return Message(role=Role.USER, text=_text(row), kind=Kind.INJECTED, timestamp=_time(row))
    result = Result(text=_text(row), call_id=talk.open.pop(), tool="bash", is_error=False)
    return Message(role=Role.TOOL, results=(result,), timestamp=_time(row))


def _read_user(talk: _RunMessages, index: int, row: dict[str, Any]) -> Message:
    extra = as_dict(row.get("extra"))
    interrupt = as_text(extra.get("interrupt_type"))
    if talk.by_place and talk.open and interrupt != "UserNewTask":
        last = index == len(talk.rows) - 1
        result = Result(
            text=_text(row),
            call_id=talk.open.pop(0),
            tool="bash",
            is_error=_find_error(interrupt, submitted=talk.submitted and last),
            exit_code=as_int(extra.get("returncode")),
            status=_INTERRUPTS.get(interrupt or ""),
        )
        return Message(role=Role.TOOL, results=(result,), timestamp=_time(row))
    from_harness = interrupt == "FormatError" or (interrupt is None and talk.by_place)
    return Message(
        role=Role.USER,
        text=_text(row),
        kind=Kind.INJECTED if from_harness else Kind.TURN,
        timestamp=_time(row),
        tokens=read_usage(as_dict(extra.get("response")).get("usage")),
    )


def _find_error(interrupt: str | None, *, submitted: bool) -> bool | None:
    """A refused answer is an error, the last message of a submitted run is its acceptance."""
    if interrupt == "FormatError":
        return True
    return False if submitted else None


def _text(row: dict[str, Any]) -> str:
    if isinstance(row.get("output"), list):
        items = as_dicts(row["output"])
        parts = (content_text(i.get("content")) for i in items if i.get("type") == "message")
        return "\n".join(part for part in parts if part)
    return content_text(row.get("content", row.get("output")))


def _reasoning(row: dict[str, Any]) -> str:
    spoken = content_text(row.get("reasoning_content"))
    if spoken or "output" not in row:
        return spoken
    items = (i for i in as_dicts(row["output"]) if i.get("type") == "reasoning")
    parts = [content_text(as_list(item.get("summary"))) for item in items]
    return "\n".join(part for part in parts if part)


def _time(row: dict[str, Any]) -> float | None:
    return parse_time(as_dict(row.get("extra")).get("timestamp", row.get("timestamp")))
