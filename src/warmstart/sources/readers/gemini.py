"""Gemini CLI: chats written as a log of changes, replayed here the way Gemini replays them.

A later line with the same id rewrites a message in place; ``$rewindTo`` takes back that message
and all after it; ``$set.messages`` replaces the history, which is how a compression is written.
Nothing replayed away is lost: it keeps its place and its fate says what became of it. Older
versions wrote one JSON document that holds the final messages.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from warmstart.errors import SourceError
from warmstart.model import (
    Compaction,
    Fate,
    Kind,
    Link,
    Message,
    Parent,
    Request,
    Result,
    Role,
    Session,
    Status,
    Tokens,
)
from warmstart.sources.assemble import build_session
from warmstart.sources.fields import as_count, as_list, as_text, parse_time
from warmstart.sources.files import read_head
from warmstart.sources.log import ReadLog
from warmstart.sources.naming import name_file
from warmstart.sources.reader import FileReader, Probe, Unit, file_unit
from warmstart.sources.records import read_records
from warmstart.wire import as_dict, as_dicts, as_id, content_text, encode_text, make_request

CHAT_PATTERNS = ("tmp/*/chats/session-*.json*", "tmp/*/chats/*/*.json*")
"""Under Gemini's home: the chats, and the chats of their subagents in a folder of the parent."""
CHAT_SUFFIXES = frozenset({".json", ".jsonl", ".gz", ".zst"})
INJECTED_HEADS = ("<session_context>", "<hook_context>", "This is the Gemini CLI. We are setting")
MAX_PATH_BYTES = 4096
FAILED = {"success": False, "error": True}
FINAL = frozenset({"success", "error", "cancelled"})


class Gemini(FileReader):
    """Gemini CLI chats, one per file."""

    name = "gemini"
    title = "Gemini CLI"

    def recognises(self, probe: Probe) -> bool:
        """Whether it is a chat by its header (session and project hash), or a home with chats."""
        if probe.is_folder:
            return "tmp" in probe.names and next(_list_chats(probe.path), None) is not None
        return not probe.is_array and any(_is_header(record) for record in probe.records)

    def units(self, path: Path, log: ReadLog) -> Iterator[Unit]:
        """The chat itself, or every chat of a home, oldest first."""
        del log
        if path.is_file():
            yield from file_unit(path)
            return
        chats = set(_list_chats(path))
        for chat in sorted(chats, key=lambda chat: (chat.name, str(chat))):
            # A resumed document goes on as JSONL beside it, with all that was in it.
            if chat.suffix != ".json" or chat.with_suffix(".jsonl") not in chats:
                yield from file_unit(chat)

    def read(self, unit: Unit, log: ReadLog) -> Iterator[Session]:
        """Replay one chat."""
        replay = _ChatReplay()
        for number, record in read_records(unit.path, log):
            problem = replay.apply(record)
            if problem:
                log.skip(problem, unit.path, number)
        if replay.header or replay.entries:
            yield _build_session(replay, unit.path)


def _is_header(record: dict[str, Any]) -> bool:
    return bool(as_text(record.get("sessionId")) and as_text(record.get("projectHash")))


def _list_chats(home: Path) -> Iterator[Path]:
    for pattern in CHAT_PATTERNS:
        yield from (path for path in home.glob(pattern) if path.suffix in CHAT_SUFFIXES)


@dataclass(slots=True)
class _ChatMessage:
    """A message at the place where it was first written."""

    record: dict[str, Any]
    fate: Fate = Fate.LIVE
    kind: Kind | None = None


