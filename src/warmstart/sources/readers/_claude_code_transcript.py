"""The lines of one Claude Code file, put together again as the sessions they came from.

A file holds one session, at its start perhaps the lines of the session it continues, and, where
an older version wrote them there, its subagents. What must stay true: a message that another file
also has counts in one of them only, and a file named after a session is that session.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from warmstart.errors import SourceError
from warmstart.model import Fate, Kind, Link, Parent, Session
from warmstart.sources.assemble import build_session
from warmstart.sources.fields import as_text
from warmstart.sources.files import read_json
from warmstart.sources.log import ReadLog
from warmstart.sources.readers._claude_code_thread import Draft, Thread, is_marked, sum_cost
from warmstart.sources.records import file_stem
from warmstart.wire import as_dict, as_id, content_text

ORIGIN = "claude_code"
TITLES = {"custom-title": ("customTitle", 3), "ai-title": ("aiTitle", 2), "summary": ("summary", 1)}
"""Line types that name the session: the key that holds the name, and its rank."""
SEEN_BY_MODEL = frozenset({"hook_additional_context", "hook_success", "hook_blocking_error"})
"""Hook attachments that reach the model; the others are shown to the user alone."""


def is_uuid(name: str) -> bool:
    """Whether a name is one that Claude Code gives to a session."""
    return len(name) == 36 and name.count("-") == 4


class SessionDraft(NamedTuple):
    """A session of a file, of which every message knows its fate."""

    thread: Thread
    native_id: str
    fields: dict[str, Any]
    """What else is known of the session, by the names of its fields; None where it is not."""

    @property
    def drafts(self) -> list[Draft]:
        """Its messages."""
        return self.thread.drafts

    def finish(self) -> Session:
        """The session with its messages and calls."""
        return build_session(
            ORIGIN,
            self.native_id,
            [draft.finish() for draft in self.drafts],
            compactions=tuple(self.thread.compactions),
            **self.fields,
        )


class ClaudeFile:
    """Collects a file's lines; ``conversations`` is what they amount to."""

    def __init__(self, path: Path, log: ReadLog) -> None:
        self._path = path
        self._log = log
        self._stem = file_stem(path.name)
        self._is_agent = self._stem.startswith("agent-")
        self._main = Thread()
        self._sides: dict[str, Thread] = {}
        self._side_of: dict[str, str] = {}
        self._titles: list[tuple[int, str, Any]] = []
        self._surroundings: dict[str, str | None] = {}

    def add(self, number: int, data: dict[str, Any]) -> None:
        """Take the next line of the file."""
        uuid = as_text(data.get("uuid"))
        parent = data.get("parentUuid") or data.get("logicalParentUuid")
        message = data.get("message")
        thread = self._main
        if data.get("isSidechain") is True and not self._is_agent:
            thread = self._side_thread(data, uuid)
        if not isinstance(message, dict):
            thread.chain.add_note(uuid, parent)
            self._add_note(data, thread, uuid, number)
        elif not thread.chain.add_line(uuid, parent):
            self._log.skip("line repeated in its file", self._path, number)
        elif _is_reply(data, message):
            if nameless := thread.add_reply(data, message, uuid):
                self._log.skip("call without a tool's name", self._path, number, count=nameless)
        else:
            if not self._surroundings:
                self._surroundings = _read_surroundings(data)
            thread.add_user(data, message.get("content"), uuid)

    def add_progress(self, uuid: str, parent: str) -> None:
        """Take a line of progress of the main conversation: all it does is chain two others."""
        self._main.chain.add_note(uuid, parent)

    def _side_thread(self, data: dict[str, Any], uuid: str | None) -> Thread:
        """The subagent a line belongs to: by its name, else by the line that opened it."""
        parent = as_text(data.get("parentUuid"))
        agent = as_text(data.get("agentId"))
        known = self._side_of.get(parent) if parent else None
        key = f"agent-{agent}" if agent else known or f"sidechain-{len(self._sides) + 1}"
        if uuid is not None:
            self._side_of[uuid] = key
        return self._sides.setdefault(key, Thread())

    def _add_note(
        self, data: dict[str, Any], thread: Thread, uuid: str | None, number: int
    ) -> None:
        """A line without a message: most only keep Claude Code's own books."""
        kind = data.get("type")
        if kind == "progress":
            return
        if kind == "system":
            if data.get("subtype") == "compact_boundary":
                thread.compact(as_dict(data.get("compactMetadata")))
        elif kind == "attachment":
            _add_attachment(data, thread, uuid)
        elif kind in ("user", "assistant"):
            self._log.skip("message is not an object", self._path, number)
        elif isinstance(kind, str) and kind in TITLES:
            key, rank = TITLES[kind]
            if title := as_text(data.get(key)):
                self._titles.append((rank, title, data.get("leafUuid")))

    def conversations(self) -> Iterator[SessionDraft]:
        """The file's session, then the subagents inside it."""
        drafts = [
            draft for thread in (self._main, *self._sides.values()) for draft in thread.drafts
        ]
        if not drafts:
            self._log.skip("file holds no message", self._path)
            return
        if self._is_agent:
            yield from self._agent_session(drafts)
            return
        own = self._own_id(drafts)
        if self._main.drafts:
            parent = self._settle(self._main, own)
            yield from self._build(
                self._main, own, title=self._find_title(), parent=_link(parent, Link.BRANCH)
            )
        for key, thread in self._sides.items():
            self._settle(thread, own)
            yield from self._build(thread, f"{own}:{key}", parent=_link(own, Link.SUBAGENT))

    def _own_id(self, drafts: list[Draft]) -> str:
        """The file's name where a session can have it; else the session written to last."""
        written = [
            draft.session
            for draft in drafts
            if isinstance(draft.session, str) and draft.session and not draft.forked
        ]
        if not written or self._stem in written or is_uuid(self._stem):
            return self._stem
        return written[-1]

    def _agent_session(self, drafts: list[Draft]) -> Iterator[SessionDraft]:
        written = (as_text(draft.session) for draft in reversed(drafts))
        owner = _owner_by_folder(self._path) or next(filter(None, written), None)
        self._settle(self._main, None)
        details = self._read_sidecar()
        spawner = as_text(details.get("parentAgentId"))
        yield from self._build(
            self._main,
            f"{owner}:{self._stem}" if owner else self._stem,
            title=as_text(details.get("description")) or self._find_title(),
            parent=_link(f"{owner}:agent-{spawner}" if owner and spawner else owner, Link.SUBAGENT),
        )

    def _read_sidecar(self) -> dict[str, Any]:
        path = self._path.with_name(f"{self._stem}.meta.json")
        if not path.is_file():
            return {}
        try:
            return as_dict(read_json(path))
        except SourceError:
            self._log.skip("unreadable .meta.json of a subagent", path)
            return {}

    def _find_title(self) -> str | None:
        """The best title; the last of its kind. Summaries may be of other sessions."""
        known = self._main.chain.lines
        own = [
            (rank, place, title)
            for place, (rank, title, leaf) in enumerate(self._titles)
            if leaf is None or rank > 1 or (isinstance(leaf, str) and leaf in known)
        ]
        return max(own)[2] if own else None

    def _settle(self, thread: Thread, own: str | None) -> str | None:
        """Decide what became of each message; returns the session this one was copied from."""
        thread.mark_rewound()
        thread.mark_cleared()
        source = self._mark_copies(thread, own)
        _settle_results(thread)
        thread.mark_archived()
        return source if source != own else None

    def _mark_copies(self, thread: Thread, own: str | None) -> str | None:
        """Mark what counts elsewhere.

        A copy that is known as one by its own line is not remembered: its original may be read
        after it, and has to count.
        """
        if own not in [draft.session for draft in thread.drafts]:
            own = None
        source: str | None = None
        for draft in thread.drafts:
            session = as_text(draft.session)
            if draft.forked or (own and session and session != own):
                draft.fate = Fate.COPIED
                source = session or source
            elif draft.key and not self._log.first_sight(ORIGIN, draft.key):
                draft.fate = Fate.COPIED
        return source

    def _build(
        self, thread: Thread, native_id: str, parent: Parent | None, title: str | None = None
    ) -> Iterator[SessionDraft]:
        is_new = self._log.first_sight(f"{ORIGIN} session", native_id)
        fresh = [draft for draft in thread.drafts if draft.fate is not Fate.COPIED]
        if not fresh and not is_new:
            self._log.skip("copy of a session already read", self._path)
            return
        fields = {
            "title": title,
            "parent": parent,
            "started_at": next((d.timestamp for d in fresh if d.timestamp is not None), None),
            "cost_usd": sum_cost(fresh),
            "path": str(self._path),
            **self._surroundings,
        }
        yield SessionDraft(thread, native_id, fields)


