"""Sessions with a secret in every field a transcript has, in several agents' own formats.

Every secret is a random string in a vendor's format; none was ever issued. ``Planter`` remembers
what it planted, and ``find_leaks`` says what of it, or what piece of it, stands in some output.
"""

from __future__ import annotations

import json
import random
import string
import uuid
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, NamedTuple

from support.hermes_db import answers, asks, make_database, user

ALNUM = string.ascii_letters + string.digits
WORD = ALNUM + "_-"
HEX = "0123456789abcdef"
PIECE = 8
FIRST, SECOND = (f"claude_code:{uuid.UUID(int=number)}" for number in (77, 78))
"""The first sessions that ``write_claude_code`` writes."""
Step = tuple[str, dict[str, Any], str, bool]
SHAPES: dict[str, tuple[str | tuple[str, int], ...]] = {
    "github_pat": ("gh" + "p_", (ALNUM, 36)),
    "gitlab_pat": ("gl" + "pat-", (WORD, 20)),
    "anthropic": ("sk-" + "ant-api03-", (WORD, 93), "AA"),
    "openai": ("sk-", (ALNUM, 20), "T3Blbk" + "FJ", (ALNUM, 20)),
    "aws_access_key": ("AK" + "IA", (string.ascii_uppercase + "234567", 16)),
    "gcp_api_key": ("AI" + "za", (WORD, 35)),
    "slack_bot": ("xo" + "xb-", (string.digits, 12), "-", (string.digits, 12), "-", (ALNUM, 24)),
    "stripe": ("sk_" + "live_", (ALNUM, 24)),
    "telegram": ((string.digits[1:], 10), ":A" + "A", (WORD, 33)),
    "npm": ("npm" + "_", (ALNUM, 36)),
    "sendgrid": ("S" + "G.", (WORD, 22), ".", (WORD, 43)),
    "openrouter": ("sk-" + "or-v1-", (HEX, 64)),
    "terraform": ((ALNUM, 14), ".atlas" + "v1.", (WORD, 65)),
    "huggingface": ("h" + "f_", (string.ascii_letters, 34)),
    "discord_bot": ("MT", (ALNUM, 22), ".", (WORD, 6), ".", (WORD, 38)),
    "databricks": ("da" + "pi", (HEX, 32)),
}  # fmt: skip
PEM = ("-----BEGIN RSA PRIVATE" + " KEY-----\n", "-----END RSA PRIVATE" + " KEY-----")


class Planted(NamedTuple):
    """A secret and where it was put."""

    value: str
    where: str
    fixed: str
    """Another one of its kind: what both have in common is the format, not the secret."""


class Planter:
    """Makes secrets and remembers them."""

    def __init__(self, seed: int) -> None:
        self._rng = random.Random(seed)  # noqa: S311 - repeatable on purpose
        self._turn = seed
        self.planted: list[Planted] = []

    def self_telling(self, where: str, kind: str = "") -> str:
        """A secret that a vendor's format gives away wherever it stands."""
        self._turn += 1
        parts = SHAPES[kind or list(SHAPES)[self._turn % len(SHAPES)]]
        return self._keep(where, lambda: "".join(map(self._make, parts)))

    def random(self, where: str, length: int = 32) -> str:
        """One that only its surroundings give away."""
        return self._keep(where, lambda: self._make((ALNUM, length)))

    def pem(self, where: str) -> str:
        """A private key."""

        def make() -> str:
            body = "\n".join(self._make((ALNUM + "+/", 64)) for _ in range(20))
            return f"{PEM[0]}{body}\n{PEM[1]}"

        return self._keep(where, make)

    def _keep(self, where: str, make: Callable[[], str]) -> str:
        value = make()
        self.planted.append(Planted(value, where, make()))
        return value

    def _make(self, part: str | tuple[str, int]) -> str:
        if isinstance(part, str):
            return part
        return "".join(self._rng.choices(part[0], k=part[1]))