class _ChatReplay:
    """The chat as of the lines applied so far."""

    def __init__(self) -> None:
        self.header: dict[str, Any] = {}
        self.entries: list[_ChatMessage] = []
        self.live: dict[str, _ChatMessage] = {}
        self.compacted_at: list[int] = []

    def apply(self, data: dict[str, Any]) -> str | None:
        """Take one line in; the answer is what is wrong with it, if anything."""
        target = as_text(data.get("$rewindTo"))
        if target:
            return self._rewind(target)
        if as_text(data.get("id")):
            self._put(data)
        elif isinstance(data.get("$set"), dict):
            self._update(data["$set"])
        elif "sessionId" in data or "messages" in data:
            self._update(data)
        else:
            return "line of no known shape"
        return None

    def _put(self, record: dict[str, Any]) -> None:
        entry = self.live.get(record["id"])
        if entry is None:
            self._append(_ChatMessage(record))
        else:
            entry.record = record

    def _append(self, entry: _ChatMessage) -> None:
        self.entries.append(entry)
        self.live[entry.record["id"]] = entry

    def _update(self, changes: dict[str, Any]) -> None:
        first_id = self.header.get("sessionId") or changes.get("sessionId")
        self.header.update(changes)
        self.header["sessionId"] = first_id
        history = self.header.pop("messages", None)
        if isinstance(history, list):
            self._replace([r for r in as_dicts(history) if as_text(r.get("id"))])

    def _rewind(self, target: str) -> str | None:
        # Gemini forgets everything when the target is unknown. Here that would take real work out
        # of the counts because one line is damaged, so it is reported instead.
        if target not in self.live:
            return "rewind to an unknown message"
        order = list(self.live)
        for gone in order[order.index(target) :]:
            self.live.pop(gone).fate = Fate.REWOUND
        return None

    def _replace(self, history: list[dict[str, Any]]) -> None:
        """What the model sees from now on; a message it already saw stays as it was then.

        Results in a new history may be masked to save room, so the first version is the true one.
        """
        kept = {record["id"] for record in history}
        dropped = [entry for known, entry in self.live.items() if known not in kept]
        fresh = [_ChatMessage(record) for record in history if record["id"] not in self.live]
        for entry in dropped:
            entry.fate = Fate.ARCHIVED
        if fresh and any(map(_is_spoken, dropped)):
            self.compacted_at.append(len(self.entries))
            _mark_compacted(fresh, dropped)
        before, self.live = self.live, {}
        self.entries.extend(fresh)
        new = {entry.record["id"]: entry for entry in fresh}
        for record in history:
            self.live[record["id"]] = before.get(record["id"]) or new[record["id"]]


def _is_spoken(entry: _ChatMessage) -> bool:
    return entry.record.get("type") in ("user", "gemini")


def _mark_compacted(fresh: list[_ChatMessage], dropped: list[_ChatMessage]) -> None:
    """A compression's new messages: copies of the tail it kept, a summary, and its own words."""
    known = {_signature(entry.record) for entry in dropped}
    summarised = False
    for entry in fresh:
        if _signature(entry.record) in known or _responses(entry.record.get("content")):
            entry.fate = Fate.COPIED
        elif not summarised and entry.record.get("type") == "user":
            entry.kind = Kind.SUMMARY
            summarised = True
        else:
            entry.kind = Kind.INJECTED


def _signature(record: dict[str, Any]) -> tuple[str, ...]:
    calls = [request.tool + encode_text(request.arguments) for request in _requests(record)]
    return (str(record.get("type")), _text(record).strip(), *calls)


def _build_session(replay: _ChatReplay, path: Path) -> Session:
    header = replay.header
    messages: list[Message] = []
    starts: list[int] = []
    for entry in replay.entries:
        starts.append(len(messages))
        messages.extend(_to_messages(entry))
    starts.append(len(messages))
    return build_session(
        "gemini",
        as_id(header.get("sessionId")) or name_file(path),
        messages,
        title=as_text(header.get("summary")),
        project=_find_project(header, path),
        started_at=parse_time(header.get("startTime")),
        ended_at=parse_time(header.get("lastUpdated")),
        parent=_find_parent(header, path),
        compactions=tuple(Compaction(at=starts[index]) for index in replay.compacted_at),
        path=str(path),
    )


def _find_project(header: dict[str, Any], path: Path) -> str | None:
    """The working directory where Gemini kept it, else the hash that stands for it."""
    chats = next((folder for folder in path.parents if folder.name == "chats"), None)
    if chats is not None:
        try:
            root = read_head(chats.parent / ".project_root", MAX_PATH_BYTES).decode().strip()
        except (SourceError, UnicodeDecodeError):
            root = ""
        if root:
            return root
    directories = (as_text(name) for name in as_list(header.get("directories")))
    return next(filter(None, directories), None) or as_text(header.get("projectHash"))


def _find_parent(header: dict[str, Any], path: Path) -> Parent | None:
    if header.get("kind") != "subagent":
        return None
    parent = as_text(header.get("parentSessionId"))
    if parent is None and path.parent.parent.name == "chats":
        parent = path.parent.name
    return Parent(id=f"gemini:{parent}", link=Link.SUBAGENT) if parent else None


