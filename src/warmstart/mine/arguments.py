"""How a tool is really called: which arguments, which kinds of value, and which of them fail."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from warmstart.mine.trivial import is_trivial
from warmstart.mine.volatile import is_absolute, kind_of_value
from warmstart.model import ArgumentUse, Call, Session, Status, ToolArguments

MIN_CALLS = 5
MAX_TOOLS = 12
MAX_ARGUMENTS = 8
MAX_SHAPES = 5
ENUM_VALUES, ENUM_USES, ENUM_CHARS = 6, 3, 24
LONG_CHARS = 120


@dataclass(slots=True)
class ArgumentTally:
    """One argument of one tool."""

    shapes: Counter[str] = field(default_factory=Counter)
    values: Counter[str] = field(default_factory=Counter)
    """Short single words, as long as there are few different ones."""
    sessions: dict[str, set[str]] = field(default_factory=dict)
    ok: int = 0
    errors: int = 0


@dataclass(slots=True)
class ToolTally:
    """One tool."""

    calls: int = 0
    arguments: dict[str, ArgumentTally] = field(default_factory=dict)


def count_arguments(sessions: Iterable[Session]) -> dict[str, ToolTally]:
    """Every judged call's arguments, by tool."""
    found: dict[str, ToolTally] = {}
    for session in sessions:
        for call in session.calls:
            judged = call.outcome.status in (Status.OK, Status.ERROR)
            if judged and not call.request.raw and not is_trivial(call.tool):
                _add(found.setdefault(call.tool, ToolTally()), call, session.id)
    return found


def list_arguments(tallies: Mapping[str, ToolTally]) -> tuple[ToolArguments, ...]:
    """The most used tools with their most used arguments."""
    often = [tool for tool in tallies if tallies[tool].calls >= MIN_CALLS]
    often.sort(key=lambda tool: (-tallies[tool].calls, tool))
    return tuple(
        ToolArguments(
            tool=tool,
            calls=tallies[tool].calls,
            arguments=tuple(_list_uses(tallies[tool].arguments)),
        )
        for tool in often[:MAX_TOOLS]
    )


def shape_of(value: Any) -> str:
    """The kind of a value, in a word."""
    if isinstance(value, bool):
        return f"bool:{str(value).lower()}"
    if value is None:
        return "null"
    if isinstance(value, str):
        return _shape_of_text(value)
    for kind, name in ((int, "int"), (float, "float"), (Mapping, "object"), (list, "list")):
        if isinstance(value, kind):
            return name
    return "other"


def _shape_of_text(value: str) -> str:
    if not value:
        return "text:empty"
    kind = kind_of_value(value) if len(value) < 400 else None
    if kind == "path":
        return "path:absolute" if is_absolute(value) else "path:relative"
    if kind is not None:
        return kind
    if "\n" in value:
        return "text:lines"
    return "text:long" if len(value) > LONG_CHARS else "text:short"


def _add(tally: ToolTally, call: Call, session: str) -> None:
    tally.calls += 1
    for key, value in call.request.arguments.items():
        one = tally.arguments.setdefault(str(key), ArgumentTally())
        shape = shape_of(value)
        one.shapes[shape] += 1
        if shape == "text:short":
            _add_word(one, value, session)
        if call.outcome.status is Status.OK:
            one.ok += 1
        else:
            one.errors += 1


def _add_word(one: ArgumentTally, value: str, session: str) -> None:
    """Keep count of single words, until there are too many different ones to be a closed set."""
    if len(value) > ENUM_CHARS or " " in value:
        return
    if len(one.values) <= 4 * ENUM_VALUES or value in one.values:
        one.values[value] += 1
        one.sessions.setdefault(value, set()).add(session)


def _list_uses(arguments: Mapping[str, ArgumentTally]) -> Iterable[ArgumentUse]:
    names = sorted(arguments, key=lambda name: (-arguments[name].shapes.total(), name))
    for name in names[:MAX_ARGUMENTS]:
        one = arguments[name]
        shapes = sorted(_shapes(one).items(), key=lambda pair: (-pair[1], pair[0]))[:MAX_SHAPES]
        yield ArgumentUse(
            name=name,
            uses=one.shapes.total(),
            shapes=dict(shapes),
            ok=one.ok,
            errors=one.errors,
        )


def _shapes(one: ArgumentTally) -> dict[str, int]:
    """Shapes, with a small closed set of words spelled out where more than one session used it."""
    shapes = dict(one.shapes)
    common = {
        value: uses
        for value, uses in one.values.items()
        if uses >= ENUM_USES and len(one.sessions[value]) > 1
    }
    if common and len(one.values) <= ENUM_VALUES:
        shapes["text:short"] -= sum(common.values())
        shapes.update({f"enum:{value}": uses for value, uses in common.items()})
    return {shape: uses for shape, uses in shapes.items() if uses > 0}