def find_leaks(planted: Iterable[Planted], *outputs: str | bytes) -> list[str]:
    """Where each secret was planted of which a piece of eight characters came out."""
    texts = [text.decode("utf-8", "replace") if isinstance(text, bytes) else text
             for text in outputs]  # fmt: skip
    texts += [text.replace("\\n", "\n").replace("\\", "") for text in texts]
    seen = {text[at : at + PIECE] for text in texts for at in range(len(text) - PIECE + 1)}
    return [f"{one.where}: {piece}" for one in planted for piece in _pieces(one) & seen][:20]


def _pieces(one: Planted) -> set[str]:
    """Every stretch of eight characters that is not part of the format."""
    every = {one.value[at : at + PIECE] for at in range(len(one.value) - PIECE + 1)}
    return {piece for piece in every if piece not in one.fixed}


def make_steps(plant: Planter, root: str, number: int) -> list[Step]:
    """Calls with a secret in every place; the paths differ from session to session."""
    p = plant.self_telling
    src = f"{root}/src/{p('folder name')}"
    path = f"{src}/cart{number}.py"
    nested = json.dumps({"out": json.dumps({"deep": [p("JSON in JSON")]})})
    wrong = {"file_path": path, "old_string": f"k = '{p('old text')}'", "new_string": "k = 1"}
    right = {**wrong, "old_string": f"key = '{p('repaired text')}'  # cents"}
    sh = "Bash"
    return [
        ("Read", {"file_path": path}, f"1 token = '{p('file content')}'\n2 pass\n3 pass", False),
        ("Edit", wrong, f"String to replace not found in file: {p('error text')}", True),
        ("Read", {"file_path": path, "limit": 40}, "1 key = read()  # cents", False),
        ("Edit", right, f"The file {path} has been updated.", False),
        (sh, {"command": f"curl -H 'Authorization: Bearer {p('header')}' http://api.local/v1"},
         f"HTTP 200\nset-cookie: sid={p('cookie')}", False),
        (sh, {"command": f"export SERVICE_TOKEN={plant.random('shell variable')} && make test"},
         "12 passed in 0.31s", False),
        (sh, {"command": f"psql postgres://svc:{plant.random('address')}@db/app -c 'select 1'"},
         "1", False),
        (sh, {"command": f"deploy --api-key {plant.random('flag')} --region eu"},
         f"deployed with {p('output')}\n" + "line\n" * 12 + f"tail {p('end of output')}", False),
        (f"mcp__{p('tool name')}__query", {p("argument name"): "x", "payload": nested},
         json.dumps({"rows": [{"api_key": plant.random("JSON result")}], "note": nested}), False),
        (sh, {"command": f"git commit -m 'use {p('commit message')}'"},
         f"[main 3f2c1d9] use it\nAuthor: Jo <{plant.random('author', 16)}@example.net>", False),
        (sh, {"command": f"cat {root}/notes.txt"}, f"notes\n{plant.pem('private key')}\nend", False),
        (sh, {"command": f"pytest -q {root}/tests -k {p('test name')}"}, "3 passed in 0.1s", False),
        ("Grep", {"pattern": p("pattern"), "path": f"{root}/src"}, f"{path}:1:{p('hit')}", False),
        ("WebFetch", {"url": f"https://x.local/a?access_token={plant.random('query')}"},
         f"page {p('page')}", False),
    ]  # fmt: skip


def make_conversation(plant: Planter, root: str, number: int) -> list[dict[str, Any]]:
    """Turns as plain records: user, call (tool, arguments, result, failed), agent."""
    p = plant.self_telling
    turns: list[dict[str, Any]] = [
        {"user": f"Fix the cart in the shop, the key is {p('first message')} and round totals."}
    ]
    for _ in range(3):
        turns += [{"call": step} for step in make_steps(plant, root, number)]
        turns.append({"agent": f"Done with {p('closing words')}, totals are rounded once.",
                      "thought": f"I saw {p('reasoning')}"})  # fmt: skip
        turns.append({"user": f"No, use {p('correction')} instead, and always run the tests."})
    turns.append({"agent": "All tests pass now."})
    return turns


