"""Hermes: all sessions as rows of one SQLite file, compaction and family ties included."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from samples.hermes_results import NAMES, arguments, result
from samples.hermes_schema import SCHEMA, SCHEMA_VERSION
from samples.minting import Mint
from samples.steps import Compact, Delegate, Ending, Interrupt, Say, Scenario, Step, Turn, User

BASE_URL = "http://localhost:8080/v1"
PRIOR = "[PRIOR CONTEXT — for reference only; not a new message]"
SUMMARY = (
    "[END OF PRIOR CONTEXT — COMPACTION SUMMARY BELOW]\n\n[CONTEXT COMPACTION — REFERENCE ONLY]"
)
SUMMARY_END = "--- END OF CONTEXT SUMMARY — respond to the message below, not the summary above ---"

Row = dict[str, Any]


def write(scenarios: list[Scenario], folder: Path) -> None:
    """Write state.db anew."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "state.db"
    path.unlink(missing_ok=True)
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript(SCHEMA)
        connection.execute("INSERT INTO schema_version VALUES (?)", (SCHEMA_VERSION,))
        sessions: dict[str, _Session] = {}
        for scenario in scenarios:
            session = _Session(connection, scenario)
            sessions[scenario.title] = session
            parent = sessions.get(scenario.traits.get("parent", ""))
            session.write(parent)
        connection.commit()
        connection.execute("VACUUM")


