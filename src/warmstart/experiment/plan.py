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

import msgspec
import tomli_w

from warmstart.errors import UsageError
from warmstart.experiment.arms import BASELINE_ARM, ArmKind, parse_arm
from warmstart.stats import StoppingRule

SCHEMA_VERSION = 2
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
    rule: StoppingRule = StoppingRule.FIXED
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
    _require(
        NAME.fullmatch(plan.name) is not None,
        f"{plan.name!r} is not a valid name; use a-z 0-9 . _ -",
    )
    alone = design.arms == (BASELINE_ARM,)
    different = len(set(design.arms)) == len(design.arms)
    _require(alone or (different and len(design.arms) >= 2), "an experiment needs two arms or more")
    _require(
        design.control in design.arms, f"the control {design.control!r} is not one of the arms"
    )
    _require(design.trials >= 1, "trials must be 1 or more")
    _require(design.margin >= 0, "the margin cannot be negative")
    _require(0 < design.alpha < 1, "alpha lies between 0 and 1")
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
    """Whether a command receives a template's name and builds the warm-up itself."""
    return any(word in part for part in runner.command for word in ("{start}", "{template}"))


def _check_runner(runner: Runner) -> None:
    if runner.kind is RunnerKind.ENDPOINT:
        _require(
            runner.url.startswith(("http://", "https://")),
            f"{runner.url!r} is not an http(s) address",
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
    plain = msgspec.to_builtins(plan)
    sections = {name: _as_section(plain[name]) for name in ("design", "tasks", "runner")}
    return {
        "schema_version": SCHEMA_VERSION,
        "name": plan.name,
        "registered": plan.registered,
        **({"unreviewed": list(plan.unreviewed)} if plan.unreviewed else {}),
        **sections,
        "templates": dict(sorted(plan.templates.items())),
    }


def _as_section(values: dict[str, Any]) -> dict[str, Any]:
    """Values as TOML has them: lists for tuples, and no entry for None."""
    return {
        name: list(value) if isinstance(value, tuple) else value
        for name, value in values.items()
        if value is not None
    }


def format_plan(plan: Plan) -> str:
    """The plan as TOML, for people to review."""
    intro = "# Decided before the first trial. A change after it is recorded and reported.\n"
    return intro + tomli_w.dumps(_replace_surrogates(to_data(plan)))


def _replace_surrogates(value: Any) -> Any:
    """The same data in valid UTF-8: half a surrogate pair has no place in a file."""
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode()
    if isinstance(value, dict):
        return {_replace_surrogates(k): _replace_surrogates(v) for k, v in value.items()}
    return [_replace_surrogates(item) for item in value] if isinstance(value, list) else value


def parse_plan(text: str) -> Plan:
    """The plan of a TOML file.

    Raises:
        PlanError: the file is not a plan, or its plan cannot be run.
    """
    try:
        data = tomllib.loads(text)
        version = data.pop("schema_version", None)
        if version != SCHEMA_VERSION:
            raise PlanError(
                f"schema_version is {version!r}, not {SCHEMA_VERSION}",
                hint="warmstart experiment new",
            )
        plan = msgspec.convert(data, Plan)
        for name, kind in (("", Plan), ("design", Design), ("tasks", TaskSet), ("runner", Runner)):
            _refuse_unknown(name, kind, data.get(name, {}) if name else data)
    except (tomllib.TOMLDecodeError, msgspec.ValidationError) as error:
        raise PlanError(f"plan.toml is not a valid plan: {error}", hint="restore it") from error
    return check_plan(plan)


def _refuse_unknown(section: str, kind: type[Any], data: Mapping[str, Any]) -> None:
    unknown = sorted(set(data) - {field.name for field in fields(kind)})
    if unknown:
        where = f" in [{section}]" if section else ""
        raise PlanError(f"plan.toml has an unknown entry {unknown[0]!r}{where}", hint="remove it")


def compare_plans(old: Plan, new: Plan) -> list[str]:
    """What differs, one line each: ``design.trials: 3 -> 5``."""
    before, after = _flatten(to_data(old)), _flatten(to_data(new))
    return [
        f"{name}: {before.get(name)!r} -> {after.get(name)!r}"
        for name in sorted({*before, *after})
        if before.get(name) != after.get(name)
    ]


def _flatten(data: Mapping[str, Any]) -> dict[str, Any]:
    flat: dict[str, Any] = {}
    for name, value in data.items():
        if isinstance(value, dict):
            flat |= {f"{name}.{inner}": item for inner, item in value.items()}
        else:
            flat[name] = value
    return flat


def _require(condition: bool, problem: str) -> None:  # noqa: FBT001 - reads as an assertion
    if not condition:
        raise PlanError(problem, hint="warmstart experiment new --help")
