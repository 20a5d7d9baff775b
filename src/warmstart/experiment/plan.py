"""The plan of an experiment: what is asked, decided before the first trial and hashed.

It is a small TOML file a person can review. The hash covers everything that could change an
answer; it is in every trial and every report, so a plan changed after the first trial is seen.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from enum import StrEnum
from hashlib import sha256
from typing import Any

from warmstart.errors import UsageError
from warmstart.experiment.arms import BASELINE_ARM, ArmKind, parse_arm

SCHEMA_VERSION = 1
NAME = re.compile(r"[a-z0-9][a-z0-9._-]{0,63}")
KEY_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,127}")


class Metric(StrEnum):
    """What the verdict is about."""

    ERROR_RATE = "error_rate"
    SUCCESS = "success"
    TURNS = "turns"
    TOKENS = "tokens"
    SECONDS = "seconds"


class Direction(StrEnum):
    """Which way is better."""

    LOWER = "lower"
    HIGHER = "higher"


class Rule(StrEnum):
    """When it may be decided."""

    FIXED = "fixed"
    """One look, when all trials are in."""
    OBF = "obf"
    """O'Brien-Fleming: a few planned looks."""
    E_PROCESS = "e-process"
    """Look whenever one likes."""
    HYBRID = "hybrid"
    """E-process while running, t at the planned end, alpha split between them."""


class RunnerKind(StrEnum):
    """Who carries out a trial."""

    ENDPOINT = "endpoint"
    COMMAND = "command"
    OBSERVED = "observed"


MARGINS = {
    Metric.ERROR_RATE: 0.02,
    Metric.SUCCESS: 0.05,
    Metric.TURNS: 0.1,
    Metric.TOKENS: 0.1,
    Metric.SECONDS: 0.1,
}
"""Smallest difference worth having: in points for rates, as a share for costs."""


class PlanError(UsageError):
    """A plan that cannot be run as it is written."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Design:
    """What is compared, how often, and when it is decided."""

    arms: tuple[str, ...]
    trials: int = 1
    """Repetitions of each task in each arm."""
    control: str = "cold"
    metric: Metric = Metric.ERROR_RATE
    direction: Direction = Direction.LOWER
    margin: float = 0.02
    alpha: float = 0.05
    rule: Rule = Rule.FIXED
    looks: int = 5
    """For ``obf`` only."""
    seed: int = 1
    preamble: str = "You are a careful assistant. Use the tools to do what is asked, then answer."
    """The same system text in every arm."""
    budget: int = 2000
    """Tokens a warm-up may have."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskSet:
    """Which tasks, by content: the file is copied beside the plan."""

    count: int
    """Tasks that will run, after exclusions."""
    sha256: str
    source: str = ""
    """The file's name when it was planned."""
    split: str = "test"
    excluded: tuple[str, ...] = ()
    """Ids left out because a template of this experiment was built from them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Runner:
    """How trials are carried out. Of a key only the name of its environment variable is kept."""

    kind: RunnerKind = RunnerKind.ENDPOINT
    url: str = ""
    model: str = ""
    api: str = "openai"
    """``openai`` or ``anthropic``."""
    protocol: str = "native"
    """``native`` tool calls, or ``json`` for small models."""
    key_variable: str = ""
    temperature: float | None = None
    max_tokens: int = 1024
    """Of one answer."""
    max_turns: int = 12
    request_timeout: float = 120.0
    trial_timeout: float = 600.0
    retries: int = 5
    input_price: float | None = None
    """Dollars per million tokens."""
    output_price: float | None = None
    command: tuple[str, ...] = ()
    """For ``command``: words with ``{prompt}``, ``{prompt_file}``, ``{workdir}``, ``{start}`` …"""
    observed: str = ""
    """For ``observed``: ``live``, or a JSONL file of labelled sessions."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """An experiment before it is run."""

    name: str
    design: Design
    tasks: TaskSet
    runner: Runner = Runner()
    templates: Mapping[str, str] = field(default_factory=dict)
    """Name to id: the exact content each warm arm uses."""
    unreviewed: tuple[str, ...] = ()
    """Those of them that were drafts nobody had approved, used because someone asked for it."""
    registered: str = ""
    """When it was written, ISO 8601 in UTC; part of the hash."""

    @property
    def total(self) -> int:
        """Trials in all."""
        return self.tasks.count * len(self.design.arms) * self.design.trials


def check_plan(plan: Plan) -> Plan:
    """The plan, if it can be run.

    Raises:
        PlanError: something in it contradicts itself.
    """
    design = plan.design
    specs = [parse_arm(arm) for arm in design.arms]
    _require(NAME.fullmatch(plan.name) is not None, f"{plan.name!r} is no name: a-z 0-9 . _ -")
    alone = design.arms == (BASELINE_ARM,)
    different = len(set(design.arms)) == len(design.arms)
    _require(alone or (different and len(design.arms) >= 2), "an experiment needs two arms or more")
    _require(design.control in design.arms, f"the control {design.control!r} is none of the arms")
    _require(design.trials >= 1, "trials must be 1 or more")
    _require(design.margin >= 0, "the margin cannot be negative")
    _require(0 < design.alpha < 1, "alpha lies between 0 and 1")
    _require(2 <= design.looks <= 20, "looks must be 2 to 20")
    warm = any(spec.kind is ArmKind.WARM for spec in specs)
    _require(
        warm or not any(spec.kind is ArmKind.TOKEN_MATCHED for spec in specs),
        "token-matched needs a warm arm whose size it matches",
    )
    _check_runner(plan.runner)
    _require(
        not any(spec.variant for spec in specs) or not _names_template(plan.runner),
        "a form of a template reaches a command by {system_file} or {warmup_file} only",
    )
    return plan


def _names_template(runner: Runner) -> bool:
    """Whether a command is told a template's name and builds the warm-up itself."""
    return any(word in part for part in runner.command for word in ("{start}", "{template}"))


