"""A trial as a session of the live store, so that everything that reads sessions reads trials.

The session row carries the trial's row with it and both are written in one transaction: the store
is where a trial becomes a fact. ``trials.jsonl`` follows, and a trial that a kill kept out of it
is put there from the store.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import asdict, replace
from hashlib import sha256
from typing import Any

from warmstart.errors import InternalError
from warmstart.experiment.trial import Trial, TrialCall, TrialStatus
from warmstart.model import Kind, Message, Role
from warmstart.runners.endpoint import Conversation
from warmstart.runners.scoring import ORIGIN
from warmstart.store import WARMUP_MARK, SessionDB, mark_ending

SOURCE = "experiment"
TRIAL_SCHEMA = 1
EVERY = 1 << 40


def session_key(experiment: str, plan: str, trial: Trial) -> str:
    """The id of a trial's session: the same whenever and however often it is written."""
    task, arm, number = trial.key
    digest = sha256(repr((experiment, plan, task, arm, number)).encode("utf-8", "surrogatepass"))
    return f"exp-{experiment}-{digest.hexdigest()[:20]}"


def store_trial(db: SessionDB, trial: Trial, conversation: Conversation, plan: str) -> Trial:
    """Write session and trial in one transaction; the trial with its session's id.

    Raises:
        InternalError: the store has another session under this id.
    """
    native = session_key(trial.experiment, plan, trial)
    trial = replace(trial, session=f"{ORIGIN}:{native}")
    report = db.import_sessions([_build_row(native, trial, conversation, plan)])
    if report["errors"] or report["conflicts"]:
        problem = (report["errors"] or ["there is another session with its id"])[0]
        raise InternalError(f"the trial {trial.key!r} could not be stored: {problem}")
    return trial


def find_trials(db: SessionDB, experiment: str) -> Iterator[tuple[Trial, str]]:
    """Every trial the store has of an experiment, with the hash of the plan it was run under."""
    prefix = f"exp-{experiment}-"
    rows = db.list_sessions(SOURCE, EVERY, id_query=prefix, include_archived=True)
    for row in reversed(rows):
        record = _parse(row["model_config"])
        trial = parse_trial(record.get("_trial"))
        if trial is not None and trial.experiment == experiment:
            yield trial, str(record.get("_plan", ""))


def format_trial(trial: Trial, plan: str) -> dict[str, Any]:
    """A trial as one JSON object."""
    data = asdict(trial)
    data["calls"] = [list(call) for call in trial.calls]
    return {"schema": TRIAL_SCHEMA, "plan": plan, **data}


def parse_trial(data: Any) -> Trial | None:
    """The trial of a JSON object, None where it is none."""
    if not isinstance(data, Mapping):
        return None
    known = {name: data[name] for name in Trial.__dataclass_fields__ if name in data}
    try:
        calls = tuple(TrialCall(str(c[0]), bool(c[1]), bool(c[2])) for c in known.get("calls", ()))
        trial = Trial(**{**known, "calls": calls, "status": TrialStatus(known["status"])})
    except (KeyError, IndexError, TypeError, ValueError):
        return None
    texts = (trial.experiment, trial.task, trial.arm)
    is_sound = all(isinstance(text, str) for text in texts) and isinstance(trial.number, int)
    return trial if is_sound else None


def _build_row(native: str, trial: Trial, conversation: Conversation, plan: str) -> dict[str, Any]:
    moment = conversation.started_at
    config: dict[str, Any] = {
        "_task": trial.task,
        "_trial": format_trial(trial, plan),
        "_plan": plan,
    }
    if trial.success is not None:
        config["_reward"] = float(trial.success)
    tokens = conversation.tokens
    return {
        "id": native,
        "source": SOURCE,
        "model": trial.model or None,
        "model_config": json.dumps(config),
        "system_prompt": conversation.system or None,
        "title": f"{trial.experiment} {trial.task} {trial.arm} {trial.number}",
        "started_at": moment,
        "ended_at": moment + conversation.seconds,
        "end_reason": trial.status.value,
        "input_tokens": tokens.input,
        "output_tokens": tokens.output,
        "cache_read_tokens": tokens.cache_read,
        "cache_write_tokens": tokens.cache_write,
        "reasoning_tokens": tokens.reasoning,
        "estimated_cost_usd": trial.cost_usd,
        "messages": [
            {"timestamp": message.timestamp or moment, **row}
            for message in conversation.messages
            for row in _message_rows(message)
        ],
    }


def _message_rows(message: Message) -> Iterator[dict[str, Any]]:
    is_warmup = message.kind is Kind.WARMUP
    for result in message.results:
        ending = mark_ending(
            is_error=result.is_error, exit_code=result.exit_code, status=result.status
        )
        yield {
            "role": "tool",
            "content": result.text,
            "tool_call_id": result.call_id,
            "tool_name": result.tool,
            "effect_disposition": WARMUP_MARK if is_warmup else ending,
        }
    if message.role is Role.TOOL:
        return
    row: dict[str, Any] = {
        "role": message.role.value,
        "content": message.text,
        "reasoning": message.reasoning or None,
        "effect_disposition": WARMUP_MARK if is_warmup else None,
    }
    if message.requests:
        row["tool_calls"] = [
            {
                "id": request.id,
                "type": "function",
                "function": {
                    "name": request.tool,
                    "arguments": request.raw or json.dumps(dict(request.arguments)),
                },
            }
            for request in message.requests
        ]
    yield row


def _parse(text: Any) -> dict[str, Any]:
    try:
        data = json.loads(text) if isinstance(text, str) else text
    except ValueError:
        return {}
    return data if isinstance(data, dict) else {}
