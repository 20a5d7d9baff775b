"""What differs between two templates, pattern by pattern.

Patterns are matched by what they are about (a tool and its arguments, an error and its repair), so
a changed count is a change and a moved pattern is none.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from warmstart.model import Example, Guidance, Marker, Recovery, Template, ToolArguments
from warmstart.template.canonical import encode_canonical, template_to_dict


class ChangeKind(StrEnum):
    """How something differs."""

    ADDED = "added"
    REMOVED = "removed"
    CHANGED = "changed"


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """One difference; values that are not text are shown as JSON."""

    kind: ChangeKind
    section: str
    """The field of the template: ``examples``."""
    what: str
    """Which one of it: ``patch {"path":"<path>"}``; empty for a field that is one value."""
    before: str = ""
    after: str = ""


SINGLE = ("name", "description", "task_type", "system_context")
TAUGHT = ("description", "system_context", "guidance", "examples", "recoveries", "markers")
"""Sections that reach an agent, or the person who chooses."""
SETS = ("tags", "anchors", "preferred_tools", "domains")


def diff_templates(old: Template, new: Template) -> list[Change]:
    """Every difference, in the order of the fields; equal templates have none."""
    before, after = template_to_dict(old), template_to_dict(new)
    changes: list[Change] = []
    for section in SINGLE:
        changes += _diff_value(section, "", before.get(section), after.get(section))
    for section in SETS:
        changes += _diff_sets(section, getattr(old, section), getattr(new, section))
    for section, key in KEYS.items():
        changes += _diff_lists(
            section,
            _by_key(key, getattr(old, section), before.get(section, [])),
            _by_key(key, getattr(new, section), after.get(section, [])),
        )
    for section in ("user", "provenance"):
        one, other = before.get(section, {}), after.get(section, {})
        for name in sorted(one.keys() | other.keys()):
            changes += _diff_value(section, name, one.get(name), other.get(name))
    return changes


def is_taught(change: Change) -> bool:
    """Whether a change concerns what an agent is taught, not where it is from."""
    return change.section in TAUGHT


def count_changes(changes: Iterable[Change]) -> str:
    """Changes in a line: ``guidance: 2 added, 1 removed; examples: 1 changed``."""
    counts = Counter((change.section, change.kind) for change in changes)
    sections = dict.fromkeys(section for section, _ in counts)
    return "; ".join(
        f"{section}: "
        + ", ".join(
            f"{counts[section, kind]} {kind}" for kind in ChangeKind if counts[section, kind]
        )
        for section in sections
    )


def _diff_value(section: str, what: str, old: Any, new: Any) -> list[Change]:
    if old == new:
        return []
    if old is None or new is None:
        kind = ChangeKind.ADDED if old is None else ChangeKind.REMOVED
    else:
        kind = ChangeKind.CHANGED
    return [Change(kind=kind, section=section, what=what, before=_show(old), after=_show(new))]


def _diff_sets(section: str, old: Sequence[str], new: Sequence[str]) -> list[Change]:
    removed = [text for text in old if text not in set(new)]
    added = [text for text in new if text not in set(old)]
    return [
        *(Change(kind=ChangeKind.REMOVED, section=section, what=text) for text in removed),
        *(Change(kind=ChangeKind.ADDED, section=section, what=text) for text in added),
    ]


def _diff_lists(section: str, old: dict[str, Any], new: dict[str, Any]) -> list[Change]:
    changes = []
    for what in [*old, *(key for key in new if key not in old)]:
        changes += _diff_value(section, what, old.get(what), new.get(what))
    return changes


def _by_key(key: Callable[[Any], str], items: Iterable[Any], plain: list[Any]) -> dict[str, Any]:
    """Patterns by what they are about; the second of the same gets a number."""
    found: dict[str, Any] = {}
    seen: Counter[str] = Counter()
    for item, value in zip(items, plain, strict=True):
        what = key(item)
        seen[what] += 1
        found[what if seen[what] == 1 else f"{what} ({seen[what]})"] = value
    return found


def _tool(item: Guidance | ToolArguments) -> str:
    return item.tool


def _example(item: Example) -> str:
    return f"{item.tool} {_show(item.arguments)}"


def _recovery(item: Recovery) -> str:
    return f"{item.tool}: {item.signature} -> {item.repaired_by}"


def _marker(item: Marker) -> str:
    return f"{item.kind} {item.value}"


def _show(value: Any) -> str:
    if value is None:
        return ""
    return value if isinstance(value, str) else encode_canonical(value).decode()


KEYS: dict[str, Callable[[Any], str]] = {
    "guidance": _tool,
    "examples": _example,
    "recoveries": _recovery,
    "arguments": _tool,
    "markers": _marker,
}
"""What makes a pattern the same one in both templates."""