def write_claude_code(folder: Path, plant: Planter, count: int = 4) -> Path:
    """Claude Code's own folder."""
    for number in range(count):
        root = f"/home/user{number}/shop"
        home = folder / "projects" / f"-home-user{number}-shop"
        home.mkdir(parents=True, exist_ok=True)
        name = str(uuid.UUID(int=number + 77))
        writer = _ClaudeWriter(name, root, plant)
        for turn in make_conversation(plant, root, number):
            writer.add(turn)
        title = {"type": "ai-title", "aiTitle": f"Cart {plant.self_telling('title')}",
                 "sessionId": name}  # fmt: skip
        lines = [json.dumps(line) for line in [*writer.lines, title]]
        (home / f"{name}.jsonl").write_text("\n".join(lines) + "\n")
    return folder


class _ClaudeWriter:
    def __init__(self, name: str, root: str, plant: Planter) -> None:
        self.lines: list[dict[str, Any]] = []
        self._model = f"claude-{plant.self_telling('model')}"
        self._base = {"isSidechain": False, "cwd": root, "sessionId": name, "version": "2.1.0",
                      "gitBranch": plant.self_telling("branch")}  # fmt: skip
        self._last: str | None = None

    def add(self, turn: dict[str, Any]) -> None:
        if "user" in turn:
            self._put("user", {"role": "user", "content": turn["user"]})
        elif "agent" in turn:
            content = [{"type": "thinking", "thinking": turn.get("thought", "")},
                       {"type": "text", "text": turn["agent"]}]  # fmt: skip
            self._say(content)
        else:
            tool, arguments, result, failed = turn["call"]
            call = f"toolu_{len(self.lines):04}"
            self._say([{"type": "tool_use", "id": call, "name": tool, "input": arguments}])
            block = {"type": "tool_result", "tool_use_id": call, "content": result,
                     "is_error": failed}  # fmt: skip
            self._put("user", {"role": "user", "content": [block]})

    def _say(self, content: list[dict[str, Any]]) -> None:
        message = {"id": f"msg_{len(self.lines)}", "type": "message", "role": "assistant",
                   "model": self._model, "content": content}  # fmt: skip
        self._put("assistant", message)

    def _put(self, kind: str, message: dict[str, Any]) -> None:
        own = str(uuid.uuid5(uuid.NAMESPACE_OID, f"{self._base['sessionId']}{len(self.lines)}"))
        stamp = f"2026-10-12T09:{len(self.lines) // 60:02}:{len(self.lines) % 60:02}.000Z"
        self.lines.append({**self._base, "parentUuid": self._last, "type": kind, "uuid": own,
                           "timestamp": stamp, "message": message})  # fmt: skip
        self._last = own


def write_hermes(folder: Path, plant: Planter, count: int = 3) -> Path:
    """Hermes' database."""
    sessions, rows = {}, {}
    for number in range(count):
        messages: list[dict[str, Any]] = []
        for turn in make_conversation(plant, f"/home/user{number}/shop", number):
            messages += _hermes_rows(turn, len(messages))
        stamped = [{**row, "timestamp": 1_790_000_000.0 + at} for at, row in enumerate(messages)]
        sessions[f"2026_s{number}"] = stamped
        rows[f"2026_s{number}"] = {
            "title": f"Cart {plant.self_telling('title')}",
            "model": f"m-{plant.self_telling('model')}",
            "system_prompt": f"You may use {plant.self_telling('system prompt')}.",
            "cwd": f"/srv/{plant.self_telling('project')}",
        }
    return make_database(folder / "state.db", sessions, rows)


def _hermes_rows(turn: dict[str, Any], at: int) -> list[dict[str, Any]]:
    if "user" in turn:
        return [user(turn["user"])]
    if "agent" in turn:
        return [{"role": "assistant", "content": turn["agent"]}]
    tool, arguments, result, failed = turn["call"]
    names = {"Bash": "terminal", "Read": "read_file", "Edit": "patch", "Grep": "search_files"}
    text = {"error": result} if failed else {"output": result, "exit_code": 0, "error": None}
    call = f"call_{at}"
    return [asks((call, names.get(tool, tool), arguments)), answers(call, json.dumps(text))]


