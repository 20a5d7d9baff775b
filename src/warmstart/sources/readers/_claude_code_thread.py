"""One conversation of a Claude Code file, line by line: drafts of messages, not yet final.

Claude Code writes one line per content block. The lines of one answer share ``message.id`` and
repeat its usage, and results of parallel calls may stand between them; so an answer stays open
until the next prompt. Whether a message was taken back or counts elsewhere is only known at the
end of the file, so a draft can still grow or change its fate; ``finish`` makes the message.

Every line of every transcript comes through here: values are checked where they are used, and
nothing is looked at twice.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from warmstart.model import Compaction, Fate, Kind, Message, Request, Result, Role, Status, Tokens
from warmstart.sources.fields import as_float, as_int, as_text, parse_time
from warmstart.sources.readers._claude_code_chain import Chain
from warmstart.wire import MAX_TOKENS, as_dict, as_id, content_text, make_request

SHORT_ID = 16
"""Ids shorter than this were made by a script, and unrelated files have the same ones."""


class Draft:
    """A message as far as its lines have been read."""

    text = ""
    """Text written in the user's name; an answer's text is in its contents."""
    answers: Sequence[dict[str, Any]] = ()
    """The blocks that hold a result."""
    status: Status | None = None
    """How the calls of those results ended, where a field of the line says so."""
    model: str | None = None
    usage: Any = None
    cost: Any = None
    kind = Kind.TURN
    fate = Fate.LIVE
    turn = 0
    forked = False
    """The line itself says that it is a copy."""

    def __init__(self, role: Role, data: dict[str, Any], uuid: str | None) -> None:
        self.role = role
        self.contents: list[Any] = []
        """Of an answer: ``message.content`` of each of its lines."""
        self.uses: list[dict[str, Any]] = []
        """The blocks that ask for a tool; each has a tool's name."""
        self.native_id = self.line = uuid
        self.stamp = stamp = data.get("timestamp")
        self.session = data.get("sessionId")
        """The session its line belongs to, be it this file's or the one it was copied from."""
        self.key = uuid if uuid is None or len(uuid) >= SHORT_ID else f"{uuid} {stamp}"
        """What another file would repeat it under; None for results, which follow their call."""
        if "forkedFrom" in data:
            self.forked = True
            self.session = as_dict(data["forkedFrom"]).get("sessionId")

    @property
    def timestamp(self) -> float | None:
        """When its first line was written."""
        return parse_time(self.stamp)

    def absorb(self, content: Any) -> int:
        """Add an answer's content; returns how many calls had no tool's name and were left out."""
        self.contents.append(content)
        nameless = 0
        for block in content if content.__class__ is list else ():
            if block.__class__ is dict and block.get("type") == "tool_use":
                name = block.get("name")
                if name.__class__ is str and name:
                    self.uses.append(block)
                else:
                    nameless += 1
        return nameless

    def finish(self) -> Message:
        """The message as it stands now."""
        return Message(
            role=self.role,
            text=self.text or _join_blocks(self.contents, "text"),
            requests=tuple(map(_read_request, self.uses)),
            results=tuple(_read_result(block, self.status) for block in self.answers),
            reasoning=_join_blocks(self.contents, "thinking"),
            native_id=self.native_id,
            timestamp=self.timestamp,
            model=self.model,
            tokens=_read_tokens(self.usage),
            kind=self.kind,
            fate=self.fate,
        )


def _join_blocks(contents: Sequence[Any], kind: str) -> str:
    """The words of an answer, or its reasoning; a content that is a bare string is words."""
    parts: list[Any] = []
    for content in contents:
        if isinstance(content, str):
            parts.append(content if kind == "text" else "")
        elif isinstance(content, list):
            parts += [
                as_text(block.get(kind))
                for block in content
                if isinstance(block, dict) and block.get("type") == kind
            ]
    return "\n".join(filter(None, parts))


def _read_request(block: dict[str, Any]) -> Request:
    return make_request(block["name"], block.get("id"), block.get("input"))


def _read_result(block: dict[str, Any], status: Status | None) -> Result:
    return Result(
        text=content_text(block.get("content")),
        call_id=as_id(block.get("tool_use_id")),
        # The API documents the field's default as false.
        is_error=block.get("is_error") is True,
        status=status,
    )


def _read_tokens(usage: Any) -> Tokens | None:
    if not isinstance(usage, dict):
        return None
    fresh, output, cache_read, cache_write = _count_tokens(usage)
    tokens = Tokens(input=fresh, output=output, cache_read=cache_read, cache_write=cache_write)
    return tokens if tokens.total else None


