"""Inspect evaluation logs: the ``.eval`` archive and the older single ``.json`` document.

Each sample of each epoch is one session, scored by the eval itself. A tool message's ``error``
says whether the call failed; logs are written without null fields, so its absence means success.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any

from warmstart.errors import SourceError
from warmstart.model import (
    Compaction,
    Kind,
    Message,
    Request,
    Result,
    Role,
    Session,
    Status,
    Tokens,
)
from warmstart.sources.assemble import build_session
from warmstart.sources.fields import as_float, as_int, as_list, as_text, parse_time
from warmstart.sources.files import read_head, read_json
from warmstart.sources.log import ReadLog
from warmstart.sources.naming import name_file
from warmstart.sources.reader import FileReader, Probe, Unit, file_unit
from warmstart.sources.readers import _inspect_ai_archive as archives
from warmstart.wire import as_dict, as_dicts, as_id, content_text, encode_text, parse_arguments

ATTACHMENTS = ("attachment://", "tc://")
GRADES = {
    "C": 1.0, "I": 0.0, "P": 0.5, "N": 0.0, "yes": 1.0, "true": 1.0, "no": 0.0, "false": 0.0,
}  # fmt: skip
"""What Inspect's own metrics count each letter grade as."""


class InspectAI(FileReader):
    """Reads Inspect's logs, sample by sample."""

    name = "inspect_ai"
    title = "Inspect log"

    def recognises(self, probe: Probe) -> bool:
        """Whether it is an archive with samples and a header, or a log document."""
        if probe.members:
            described = any(name in probe.members for name in archives.HEADERS)
            return described and any(map(archives.is_sample, probe.members))
        if probe.is_array or len(probe.records) != 1:
            return False
        document = probe.records[0]
        spec = as_dict(document.get("eval"))
        return "task" in spec and "model" in spec and ("samples" in document or "plan" in document)

    def units(self, path: Path, log: ReadLog) -> Iterator[Unit]:
        """Each sample of an archive; a document as a whole."""
        del log
        if not _is_archive(path):
            yield from file_unit(path)
            return
        spec = _shorten(as_dict(archives.read_header(path).get("eval")))
        for name, fingerprint in archives.list_samples(path):
            yield Unit(path=path, key=name, fingerprint=fingerprint, extra=spec)

    def read(self, unit: Unit, log: ReadLog) -> Iterator[Session]:
        """The sample, or every sample of a document."""
        if unit.key:
            header = unit.extra or as_dict(archives.read_header(unit.path).get("eval"))
            samples: Sequence[Any] = [archives.read_sample(unit.path, unit.key)]
        else:
            document = read_json(unit.path)
            if not isinstance(document, dict) or not isinstance(document.get("eval"), dict):
                raise SourceError(f"cannot read {str(unit.path)!r}: no eval log", path=unit.path)
            header, samples = document["eval"], as_list(document.get("samples"))
        for number, sample in enumerate(samples, 1):
            if isinstance(sample, dict):
                yield _build(header, sample, unit.path, number)
            else:
                log.skip("sample is not an object", unit.path)


def _is_archive(path: Path) -> bool:
    return read_head(path, 2) == b"PK"


def _shorten(spec: dict[str, Any]) -> dict[str, Any]:
    """The parts of the eval's description that its sessions need."""
    keys = ("task", "model", "solver", "eval_id", "run_id", "created", "packages")
    return {key: spec[key] for key in keys if key in spec}


@dataclass(frozen=True, slots=True)
class _Sample:
    """A sample and what is looked up in it again and again."""

    data: dict[str, Any]
    attachments: dict[str, Any]
    times: dict[str, float | None]
    """Message id or call id -> when it was complete."""

    def text(self, content: Any) -> str:
        """Text of a content field without reasoning, long texts fetched from the attachments."""
        blocks = content if isinstance(content, list) else [content]
        shown = (b for b in blocks if as_dict(b).get("type") not in ("reasoning", "tool_use"))
        return "\n".join(filter(None, (self.resolve(content_text(block)) for block in shown)))

    def resolve(self, text: str) -> str:
        """The text itself, or the one it refers to."""
        for prefix in ATTACHMENTS:
            if text.startswith(prefix):
                return as_text(self.attachments.get(text.removeprefix(prefix))) or text
        return text


