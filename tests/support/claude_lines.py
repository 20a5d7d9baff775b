"""Lines of Claude Code files, usual and odd, and strategies that make whole files of them."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import strategies as st

SESSION = "11111111-aaaa-4bbb-8ccc-000000000001"
OTHER = "22222222-aaaa-4bbb-8ccc-000000000002"
MODEL = "claude-acme-1"
Line = dict[str, Any]


def stamp(number: int) -> str:
    return f"2026-03-01T10:{number // 60 % 60:02d}:{number % 60:02d}.000Z"


def name(number: int) -> str:
    """The uuid of a line."""
    return f"{number:08d}-0000-4000-8000-000000000000"


def line(kind: str, number: int, **fields: Any) -> Line:
    """A line that follows the one before it."""
    return {
        "parentUuid": name(number - 1) if number else None,
        "isSidechain": False,
        "cwd": "/home/dev/shop",
        "sessionId": SESSION,
        "version": "2.1.0",
        "gitBranch": "main",
        "type": kind,
        "uuid": name(number),
        "timestamp": stamp(number),
        **fields,
    }


def said(number: int, content: Any, **fields: Any) -> Line:
    return line("user", number, message={"role": "user", "content": content}, **fields)


def replied(number: int, *blocks: Any, answer: str = "", **fields: Any) -> Line:
    message = {
        "id": answer or f"msg_{number:020d}",
        "role": "assistant",
        "model": fields.pop("model", MODEL),
        "content": [{"type": "text", "text": b} if isinstance(b, str) else b for b in blocks],
        "usage": {"input_tokens": 10, "output_tokens": number, "cache_read_input_tokens": 100},
    }
    return line("assistant", number, message=message, **fields)


def use(call: Any, tool: Any = "Bash", given: Any = None) -> Line:
    given = {"command": "make test"} if given is None else given
    return {"type": "tool_use", "id": call, "name": tool, "input": given}


def got(number: int, call: Any, text: Any = "ok", **fields: Any) -> Line:
    block = {"type": "tool_result", "tool_use_id": call, "content": text}
    if "is_error" in fields:
        block["is_error"] = fields.pop("is_error")
    return said(number, [block], **fields)


def progress(number: int, **fields: Any) -> Line:
    """As it is written: what it shows, then its own place."""
    whole = line("progress", number, data={"type": "hook_progress"}, **fields)
    return {**{key: whole[key] for key in whole if key not in ("uuid", "timestamp")},
            "uuid": whole["uuid"], "timestamp": whole["timestamp"]}  # fmt: skip


def encode(data: Any) -> bytes:
    return json.dumps(data, separators=(",", ":")).encode() + b"\n"


COMMANDS = (
    "ls", "make test | tail -5", "grep -rn x src", "git status; echo $?", "make || true", "diff a b",
)  # fmt: skip
PRINTED = (
    "", "ok", "Exit code 3\nboom", "2 passed", "1 failed, 2 passed", "Error: no such file",
    "The user doesn't want to proceed with this tool use.", "x: command not found",
    "exited with code 2", "Traceback (most recent call last):\nValueError: x", '{"a": 1}',
    [{"type": "text", "text": "seen"}, {"type": "image"}], None, 5,
)  # fmt: skip
TEXTS = (
    "Please run the tests.", "No, that is wrong.", "<system-reminder>be quick</system-reminder>",
    "/clear", "Why?", " ", "[Request interrupted by user]",
)  # fmt: skip
_CALLS = st.integers(0, 5).map(lambda number: f"toolu_{number}")
_USES = st.one_of(
    st.builds(lambda call, command: use(call, "Bash", {"command": command}),
              _CALLS, st.sampled_from(COMMANDS)),
    st.builds(lambda call, path: use(call, "Read", {"file_path": path}),
              _CALLS, st.sampled_from(["a.py", "b.py", "https://x.example"])),
    st.builds(use, _CALLS, st.sampled_from(["Grep", "mcp__db__sql", "PowerShell"]),
              st.sampled_from([{"pattern": "x"}, {"url": "https://x.example"}, {}])),
)  # fmt: skip
_ODD_USES = st.builds(
    use,
    st.sampled_from([None, "", 7, "call_warm_1"]),
    st.sampled_from(["Bash", "Read", None, ""]),
    st.sampled_from([{"command": "ls"}, "ls", '{"command": "ls"}', 5, {"n": 2**70}]),
)
_DETAILS = st.sampled_from([
    {}, {"toolUseResult": {"stdout": "", "interrupted": True}}, {"toolUseResult": "Error: x"},
    {"toolDenialKind": "user"}, {"toolDenialKind": "interrupted"}, {"isMeta": True},
    {"sessionId": OTHER}, {"forkedFrom": {"sessionId": OTHER}}, {"timestamp": None},
    {"timestamp": "2027-01-01T00:00:00+02:00"}, {"timestamp": 1_800_000_000_000},
])  # fmt: skip


def _sometimes(usual: Any, odd: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    """The usual one four times out of five."""
    return st.integers(0, 4).flatmap(lambda number: odd if number == 4 else usual)


@st.composite
def _line(draw: st.DrawFn, number: int, *, odd: bool) -> Line:
    fields = draw(_sometimes(st.just({}), _DETAILS)) if odd else {}
    kind = draw(st.sampled_from(["reply", "reply", "result", "result", "user", "progress", "note"]))
    if kind == "reply":
        uses = _sometimes(_USES, _ODD_USES) if odd else _USES
        blocks = draw(st.lists(st.one_of(uses, st.just("I run it.")), max_size=3))
        answer = draw(st.sampled_from(["", "", "msg_00000000000000000001", "short"]))
        return replied(number, *blocks, answer=answer, **fields)
    if kind == "result":
        flag = draw(st.sampled_from([{}, {"is_error": True}, {"is_error": False}]))
        call = draw(_sometimes(_CALLS, st.sampled_from([None, "", 7]))) if odd else draw(_CALLS)
        return got(number, call, draw(st.sampled_from(PRINTED)), **flag, **fields)
    if kind == "user":
        return said(number, draw(st.sampled_from(TEXTS)), **fields)
    if kind == "progress":
        return progress(number, **fields)
    return draw(_notes(number))


def _notes(number: int) -> st.SearchStrategy[Line]:
    """Lines without a message, and messages that are none of the usual ones."""
    queued = {"type": "queued_command", "prompt": "And then?", "commandMode": "prompt"}
    return st.sampled_from([
        line("system", number, subtype="compact_boundary", compactMetadata={"trigger": "auto"}),
        said(number, "All so far.", isCompactSummary=True),
        line("attachment", number, attachment=queued),
        {"type": "custom-title", "customTitle": "Cart", "sessionId": SESSION},
        replied(number, "API error", model="<synthetic>"),
        replied(number, "A try", model="claude-acme-2", costUSD=0.25),
        said(number, "From the side.", isSidechain=True, agentId="abc"),
        said(number, "Once more.", parentUuid=name(0)),
        said(number, "Begin again.", parentUuid=None),
        said(number, "Implement the plan.", parentUuid=None, planContent="..."),
        said(number, 5),
        line("user", number, message="none"),
        {"type": "file-history-snapshot", "messageId": "x", "snapshot": {}},
    ])  # fmt: skip


@st.composite
def files(draw: st.DrawFn, *, odd: bool = True) -> list[Line]:
    """A whole file; now and then a line stands in it twice."""
    size = draw(st.integers(1, 14))
    lines = [draw(_line(number, odd=odd)) for number in range(size)]
    again = draw(st.integers(0, 3 * size))
    return lines + lines[again : again + 1]