class _Session:
    """The rows of one session."""

    def __init__(self, connection: sqlite3.Connection, scenario: Scenario) -> None:
        self._connection = connection
        self._scenario = scenario
        self._mint = Mint(scenario.key, scenario.started)
        started = datetime.fromtimestamp(scenario.started, UTC)
        self.id = f"{started:%Y%m%d_%H%M%S}_{self._mint.hex(6)}"
        self.rows: list[Row] = []
        self._children: list[tuple[Delegate, float]] = []

    def write(self, parent: _Session | None) -> None:
        traits = self._scenario.traits
        if parent and traits["link"] == "compression":
            self.rows += self._carry_over(parent.rows, "Earlier work on the worker, all committed.")
        for step in self._scenario.steps:
            self._step(step)
        self._insert_session(parent.id if parent else None, self._config(parent))
        _insert(self._connection, "messages", [{"session_id": self.id, **row} for row in self.rows])
        for number, (child, at) in enumerate(self._children, 1):
            self._insert_child(child, at, number)

    def _config(self, parent: _Session | None) -> dict[str, Any]:
        config: dict[str, Any] = {"max_iterations": 90, "reasoning_config": None}
        if parent and self._scenario.traits["link"] == "branch":
            config["_branched_from"] = parent.id
        if parent and self._scenario.traits["link"] == "subagent":
            config["_delegate_from"] = parent.id
        return config

    def _step(self, step: Step) -> None:
        match step:
            case User(text):
                self._mint.wait(20, 240)
                self._row("user", text)
            case Say(text):
                self._row("assistant", text, finish_reason="stop")
            case Turn():
                self._turn(step)
            case Interrupt():
                self._row("assistant", "Operation interrupted.", finish_reason="stop")
            case Compact(summary, _):
                tail = self._carry_over(self.rows, summary)
                for row in self.rows:
                    row.update(active=0, compacted=1)
                self.rows += tail
            case Delegate():
                self._delegate(step)
            case _:
                raise ValueError(f"not a thing Hermes writes down: {step!r}")

    def _row(self, role: str, content: str, **more: Any) -> None:
        row: Row = {"role": role, "content": content, "timestamp": self._mint.wait(0.5, 6)}
        self.rows.append({**row, "active": 1, "compacted": 0, **more})

    def _turn(self, turn: Turn) -> None:
        ids = [self._mint.token("call_", 16) for _ in turn.calls]
        named = [(NAMES[call.tool], arguments(call)) for call in turn.calls]
        self._ask(turn.text, ids, named)
        for ident, call in zip(ids, turn.calls, strict=True):
            if call.ending is not Ending.UNANSWERED:
                self._row("tool", result(call), tool_call_id=ident, tool_name=NAMES[call.tool])

    def _ask(self, text: str, ids: list[str], named: list[tuple[str, str]]) -> None:
        calls = [
            {
                "id": ident,
                "call_id": ident,
                "response_item_id": ident.replace("call_", "fc_"),
                "type": "function",
                "function": {"name": name, "arguments": given},
            }
            for ident, (name, given) in zip(ids, named, strict=True)
        ]
        self._row("assistant", text, tool_calls=json.dumps(calls), finish_reason="tool_calls")

    def _delegate(self, step: Delegate) -> None:
        ident = self._mint.token("call_", 16)
        given = json.dumps({"goal": step.prompt, "context": ""})
        self._ask("", [ident], [("delegate_task", given)])
        self._children.append((step, self._mint.now))
        answer = {"results": [{"task_index": 0, "status": "completed", "summary": step.answer}]}
        self._mint.wait(20, 60)
        self._row("tool", json.dumps(answer), tool_call_id=ident, tool_name="delegate_task")

    def _carry_over(self, rows: list[Row], summary: str) -> list[Row]:
        """What a compaction writes: the first request, a summary, and copies of the tail."""
        first = next(row for row in rows if row["role"] == "user")
        asked = max(i for i, row in enumerate(rows) if row.get("finish_reason") == "tool_calls")
        copied = [dict(first), *(dict(row) for row in rows[asked:])]
        prior = copied[1]["content"] or "(no text)"
        copied[1]["content"] = f"{PRIOR}\n{prior}\n\n{SUMMARY} {summary}\n\n{SUMMARY_END}"
        self._mint.wait(5, 9)
        for offset, row in enumerate(copied):
            row["timestamp"] = round(self._mint.now + offset / 1_000_000, 6)
        return copied

    def _insert_session(self, parent: str | None, config: dict[str, Any]) -> None:
        scenario, mint = self._scenario, self._mint
        turns = sum(row["role"] == "assistant" for row in self.rows)
        reason = scenario.traits.get("end_reason")
        row = {
            "id": self.id,
            "source": scenario.traits.get("source", "cli"),
            "model": scenario.model,
            "model_config": json.dumps(config),
            "parent_session_id": parent,
            "started_at": scenario.started,
            "ended_at": mint.wait(1, 30) if reason else None,
            "end_reason": reason,
            "message_count": sum(row["active"] for row in self.rows),
            "tool_call_count": sum(bool(row.get("tool_calls")) for row in self.rows),
            "input_tokens": turns * mint.count(4_000, 6_000),
            "output_tokens": turns * mint.count(90, 160),
            "cwd": scenario.cwd,
            "git_branch": scenario.branch,
            "git_repo_root": scenario.cwd,
            "billing_provider": "custom",
            "billing_base_url": BASE_URL,
            "estimated_cost_usd": 0.0,
            "cost_status": "unknown",
            "cost_source": "none",
            "title": scenario.title,
            "api_call_count": turns,
        }
        _insert(self._connection, "sessions", [row])
        used = ("model", "billing_provider", "billing_base_url", "api_call_count")
        usage = {name: row[name] for name in (*used, "input_tokens", "output_tokens")}
        times = {"first_seen": scenario.started, "last_seen": mint.now}
        _insert(
            self._connection, "session_model_usage", [{"session_id": self.id, **usage, **times}]
        )

    def _insert_child(self, step: Delegate, started: float, number: int) -> None:
        child = Scenario(
            key=f"{self._scenario.key}/subagent-{number}",
            title=f"{self._scenario.title}, subagent {number}",
            project=self._scenario.project,
            branch=self._scenario.branch,
            model=self._scenario.model,
            started=started,
            steps=(User(step.prompt), *step.steps),
            traits={"source": "subagent", "link": "subagent", "end_reason": "agent_close"},
        )
        _Session(self._connection, child).write(self)


def _insert(connection: sqlite3.Connection, table: str, rows: list[Row]) -> None:
    for row in rows:
        marks = ", ".join("?" * len(row))
        connection.execute(
            f"INSERT INTO {table} ({', '.join(row)}) VALUES ({marks})", tuple(row.values())
        )