def _build(spec: dict[str, Any], data: dict[str, Any], path: Path, number: int) -> Session:
    events = as_dicts(data.get("events"))
    sample = _Sample(data, as_dict(data.get("attachments")), dict(_list_times(events)))
    rows = as_dicts(data.get("messages"))
    messages = list(_read_messages(sample, rows))
    usage = _list_usage(data)
    place = f"{as_id(data.get('id')) or number}/{as_int(data.get('epoch')) or 1}"
    run = as_text(spec.get("eval_id")) or as_text(spec.get("run_id")) or name_file(path)
    return build_session(
        InspectAI.name,
        as_text(data.get("uuid")) or f"{run}/{place}",
        messages,
        agent=as_text(spec.get("solver")) or InspectAI.name,
        agent_version=as_text(as_dict(spec.get("packages")).get("inspect_ai")),
        model=as_text(spec.get("model")),
        project=as_text(spec.get("task")),
        started_at=parse_time(data.get("started_at")) or parse_time(spec.get("created")),
        ended_at=parse_time(data.get("completed_at")),
        end_reason=_find_end(data),
        compactions=tuple(_list_compactions(events, rows)),
        tokens=sum(map(_read_usage, usage), Tokens()),
        cost_usd=sum(filter(None, (as_float(one.get("total_cost")) for one in usage))) or None,
        task=f"{as_text(spec.get('task')) or 'task'}/{place}",
        reward=_find_reward(data),
        path=str(path),
    )


def _list_usage(data: dict[str, Any]) -> list[dict[str, Any]]:
    """What each model used; early logs have the last answer's usage only."""
    by_model = list(as_dicts(list(as_dict(data.get("model_usage")).values())))
    return by_model or [as_dict(as_dict(data.get("output")).get("usage"))]


def _read_messages(sample: _Sample, rows: list[dict[str, Any]]) -> Iterator[Message]:
    if not rows and isinstance(sample.data.get("input"), str):
        yield Message(role=Role.USER, text=sample.data["input"])
    marked = any(row.get("source") == "input" for row in rows)
    answered = False
    for row in rows:
        role = row.get("role")
        if role == "assistant":
            answered = True
            yield _read_answer(sample, row)
        elif role == "tool":
            yield _read_result(sample, row)
        else:
            # Where the log marks the sample's own input, the rest is the solver speaking.
            prompted = answered and marked and row.get("source") != "input"
            yield Message(
                role=Role.SYSTEM if role == "system" else Role.USER,
                text=sample.text(row.get("content")),
                native_id=as_id(row.get("id")),
                kind=Kind.INJECTED if prompted else Kind.TURN,
            )


def _read_answer(sample: _Sample, row: dict[str, Any]) -> Message:
    """An answer with its calls; tools the provider ran itself stand in it with their results."""
    blocks = as_dicts(row.get("content"))
    thoughts = [as_text(b.get("reasoning")) or as_text(b.get("summary")) for b in blocks]
    served = [block for block in blocks if block.get("type") == "tool_use"]
    asked = (_request(sample, call, "function") for call in as_dicts(row.get("tool_calls")))
    native_id = as_id(row.get("id"))
    return Message(
        role=Role.ASSISTANT,
        text=sample.text(row.get("content")),
        requests=tuple(chain((_request(sample, b, "name") for b in served), asked)),
        results=tuple(_read_served(sample, block) for block in served),
        reasoning="\n".join(sample.resolve(t) for t in thoughts if t)
        or content_text(row.get("reasoning")),
        native_id=native_id,
        timestamp=sample.times.get(native_id or ""),
        model=as_text(row.get("model")),
    )


def _request(sample: _Sample, call: dict[str, Any], name_key: str) -> Request:
    arguments, raw = parse_arguments(call.get("arguments"))
    resolved = {k: sample.resolve(v) if isinstance(v, str) else v for k, v in arguments.items()}
    return Request(
        tool=as_text(call.get(name_key)) or "unknown",
        id=as_id(call.get("id")),
        arguments=resolved,
        raw=raw,
    )