def _check_runner(runner: Runner) -> None:
    if runner.kind is RunnerKind.ENDPOINT:
        _require(
            runner.url.startswith(("http://", "https://")), f"{runner.url!r} is no http(s) address"
        )
        _require("@" not in runner.url.split("/")[2], "the address must not hold a password")
        _require(bool(runner.model), "the endpoint runner needs a model")
    _require(runner.api in ("openai", "anthropic"), f"no such API: {runner.api!r}")
    _require(runner.protocol in ("native", "json"), f"no such protocol: {runner.protocol!r}")
    _require(
        not runner.key_variable or KEY_NAME.fullmatch(runner.key_variable) is not None,
        "key_variable is the name of an environment variable, never a key",
    )
    _require(min(runner.max_turns, runner.max_tokens) >= 1, "limits must be 1 or more")
    _require(min(runner.request_timeout, runner.trial_timeout) > 0, "timeouts must be positive")
    _require(
        runner.kind is not RunnerKind.COMMAND or bool(runner.command), "there is no command to run"
    )


def hash_plan(plan: Plan) -> str:
    """sha256 of the plan's content, whatever the layout of its file."""
    canonical = json.dumps(to_data(plan), sort_keys=True, ensure_ascii=True)
    return sha256(canonical.encode()).hexdigest()


def to_data(plan: Plan) -> dict[str, Any]:
    """The plan as plain data, without what is left at None."""
    return {
        "schema_version": SCHEMA_VERSION,
        "name": plan.name,
        "registered": plan.registered,
        **({"unreviewed": list(plan.unreviewed)} if plan.unreviewed else {}),
        "design": _plain(plan.design),
        "tasks": _plain(plan.tasks),
        "runner": _plain(plan.runner),
        "templates": dict(sorted(plan.templates.items())),
    }


def format_plan(plan: Plan) -> str:
    """The plan as TOML, for people to review."""
    lines = [
        "# Decided before the first trial. A change after it is recorded and reported.",
        *_format_table(to_data(plan)),
    ]
    return "\n".join(lines) + "\n"