def _count_tokens(usage: dict[str, Any]) -> tuple[int, int, int, int]:
    """Input, output, read from a cache and written to one."""
    return (
        _count(usage.get("input_tokens")),
        _count(usage.get("output_tokens")),
        _count(usage.get("cache_read_input_tokens")),
        _count(usage.get("cache_creation_input_tokens")),
    )


def _count(value: Any) -> int:
    return value if type(value) is int and 0 < value <= MAX_TOKENS else 0


def sum_cost(drafts: list[Draft]) -> float | None:
    """US dollars, for the versions that wrote them; None for all others."""
    costs = [as_float(draft.cost) for draft in drafts if draft.cost is not None]
    known = [cost for cost in costs if cost is not None]
    return sum(known) if known else None


SYNTHETIC_MODEL = "<synthetic>"
"""In place of a model where Claude Code itself wrote the answer: notes about API errors."""
HARNESS_MARKS = (
    "<system-reminder>", "<command-name>", "<command-message>", "<local-command-",
    "<bash-input>", "<bash-stdout>", "<bash-stderr>", "<task-notification>",
    "<user-prompt-submit-hook>", "<ide_opened_file>", "<ide_selection>", "<new-diagnostics>",
    "<user-memory-input>", "<teammate-message", "[Request interrupted by user",
    "Caveat: The messages below were generated by the user",
)  # fmt: skip
"""How user text begins that the harness wrote."""
PLAN = "planContent"
"""Field of a prompt that Claude Code itself writes after it cleared the context for a plan."""
CLEARED = "clear"
"""What triggered a boundary without a summary: the context was cleared."""
STOPPED = frozenset({"interrupted", "cancelled"})
"""Values of ``toolDenialKind`` that are not denials."""