def _read_served(sample: _Sample, block: dict[str, Any]) -> Result:
    result, error = block.get("result"), as_text(block.get("error"))
    text = content_text(result) or ("" if result is None else encode_text(result))
    return Result(
        text=sample.resolve(text) or error or "",
        call_id=as_id(block.get("id")),
        tool=as_text(block.get("name")) or "unknown",
        is_error=error is not None,
    )


def _read_result(sample: _Sample, row: dict[str, Any]) -> Message:
    error = row.get("error") or row.get("tool_error")
    call_id = as_id(row.get("tool_call_id"))
    reason = as_dict(error).get("message", error)
    result = Result(
        text=sample.text(row.get("content")) or sample.resolve(content_text(reason)),
        call_id=call_id,
        tool=as_text(row.get("function")),
        is_error=bool(error),
        status=Status.REJECTED if as_dict(error).get("type") == "approval" else None,
    )
    return Message(
        role=Role.TOOL,
        results=(result,),
        native_id=as_id(row.get("id")),
        timestamp=sample.times.get(call_id or ""),
    )


def _answer_id(event: dict[str, Any]) -> str | None:
    """Id of the message a model event produced."""
    if event.get("event") != "model":
        return None
    choices = as_dicts(as_dict(event.get("output")).get("choices"))
    return as_id(as_dict(next(iter(choices), {}).get("message")).get("id"))


def _list_times(events: list[dict[str, Any]]) -> Iterator[tuple[str, float | None]]:
    for event in events:
        is_tool = event.get("event") == "tool"
        about = as_id(event.get("id")) if is_tool else _answer_id(event)
        if about is not None:
            yield about, parse_time(event.get("completed")) or parse_time(event.get("timestamp"))


def _list_compactions(
    events: list[dict[str, Any]], rows: list[dict[str, Any]]
) -> Iterator[Compaction]:
    """Each compaction stands before the next answer the model gave after it."""
    places = {as_id(row.get("id")): index for index, row in enumerate(rows)}
    waiting: list[dict[str, Any]] = []
    for event in events:
        if event.get("event") == "compaction":
            waiting.append(event)
        answer = _answer_id(event)
        at = None if answer is None else places.get(answer)
        if at is not None:
            yield from (_compaction(one, at) for one in waiting)
            waiting = []
    yield from (_compaction(one, len(rows)) for one in waiting)


def _compaction(event: dict[str, Any], at: int) -> Compaction:
    return Compaction(
        at=at,
        tokens_before=as_int(event.get("tokens_before")),
        tokens_after=as_int(event.get("tokens_after")),
    )


def _find_end(data: dict[str, Any]) -> str | None:
    """Why the sample ended: an error, a limit, or the reason of the model's last stop."""
    if data.get("error"):
        return "error"
    limit = as_text(as_dict(data.get("limit")).get("type")) or as_text(data.get("limit"))
    if limit:
        return f"{limit} limit"
    choices = as_dicts(as_dict(data.get("output")).get("choices"))
    return as_text(next(iter(choices), {}).get("stop_reason"))


def _find_reward(data: dict[str, Any]) -> float | None:
    """The first score, by the scorers' names, that is one value."""
    scores = as_dict(data.get("scores")) or {"": data.get("score")}
    rewards = (_grade(as_dict(scores[name]).get("value")) for name in sorted(scores))
    return next((reward for reward in rewards if reward is not None), None)


def _grade(value: Any) -> float | None:
    if isinstance(value, bool):
        return float(value)
    if not isinstance(value, str):
        return as_float(value)
    if value in GRADES:
        return GRADES[value]
    try:
        return as_float(float(value))
    except ValueError:
        return GRADES.get(value.lower())


def _read_usage(usage: dict[str, Any]) -> Tokens:
    """Some providers count the cache within the input: then input and output make the total."""
    sent, output, total, written, read, thought = (
        max(as_int(usage.get(key)) or 0, 0)
        for key in (
            "input_tokens",
            "output_tokens",
            "total_tokens",
            "input_tokens_cache_write",
            "input_tokens_cache_read",
            "reasoning_tokens",
        )
    )
    if total == sent + output and sent >= read + written:
        sent -= read + written
    return Tokens(
        input=sent, output=output, cache_read=read, cache_write=written, reasoning=thought
    )
