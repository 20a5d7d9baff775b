"""Template files of earlier programs, recognised by their fields and converted.

Three shapes are known. *Examples* (name, task_type, examples with tool_name, arguments, result,
success), *patterns* (name, patterns with tool_name, arguments, result_summary) and *proficiency*
(template_id, tool_patterns with success rates, user_patterns, recovery_patterns). Their figures of
uses and success are left out: they were counted elsewhere by other rules. What cannot be carried
over is named in the notes. Conversion reads untrusted values, so every one is checked again by the
schema afterwards; here a value of the wrong type is simply not taken.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from hashlib import sha256
from typing import Any, NamedTuple

from warmstart.model import (
    Certainty,
    Example,
    Guidance,
    Marker,
    MarkerKind,
    PatternType,
    Provenance,
    Template,
    UserPatterns,
)
from warmstart.template.errors import TemplateError
from warmstart.template.names import make_name
from warmstart.template.parse import DEFAULT_LIMITS

MAX_EXAMPLES = 60
MAX_RESULT_CHARACTERS = 2_000
MAX_ARGUMENT_CHARACTERS = 4_000
MAX_MARKERS = 50
SHAPE_FIELDS = {
    "proficiency": ("template_id", "tool_patterns", "user_patterns"),
    "patterns": ("name", "patterns"),
    "examples": ("name", "task_type", "examples"),
}


class Converted(NamedTuple):
    """A template made from an older file, and what was lost on the way."""

    template: Template
    shape: str
    notes: tuple[str, ...]


def find_shape(data: Any) -> str | None:
    """Which older shape an object has, or None."""
    if not isinstance(data, dict) or "format" in data:
        return None
    for shape, fields in SHAPE_FIELDS.items():
        if all(field in data for field in fields):
            return shape
    return None


def convert_older(data: Any) -> Converted:
    """The template an older file describes.

    Raises:
        TemplateError: it has none of the shapes, or nothing usable in it.
    """
    shape = find_shape(data)
    if shape is None:
        raise TemplateError("this is not a template", hint="see docs/templates.md for the format")
    notes: list[str] = []
    convert = {
        "proficiency": _convert_proficiency,
        "patterns": _convert_patterns,
        "examples": _convert_examples,
    }[shape]
    template = convert(data, notes)
    if not (template.examples or template.guidance or template.system_context):
        raise TemplateError("there is nothing to learn from in it", field=shape)
    if template.name != data.get("name"):
        notes.append("the name was changed to one a folder can have")
    return Converted(template, shape, tuple(notes))


def _convert_examples(data: dict[str, Any], notes: list[str]) -> Template:
    entries = _objects(data["examples"])
    worked = [entry for entry in entries if entry.get("success") is True]
    if len(worked) < len(entries):
        notes.append(f"examples left out, not marked as a success: {len(entries) - len(worked)}")
    return _finish(
        data,
        examples=_make_examples(worked, "result", notes),
        task_type=_text(data.get("task_type"), 40) or "mixed",
    )


def _convert_patterns(data: dict[str, Any], notes: list[str]) -> Template:
    entries = _objects(data["patterns"])
    metrics = data.get("metrics")
    count = metrics.get("sessions_qualified") if isinstance(metrics, dict) else None
    sessions = _texts(data.get("source_session_ids"))
    return _finish(
        data,
        examples=_make_examples(entries, "result_summary", notes),
        system_context=_text(data.get("system_prompt_addendum"), DEFAULT_LIMITS.text),
        tags=_texts(data.get("tags")),
        provenance=_provenance(sessions, _count(count, 0)),
    )


def _convert_proficiency(data: dict[str, Any], notes: list[str]) -> Template:
    patterns = _objects(data["tool_patterns"])
    user = data["user_patterns"] if isinstance(data["user_patterns"], dict) else {}
    recoveries = _objects(data.get("recovery_patterns"))
    if recoveries:
        notes.append(f"recoveries that became guidance, for they hold no call: {len(recoveries)}")
    guidance = [*map(_tool_guidance, patterns), *map(_recovery_guidance, recoveries)]
    source = _text(data.get("source_session_id"), 200)
    data = {**data, "name": data.get("name") or data["template_id"]}
    return _finish(
        data,
        guidance=tuple(line for line in guidance if line is not None),
        user=UserPatterns(
            style=_text(user.get("request_style"), 200),
            feedback=_text(user.get("feedback_style"), 200),
        ),
        markers=tuple(map(_marker, _texts(data.get("context_markers"))[:MAX_MARKERS])),
        preferred_tools=_texts(user.get("preferred_tools")),
        domains=_texts(user.get("common_domains")),
        provenance=_provenance([source] if source else [], 0),
    )


def _finish(data: Mapping[str, Any], **fields: Any) -> Template:
    return Template(
        name=make_name(_text(data.get("name"), 200)),
        description=_text(data.get("description"), DEFAULT_LIMITS.short_text),
        **fields,
    )


def _make_examples(
    entries: Iterable[Mapping[str, Any]], result_field: str, notes: list[str]
) -> tuple[Example, ...]:
    found: list[Example] = []
    left_out = 0
    for entry in entries:
        example = _make_example(entry, result_field)
        if example is None or example in found or len(found) == MAX_EXAMPLES:
            left_out += 1
        else:
            found.append(example)
    if left_out:
        notes.append(f"examples left out, repeated, too many or without a result: {left_out}")
    return tuple(found)


def _make_example(entry: Mapping[str, Any], result_field: str) -> Example | None:
    tool, arguments = _text(entry.get("tool_name"), 200), entry.get("arguments")
    result = _text(entry.get(result_field), MAX_RESULT_CHARACTERS)
    if not tool or not isinstance(arguments, dict) or not result:
        return None
    return Example(
        tool=tool,
        arguments=_shorten(arguments),
        result=result,
        intent=_text(entry.get("preceding_context"), MAX_RESULT_CHARACTERS),
        pattern_type=_pattern_type(entry.get("pattern_type")),
        # The earlier programs looked for words in the result.
        certainty=Certainty.TEXTUAL,
        count=max(_count(entry.get("success_count"), 1), 1),
    )


def _tool_guidance(entry: Mapping[str, Any]) -> Guidance | None:
    tool = _text(entry.get("tool_name"), 200)
    common = entry.get("common_args")
    names = ", ".join(sorted(map(str, common))) if isinstance(common, dict) else ""
    parts = [
        f"usually called with {names}" if names else "",
        _text(entry.get("error_recovery"), 500),
        "; ".join(_texts(entry.get("context_requirements"))),
    ]
    text = ". ".join(part for part in parts if part)
    if not tool or not text:
        return None
    return Guidance(tool=tool, text=text[: DEFAULT_LIMITS.short_text], calls=0, errors=0)


def _recovery_guidance(entry: Mapping[str, Any]) -> Guidance | None:
    error = _text(entry.get("error_type"), 200)
    strategy = _text(entry.get("recovery_strategy"), 500)
    if not error or not strategy:
        return None
    return Guidance(tool="any", text=f"after {error}: {strategy}", calls=0, errors=0)


def _provenance(session_ids: Iterable[str], sessions: int) -> Provenance:
    hashes = {sha256(native.encode("utf-8", "replace")).hexdigest()[:16] for native in session_ids}
    return Provenance(sessions=max(sessions, len(hashes)), session_hashes=tuple(sorted(hashes)))


def _marker(text: str) -> Marker:
    is_url = text.startswith(("http://", "https://"))
    return Marker(kind=MarkerKind.URL if is_url else MarkerKind.FILE, value=text, uses=1)


def _shorten(value: Any) -> Any:
    if isinstance(value, str):
        return _text(value, MAX_ARGUMENT_CHARACTERS)
    if isinstance(value, dict):
        return {key[:200]: _shorten(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [_shorten(inner) for inner in value]
    return value


def _objects(value: Any) -> list[dict[str, Any]]:
    return [entry for entry in value if isinstance(entry, dict)] if isinstance(value, list) else []


def _texts(value: Any) -> tuple[str, ...]:
    """Short texts of a list, each once, in their order."""
    if not isinstance(value, list):
        return ()
    kept = {_text(entry, 200): None for entry in value}
    return tuple(text for text in kept if text)[: DEFAULT_LIMITS.items]


def _text(value: Any, most: int) -> str:
    if not isinstance(value, str):
        return ""
    return value if len(value) <= most else value[: most - 1] + "…"


def _count(value: Any, default: int) -> int:
    is_count = isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 2**53
    return value if is_count else default


def _pattern_type(value: Any) -> PatternType:
    is_known = isinstance(value, str) and value in set(PatternType)
    return PatternType(value) if is_known else PatternType.SEQUENCE