def write_codex(folder: Path, plant: Planter, count: int = 3) -> Path:
    """Codex's folder of rollouts."""
    day = folder / "sessions" / "2026" / "10" / "12"
    day.mkdir(parents=True, exist_ok=True)
    for number in range(count):
        root, name = f"/home/user{number}/shop", str(uuid.UUID(int=number + 990))
        items: list[tuple[str, dict[str, Any]]] = [
            ("session_meta", {"id": name, "cwd": root, "cli_version": "0.98.0", "source": "cli",
             "base_instructions": {"text": f"Use {plant.self_telling('instructions')}"},
             "git": {"branch": plant.self_telling("branch")}}),
            ("turn_context", {"cwd": root, "model": f"gpt-{plant.self_telling('model')}"}),
        ]  # fmt: skip
        for turn in make_conversation(plant, root, number):
            items += _codex_items(turn, len(items))
        lines = [
            json.dumps({"timestamp": f"2026-10-12T10:{at // 60:02}:{at % 60:02}.000Z",
                        "type": kind, "payload": payload})
            for at, (kind, payload) in enumerate(items)
        ]  # fmt: skip
        (day / f"rollout-2026-10-12T10-00-0{number}-{name}.jsonl").write_text(
            "\n".join(lines) + "\n"
        )
    return folder


def _codex_items(turn: dict[str, Any], at: int) -> list[tuple[str, dict[str, Any]]]:
    item = "response_item"
    if "user" in turn:
        content = [{"type": "input_text", "text": turn["user"]}]
        return [(item, {"type": "message", "role": "user", "content": content}),
                ("event_msg", {"type": "user_message", "message": turn["user"]})]  # fmt: skip
    if "agent" in turn:
        content = [{"type": "output_text", "text": turn["agent"]}]
        return [(item, {"type": "message", "role": "assistant", "content": content})]
    tool, arguments, result, failed = turn["call"]
    if tool == "Bash":
        tool, arguments = "exec_command", {"cmd": arguments["command"]}
    code = 1 if failed else 0
    output = f"Chunk ID: ab12cd\nProcess exited with code {code}\nOutput:\n{result}"
    call = f"call_{at}"
    return [
        (item, {"type": "function_call", "name": tool, "arguments": json.dumps(arguments),
                "call_id": call}),
        (item, {"type": "function_call_output", "call_id": call, "output": output}),
    ]  # fmt: skip


def write_openai_chat(path: Path, plant: Planter, count: int = 3) -> Path:
    """Conversations as OpenAI's chat API takes them, one per line."""
    lines = []
    for number in range(count):
        messages: list[dict[str, Any]] = [
            {"role": "system", "content": f"The key is {plant.self_telling('system message')}."}
        ]
        for turn in make_conversation(plant, f"/home/user{number}/shop", number):
            messages += _openai_messages(turn, len(messages))
        lines.append(json.dumps({"messages": messages, "model": plant.self_telling("model")}))
    path.write_text("\n".join(lines) + "\n")
    return path


def _openai_messages(turn: dict[str, Any], at: int) -> list[dict[str, Any]]:
    if "user" in turn:
        return [{"role": "user", "content": turn["user"]}]
    if "agent" in turn:
        return [{"role": "assistant", "content": turn["agent"]}]
    tool, arguments, result, failed = turn["call"]
    call, code = f"call_{at}", 1 if failed else 0
    function = {"name": tool, "arguments": json.dumps(arguments)}
    return [
        {"role": "assistant", "content": None,
         "tool_calls": [{"id": call, "type": "function", "function": function}]},
        {"role": "tool", "tool_call_id": call, "content": f"{result}\n[exit code: {code}]"},
    ]  # fmt: skip
