"""ShareGPT conversations, and the trajectories Hermes saves in that shape.

Calls and results stand inside the text, between tags: ``<tool_call>`` holds a JSON object, and so
does ``<tool_response>``, whose content may itself quote such tags; so the JSON decides where a
block ends, and the closing tag only where the JSON is broken. Nothing of a block is thrown away.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from warmstart.model import Message, Request, Result, Role, Session
from warmstart.sources.fields import as_list, as_text, parse_time
from warmstart.sources.joining import build_chat
from warmstart.sources.json_text import is_json, parse_json
from warmstart.sources.log import ReadLog
from warmstart.sources.naming import name_record
from warmstart.sources.reader import FileReader, Probe, Unit, file_unit
from warmstart.sources.records import read_records
from warmstart.wire import as_dict, as_id, content_text, encode_text, make_request

SPEAKERS = {
    "system": Role.SYSTEM,
    "human": Role.USER,
    "user": Role.USER,
    "gpt": Role.ASSISTANT,
    "assistant": Role.ASSISTANT,
    "model": Role.ASSISTANT,
    "chatgpt": Role.ASSISTANT,
    "function_call": Role.ASSISTANT,
    "tool": Role.TOOL,
    "observation": Role.TOOL,
    "function_response": Role.TOOL,
}
END_REASONS = {True: "completed", False: "failed"}
SNIFFED = 12
_DECODER = json.JSONDecoder(strict=False)
_ASSISTANT_TAGS = re.compile(r"<(think|tool_call)>")
_TOOL_TAGS = re.compile(r"<(tool_response)>")
_NAME = re.compile(r"""["']name["']\s*:\s*["']([^"'\n]{1,200})["']""")
_SPACE = re.compile(r"\s*")


class Block(NamedTuple):
    """What stood between a tag and its end."""

    tag: str
    body: str


class Split(NamedTuple):
    """A text without its tagged blocks, and the blocks in order."""

    rest: str
    blocks: list[Block]


class ShareGPT(FileReader):
    """``conversations`` of ``from`` and ``value``."""

    name = "sharegpt"
    title = "Hermes / ShareGPT trajectories"

    def recognises(self, probe: Probe) -> bool:
        """Whether a record is a list of turns, each with its speaker and text."""
        return any(_is_conversation(record) for record in probe.records)

    def units(self, path: Path, log: ReadLog) -> Iterator[Unit]:
        """The file."""
        del log
        return file_unit(path)

    def read(self, unit: Unit, log: ReadLog) -> Iterator[Session]:
        """One session per conversation."""
        for number, record in read_records(unit.path, log):
            if _is_conversation(record):
                yield self._read_session(record, number, unit.path, log)
            else:
                log.skip("record is not a conversation", unit.path, number)

    def _read_session(
        self, record: dict[str, Any], number: int, path: Path, log: ReadLog
    ) -> Session:
        messages = list(_read_turns(record, number, path, log))
        is_hermes = any("<tools>" in m.text for m in messages if m.role is Role.SYSTEM)
        return build_chat(
            self.name,
            name_record(path, None, number),
            messages,
            log,
            agent="hermes" if is_hermes else self.name,
            model=as_text(record.get("model")),
            # Written when the conversation is saved, which is when it has ended.
            ended_at=parse_time(record.get("timestamp")),
            end_reason=_end_reason(record),
            path=str(path),
        )


def _is_conversation(record: Any) -> bool:
    turns = as_list(as_dict(record).get("conversations"))[:SNIFFED]
    return any(_speaker(as_dict(turn)) in SPEAKERS for turn in turns)


def _speaker(turn: dict[str, Any]) -> str:
    return as_text(turn.get("from")) or as_text(turn.get("role")) or ""


def _end_reason(record: dict[str, Any]) -> str | None:
    completed = record.get("completed")
    return END_REASONS[completed] if isinstance(completed, bool) else None


def _read_turns(record: dict[str, Any], number: int, path: Path, log: ReadLog) -> Iterator[Message]:
    call_ids: set[str] = set()
    for item in as_list(record.get("conversations")):
        turn = as_dict(item)
        speaker = _speaker(turn)
        if speaker not in SPEAKERS:
            log.skip("turn without a known speaker", path, number)
            continue
        value = turn.get("value", turn.get("content"))
        text = encode_text(value) if isinstance(value, dict) else content_text(value)
        message = _read_turn(speaker, text, call_ids)
        call_ids.update(request.id for request in message.requests if request.id)
        yield message


def _read_turn(speaker: str, text: str, call_ids: set[str]) -> Message:
    role = SPEAKERS[speaker]
    # Some chat templates hand results back in the user's name.
    if role is Role.TOOL or (role is Role.USER and text.lstrip().startswith("<tool_response>")):
        return _read_tool_turn(text, call_ids)
    if speaker == "function_call":
        return Message(role=role, requests=tuple(_read_requests(text)))
    if role is not Role.ASSISTANT:
        return Message(role=role, text=text)
    return _read_assistant(text)


def _read_assistant(text: str) -> Message:
    rest, blocks = _split_blocks(text, _ASSISTANT_TAGS)
    thoughts = (body for tag, body in blocks if tag == "think" and body)
    calls = (body for tag, body in blocks if tag == "tool_call")
    return Message(
        role=Role.ASSISTANT,
        text=rest,
        reasoning="\n".join(thoughts),
        requests=tuple(request for body in calls for request in _read_requests(body)),
    )


def _read_tool_turn(text: str, call_ids: set[str]) -> Message:
    rest, blocks = _split_blocks(text, _TOOL_TAGS)
    bodies = [body for _, body in blocks] or [text]
    results = tuple(_read_result(body, call_ids) for body in bodies)
    return Message(role=Role.TOOL, text=rest if blocks else "", results=results)


def _read_result(body: str, call_ids: set[str]) -> Result:
    """A response, out of its envelope where it has one."""
    data = as_dict(_load(body))
    if "content" not in data or data.keys().isdisjoint(("name", "tool_call_id")):
        return Result(text=body)
    content = data["content"]
    call_id = as_id(data.get("tool_call_id"))
    return Result(
        text=content if isinstance(content, str) else encode_text(content),
        # Hermes keeps the id of the response and drops that of the call: then order must do.
        call_id=call_id if call_id in call_ids else None,
        tool=as_text(data.get("name")),
    )


def _read_requests(body: str) -> Iterator[Request]:
    data = _load(body)
    for item in data if isinstance(data, list) else [data]:
        call = as_dict(as_dict(item).get("function")) or as_dict(item)
        name = as_text(call.get("name"))
        if name is None:
            yield Request(tool=_recover_name(body), raw=body)
            continue
        written = call.get("arguments", call.get("parameters"))
        yield make_request(name, as_dict(item).get("id"), written)


def _recover_name(body: str) -> str:
    """The tool a broken call still names."""
    found = _NAME.search(body)
    return found.group(1) if found else "unknown"


def _load(text: str) -> Any:
    """JSON as models write it: line breaks inside strings are let through."""
    data = parse_json(text.encode("utf-8", "replace"))
    if is_json(data):
        return data
    try:
        return parse_json(json.dumps(_DECODER.decode(text)).encode())
    except (ValueError, RecursionError):
        return None


def _split_blocks(text: str, tags: re.Pattern[str]) -> Split:
    rest: list[str] = []
    blocks: list[Block] = []
    at = 0
    while found := tags.search(text, at):
        rest.append(text[at : found.start()])
        tag = found.group(1)
        end, at = _end_of_block(text, found.end(), tag)
        blocks.append(Block(tag, text[found.end() : end].strip()))
    rest.append(text[at:])
    return Split("".join(rest).strip(), blocks)


def _end_of_block(text: str, start: int, tag: str) -> tuple[int, int]:
    """Where a block's body ends, and where the text goes on after its closing tag."""
    closing = f"</{tag}>"
    if tag != "think":
        end = _end_of_json(text, start)
        after = _skip_space(text, end)
        if text.startswith(closing, after):
            return end, after + len(closing)
        if end > start and (after == len(text) or text.startswith(f"<{tag}>", after)):
            return end, after
    end = text.find(closing, start)
    if end >= 0:
        return end, end + len(closing)
    # Never closed: a thought must not swallow the call that follows it.
    following = text.find("<tool_call>", start) if tag == "think" else -1
    end = following if following >= 0 else len(text)
    return end, end


def _end_of_json(text: str, start: int) -> int:
    """After the JSON object or array that begins there; ``start`` itself where none does."""
    first = _skip_space(text, start)
    if not text.startswith(("{", "["), first):
        return start
    try:
        return _DECODER.raw_decode(text, first)[1]
    except (ValueError, RecursionError):
        return start


def _skip_space(text: str, at: int) -> int:
    found = _SPACE.match(text, at)
    return found.end() if found else at