class Thread:
    """The main conversation of a file, or one subagent's inside it."""

    def __init__(self) -> None:
        self.drafts: list[Draft] = []
        self.compactions: list[Compaction] = []
        self.chain = Chain()
        self._replies: dict[tuple[str, str | None], Draft] = {}
        """The last draft of each answer, by ``message.id`` and request."""
        self._plans: set[int] = set()
        """Drafts in which Claude Code begins again with a plan."""
        self._turn = 0
        self._summary_due = False

    def add_user(self, data: dict[str, Any], content: Any, uuid: str | None) -> None:
        """A user line: what the user wrote, what the harness added, and results, in any mixture."""
        texts, results = _split_content(content)
        if results:
            draft = Draft(Role.TOOL, data, uuid)
            draft.answers = results
            draft.status = _line_status(data)
            draft.key = None
            self.drafts.append(draft)
        if texts:
            kind = _user_kind(data)
            if kind is Kind.TURN:
                texts = self._add_marked(data, texts, uuid)
            if texts:
                if PLAN in data:
                    self._plans.add(len(self.drafts))
                elif kind is Kind.TURN and not results:
                    self.chain.add_prompt(uuid)
                self.add_text(data, "\n".join(texts), uuid, kind)

    def _add_marked(self, data: dict[str, Any], texts: list[str], uuid: str | None) -> list[str]:
        """Add what the harness put between the user's words; returns the user's own."""
        injected = [text for text in texts if is_marked(text)]
        if not injected:
            return texts
        self.add_text(data, "\n".join(injected), uuid, Kind.INJECTED)
        return [text for text in texts if not is_marked(text)]

    def add_text(self, data: dict[str, Any], text: str, uuid: str | None, kind: Kind) -> None:
        """Add text written in the user's name."""
        draft = Draft(Role.USER, data, uuid)
        draft.text = text
        draft.kind = kind
        self.drafts.append(draft)
        if kind is not Kind.INJECTED:
            self._turn += 1
        if kind is Kind.SUMMARY:
            # A summary without a boundary line before it is a compaction of its own.
            if not self._summary_due:
                self.compactions.append(Compaction(at=len(self.drafts) - 1))
            self._summary_due = False

    def add_reply(self, data: dict[str, Any], message: dict[str, Any], uuid: str | None) -> int:
        """An assistant line: a new answer, or one more block of an open one.

        Returns how many calls had to be left out for want of a tool's name.
        """
        answer = (as_text(message.get("id")) or "", as_text(data.get("requestId")))
        found = self._replies.get(answer)
        if found is not None and found.turn == self._turn:
            draft = found
        else:
            draft = self._open_reply(data, answer[0], uuid)
            if answer[0]:
                self._replies[answer] = draft
            if found is not None:
                found.usage = found.cost = None
        model = message.get("model")
        if model == SYNTHETIC_MODEL or data.get("isApiErrorMessage") is True:
            draft.kind = Kind.INJECTED
        else:
            draft.model = as_text(model)
            draft.usage = message.get("usage")
            draft.cost = data.get("costUSD")
        return draft.absorb(message.get("content"))

    def _open_reply(self, data: dict[str, Any], name: str, uuid: str | None) -> Draft:
        draft = Draft(Role.ASSISTANT, data, uuid)
        draft.turn = self._turn
        if name:
            draft.native_id = name
            if len(name) >= SHORT_ID:
                draft.key = name
        self.drafts.append(draft)
        return draft

    def compact(self, details: dict[str, Any]) -> None:
        """A compaction: what stands before it is no longer seen by the model."""
        self.compactions.append(
            Compaction(
                at=len(self.drafts),
                trigger=as_text(details.get("trigger")),
                tokens_before=as_int(details.get("preTokens")),
                tokens_after=as_int(details.get("postTokens")),
            )
        )
        self._summary_due = True

    def mark_cleared(self) -> None:
        """Add a boundary wherever the context was cleared and the file went on."""
        cleared = [Compaction(at=at, trigger=CLEARED) for at in self._find_clearings()]
        if cleared:
            self.compactions = sorted([*self.compactions, *cleared], key=lambda c: c.at)

    def _find_clearings(self) -> Iterator[int]:
        """Where a later tree begins that the user opened, and where a plan is taken up.

        Only what has something to clear is one: an answer since the boundary before.
        """
        starts = self._plans | self._find_later_trees()
        known = {compaction.at for compaction in self.compactions}
        was_answered = False
        for at, draft in enumerate(self.drafts) if starts else ():
            if at in known:
                was_answered = False
            elif at in starts and was_answered:
                was_answered = False
                yield at
            was_answered = was_answered or draft.role is Role.ASSISTANT

    def _find_later_trees(self) -> set[int]:
        """Where trees begin that hold a prompt of the user.

        A tree that lines of an earlier one follow is not a new beginning: two processes wrote it.
        """
        tree_of = self.chain.find_trees()
        if not tree_of:
            return set()
        trees = [tree_of.get(draft.line or "", "") for draft in self.drafts]
        opened = {trees[at] for at, draft in enumerate(self.drafts) if _is_turn(draft)}
        last = {tree: at for at, tree in enumerate(trees)}
        starts: dict[str, int] = {"": 0}
        end = -1
        for at, tree in enumerate(trees):
            if tree not in starts:
                starts[tree] = at if end < at and tree in opened else 0
                end = max(end, last[tree])
        return set(starts.values())

    def mark_archived(self) -> None:
        """Everything before the last compaction happened, but is gone from the context."""
        last = self.compactions[-1].at if self.compactions else 0
        for draft in self.drafts[:last]:
            if draft.fate is Fate.LIVE:
                draft.fate = Fate.ARCHIVED

    def mark_rewound(self) -> None:
        """Mark what the user took back."""
        gone = self.chain.find_abandoned()
        for draft in self.drafts if gone else ():
            if draft.line in gone:
                draft.fate = Fate.REWOUND


def _is_turn(draft: Draft) -> bool:
    return draft.role is Role.USER and draft.kind is Kind.TURN


def _split_content(content: Any) -> tuple[list[str], list[dict[str, Any]]]:
    """The texts of a user line, and its blocks with results."""
    if isinstance(content, str):
        return [content] if content else [], []
    texts: list[str] = []
    results: list[dict[str, Any]] = []
    for block in content if isinstance(content, list) else ():
        if not isinstance(block, dict):
            continue
        if block.get("type") == "tool_result":
            results.append(block)
        elif text := content_text(block):
            texts.append(text)
    return texts, results


def _line_status(data: dict[str, Any]) -> Status | None:
    """Cancelled or rejected, where a field of the line says so."""
    details = data.get("toolUseResult")
    if isinstance(details, dict) and details.get("interrupted") is True:
        return Status.CANCELLED
    denial = data.get("toolDenialKind")
    if not isinstance(denial, str):
        return None
    return Status.CANCELLED if denial in STOPPED else Status.REJECTED


def _user_kind(data: dict[str, Any]) -> Kind:
    if data.get("isCompactSummary") is True:
        return Kind.SUMMARY
    source = as_dict(data.get("origin")).get("kind", "human")
    return Kind.INJECTED if data.get("isMeta") is True or source != "human" else Kind.TURN


def is_marked(text: str) -> bool:
    """Whether the harness wrote it in the user's name."""
    return text.startswith(HARNESS_MARKS)