def parse_plan(text: str) -> Plan:
    """The plan of a TOML file.

    Raises:
        PlanError: it is no plan.
    """
    try:
        data = tomllib.loads(text)
        if data.get("schema_version") != SCHEMA_VERSION:
            raise PlanError(
                f"schema_version is {data.get('schema_version')!r}, not {SCHEMA_VERSION}",
                hint="warmstart experiment new",
            )
        plan = Plan(
            name=str(data.get("name", "")),
            registered=str(data.get("registered", "")),
            unreviewed=tuple(map(str, _list("unreviewed", data.get("unreviewed", [])))),
            design=_build(Design, data.get("design")),
            tasks=_build(TaskSet, data.get("tasks")),
            runner=_build(Runner, data.get("runner", {})),
            templates={str(k): str(v) for k, v in data.get("templates", {}).items()},
        )
    except (tomllib.TOMLDecodeError, TypeError, ValueError, AttributeError) as error:
        raise PlanError(f"plan.toml cannot be read: {error}", hint="restore the file") from error
    return check_plan(plan)


def compare_plans(old: Plan, new: Plan) -> list[str]:
    """What differs, one line each: ``design.trials: 3 -> 5``."""
    before, after = _flatten(to_data(old)), _flatten(to_data(new))
    return [
        f"{name}: {before.get(name)!r} -> {after.get(name)!r}"
        for name in sorted({*before, *after})
        if before.get(name) != after.get(name)
    ]


def _require(condition: bool, problem: str) -> None:  # noqa: FBT001 - reads as an assertion
    if not condition:
        raise PlanError(problem, hint="warmstart experiment new --help")


def _plain(section: Any) -> dict[str, Any]:
    values = {one.name: getattr(section, one.name) for one in fields(section)}
    return {
        name: list(value) if isinstance(value, tuple) else _plain_value(value)
        for name, value in values.items()
        if value is not None
    }


def _plain_value(value: Any) -> Any:
    return value.value if isinstance(value, StrEnum) else value


_ENUMS: dict[str, type[StrEnum]] = {
    "metric": Metric, "direction": Direction, "rule": Rule, "kind": RunnerKind,
}  # fmt: skip


def _build(kind: type[Any], data: Any) -> Any:
    if not isinstance(data, dict):
        raise ValueError(f"there is no section for {kind.__name__}")  # noqa: TRY004 - one kind of complaint
    known = {one.name: one.type for one in fields(kind)}
    unknown = sorted(set(data) - set(known))
    if unknown:
        raise ValueError(f"unknown entry {unknown[0]!r}")
    return kind(**{name: _convert(name, str(known[name]), data[name]) for name in data})


def _convert(name: str, kind: str, value: Any) -> Any:
    if name in _ENUMS:
        return _ENUMS[name](value)
    if kind.startswith("tuple"):
        return tuple(str(item) for item in _list(name, value))
    if kind.startswith("float"):
        return float(value)
    if kind.startswith("int"):
        if isinstance(value, bool) or not isinstance(value, int):
            raise ValueError(f"{name} must be a whole number")
        return value
    return str(value)


def _list(name: str, value: Any) -> list[Any]:
    if not isinstance(value, list):
        raise ValueError(f"{name} must be a list")  # noqa: TRY004 - one kind of complaint
    return value


def _flatten(data: Mapping[str, Any]) -> dict[str, Any]:
    flat: dict[str, Any] = {}
    for name, value in data.items():
        if isinstance(value, dict):
            flat |= {f"{name}.{inner}": item for inner, item in value.items()}
        else:
            flat[name] = value
    return flat


def _format_table(data: Mapping[str, Any]) -> list[str]:
    """TOML of one level of tables: all that a plan needs."""
    lines = [f"{name} = {_format(value)}" for name, value in data.items() if _is_plain(value)]
    for name, value in data.items():
        if not _is_plain(value):
            lines += ["", f"[{name}]"]
            lines += [f"{_key(inner)} = {_format(item)}" for inner, item in value.items()]
    return lines


def _is_plain(value: Any) -> bool:
    return not isinstance(value, dict)


def _key(name: str) -> str:
    return name if re.fullmatch(r"[A-Za-z0-9_-]+", name) else _format(name)


def _format(value: Any) -> str:
    if isinstance(value, list):
        return f"[{', '.join(_format(item) for item in value)}]"
    if isinstance(value, str):
        # JSON's escapes are TOML's, but for DEL, and a lone surrogate has no place in either.
        text = value.encode("utf-8", "replace").decode()
        return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007F")
    return json.dumps(value)