def _to_messages(entry: _ChatMessage) -> Iterator[Message]:
    record = entry.record
    results = _results(record)
    role = {"gemini": Role.ASSISTANT, "user": Role.USER}.get(str(record.get("type")), Role.SYSTEM)
    text = _text(record)
    requests = _requests(record)
    timestamp = parse_time(record.get("timestamp"))
    if text or requests or not results:
        yield Message(
            role=role,
            text=text,
            requests=requests,
            reasoning=_reasoning(record),
            native_id=as_text(record.get("id")),
            timestamp=timestamp,
            model=as_text(record.get("model")),
            tokens=_tokens(record.get("tokens")),
            kind=entry.kind or _kind(role, text),
            fate=entry.fate,
        )
    if results:
        yield Message(role=Role.TOOL, results=results, timestamp=timestamp, fate=entry.fate)


def _kind(role: Role, text: str) -> Kind:
    if role is Role.SYSTEM or (role is Role.USER and text.lstrip().startswith(INJECTED_HEADS)):
        return Kind.INJECTED
    return Kind.TURN


def _parts(content: Any) -> list[Any]:
    return content if isinstance(content, list) else [content]


def _text(record: dict[str, Any]) -> str:
    """What was typed or said; a file pulled in by ``@`` is in ``content`` only."""
    content = record.get("displayContent") or record.get("content")
    spoken = [part for part in _parts(content) if not _is_call_or_thought(part)]
    return content_text(spoken)


def _is_call_or_thought(part: Any) -> bool:
    part = as_dict(part)
    return "functionCall" in part or "functionResponse" in part or part.get("thought") is True


def _reasoning(record: dict[str, Any]) -> str:
    thoughts = [
        ": ".join(filter(None, (as_text(item.get("subject")), as_text(item.get("description")))))
        for item in as_dicts(record.get("thoughts"))
    ]
    return "\n".join(filter(None, thoughts))


def _requests(record: dict[str, Any]) -> tuple[Request, ...]:
    """The calls of a message; where it has no records of them, the parts the model wrote."""
    calls = as_dicts(record.get("toolCalls"))
    if not calls and record.get("type") == "gemini":
        parts = (as_dict(part).get("functionCall") for part in _parts(record.get("content")))
        calls = [part for part in parts if isinstance(part, dict)]
    return tuple(make_request(call.get("name"), call.get("id"), call.get("args")) for call in calls)


def _results(record: dict[str, Any]) -> tuple[Result, ...]:
    calls = filter(None, map(_to_result, as_dicts(record.get("toolCalls"))))
    loose = () if record.get("toolCalls") else _responses(record.get("content"))
    return (
        *calls,
        *(
            Result(
                text=_response_text(response),
                call_id=as_id(response.get("id")),
                tool=as_text(response.get("name")),
            )
            for response in loose
        ),
    )


def _responses(content: Any) -> list[dict[str, Any]]:
    parts = (as_dict(part).get("functionResponse") for part in _parts(content))
    return [part for part in parts if isinstance(part, dict)]


def _to_result(call: dict[str, Any]) -> Result | None:
    """None while the call is still waiting or running."""
    status = as_text(call.get("status"))
    answer = call.get("result")
    if status not in FINAL and not answer:
        return None
    return Result(
        text=_answer_text(_parts(answer)) or as_text(call.get("resultDisplay")) or "",
        call_id=as_id(call.get("id")),
        tool=as_text(call.get("name")),
        is_error=FAILED.get(status or ""),
        status=Status.CANCELLED if status == "cancelled" else None,
    )


def _answer_text(parts: Iterable[Any]) -> str:
    texts = []
    for part in parts:
        response = as_dict(part).get("functionResponse")
        texts.append(
            _response_text(response) if isinstance(response, dict) else content_text([part])
        )
    return "\n".join(filter(None, texts))


def _response_text(response: dict[str, Any]) -> str:
    answer = response.get("response")
    for key in ("output", "error"):
        text = as_text(as_dict(answer).get(key))
        if text:
            return text
    return encode_text(answer) if answer else ""


def _tokens(value: Any) -> Tokens | None:
    """Gemini counts cached input within input, and thoughts and tool prompts apart from both."""
    usage = as_dict(value)
    cached, thoughts = as_count(usage.get("cached")), as_count(usage.get("thoughts"))
    sent = max(as_count(usage.get("input")) - cached, 0)
    tokens = Tokens(
        input=sent + as_count(usage.get("tool")),
        output=as_count(usage.get("output")) + thoughts,
        cache_read=cached,
        reasoning=thoughts,
    )
    return tokens if tokens.total else None