def _owner_by_folder(path: Path) -> str | None:
    """The session in whose ``subagents`` folder a file stands."""
    folder = next((inner for inner in path.parents if inner.name == "subagents"), path)
    name = folder.parent.name
    return name if folder != path and is_uuid(name) else None


def _settle_results(thread: Thread) -> None:
    """Results share the fate of their calls where those are copies."""
    copied: set[str | None] = set()
    fresh: set[str | None] = set()
    for draft in thread.drafts:
        if draft.uses:
            ids = (as_id(block.get("id")) for block in draft.uses)
            (copied if draft.fate is Fate.COPIED else fresh).update(ids)
    if not copied:
        return
    only = copied - fresh
    for draft in thread.drafts:
        if draft.answers and all(as_id(b.get("tool_use_id")) in only for b in draft.answers):
            draft.fate = Fate.COPIED


def _is_reply(data: dict[str, Any], message: dict[str, Any]) -> bool:
    """Whether the line is an answer; lines of an unknown type are judged by their role."""
    kind = data.get("type")
    return kind == "assistant" or (kind != "user" and message.get("role") == "assistant")


def _read_surroundings(data: dict[str, Any]) -> dict[str, str | None]:
    if "cwd" not in data:
        return {}
    return {
        "project": as_text(data.get("cwd")),
        "git_branch": as_text(data.get("gitBranch")),
        "agent_version": as_text(data.get("version")),
    }


def _add_attachment(data: dict[str, Any], thread: Thread, uuid: str | None) -> None:
    """What came with a prompt or between two answers: hook output, or a prompt sent meanwhile."""
    attachment = as_dict(data.get("attachment"))
    kind = attachment.get("type")
    if kind == "queued_command":
        text = content_text(attachment.get("prompt"))
        is_own = attachment.get("commandMode", "prompt") == "prompt" and not is_marked(text)
        if text:
            thread.add_text(data, text, uuid, Kind.TURN if is_own else Kind.INJECTED)
    elif isinstance(kind, str) and kind in SEEN_BY_MODEL:
        error = as_dict(attachment.get("blockingError")).get("blockingError")
        if text := content_text(attachment.get("content")) or content_text(error):
            thread.add_text(data, text, uuid, Kind.INJECTED)


def _link(session: str | None, link: Link) -> Parent | None:
    return Parent(id=f"{ORIGIN}:{session}", link=link) if session else None
