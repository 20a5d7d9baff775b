"""From plain JSON values to a template, checked field by field.

Unknown fields are refused, not ignored: the id is the hash of the content, and content that was
dropped on the way would leave an id that no longer says what is in the file.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from warmstart.model import Certainty, ErrorClass
from warmstart.model.marker import Marker, MarkerKind
from warmstart.model.template import (
    ArgumentUse,
    Example,
    Guidance,
    PatternType,
    Provenance,
    Recovery,
    Template,
    ToolArguments,
    UserPatterns,
)
from warmstart.template.canonical import FORMAT, FORMAT_VERSION, encode_canonical
from warmstart.template.checks import (
    Arguments,
    Choice,
    Count,
    Counts,
    Fixed,
    Label,
    ListOf,
    Name,
    Record,
    Text,
)
from warmstart.template.errors import TemplateError
from warmstart.template.parse import DEFAULT_LIMITS, Limits

TEXT, LINE, LABEL, COUNT = Text(), Text("short_text"), Label(), Count()
GUIDANCE = Record(Guidance, {"tool": LABEL, "text": LINE, "calls": COUNT, "errors": COUNT}, {})
EXAMPLE = Record(
    Example,
    {"tool": LABEL, "arguments": Arguments(), "result": TEXT},
    {
        "intent": TEXT,
        "closing": TEXT,
        "pattern_type": Choice(PatternType),
        "certainty": Choice(Certainty),
        "count": COUNT,
        "sessions": COUNT,
    },
)
RECOVERY = Record(
    Recovery,
    {
        "tool": LABEL,
        "error_class": Choice(ErrorClass),
        "signature": LINE,
        "failed_arguments": Arguments(),
        "error": TEXT,
        "repaired_by": LABEL,
        "arguments": Arguments(),
        "result": TEXT,
        "change": LINE,
    },
    {"count": COUNT, "tries": COUNT, "sessions": COUNT},
)
ARGUMENT_USE = Record(
    ArgumentUse,
    {"name": Text("label"), "uses": COUNT},
    {"shapes": Counts(), "ok": COUNT, "errors": COUNT},
)
TOOL_ARGUMENTS = Record(
    ToolArguments, {"tool": LABEL, "calls": COUNT}, {"arguments": ListOf(ARGUMENT_USE)}
)
USER = Record(UserPatterns, {}, {"style": LINE, "feedback": LINE, "sessions": COUNT})
MARKER = Record(Marker, {"kind": Choice(MarkerKind), "value": LINE, "uses": COUNT}, {})
PROVENANCE = Record(
    Provenance,
    {},
    {
        "sessions": COUNT,
        "messages": COUNT,
        "calls": COUNT,
        "errors": COUNT,
        "agents": Counts(),
        "models": Counts(),
        "tasks": ListOf(LINE, "sources"),
        "session_hashes": ListOf(LABEL, "sources"),
        "redactions": Counts(),
        "flags": ListOf(LINE),
        "rules": ListOf(LINE),
    },
)


def _build(*, format: str, format_version: int, **fields: Any) -> Template:  # noqa: A002 - as in the file
    del format, format_version
    return Template(**fields)


TEMPLATE = Record(
    _build,
    {"format": Fixed(FORMAT), "format_version": Fixed(FORMAT_VERSION), "name": Name()},
    {
        "description": LINE,
        "task_type": LABEL,
        "tags": ListOf(LABEL),
        "anchors": ListOf(LINE),
        "system_context": TEXT,
        "guidance": ListOf(GUIDANCE),
        "examples": ListOf(EXAMPLE),
        "recoveries": ListOf(RECOVERY),
        "arguments": ListOf(TOOL_ARGUMENTS),
        "user": USER,
        "markers": ListOf(MARKER),
        "preferred_tools": ListOf(LABEL),
        "domains": ListOf(LABEL),
        "provenance": PROVENANCE,
    },
)


def template_from_dict(data: Any, limits: Limits = DEFAULT_LIMITS) -> Template:
    """The template a JSON object describes.

    Raises:
        TemplateError: something is missing, unknown, of another type, too large, or cannot be.
    """
    template: Template = TEMPLATE.read(data, "", limits)
    for where, problem in _find_impossible(template):
        raise TemplateError(problem, field=where)
    if len(encode_canonical(data)) > limits.content_bytes:
        raise TemplateError(f"larger than {limits.content_bytes:,} bytes")
    return template


def _find_impossible(template: Template) -> Iterator[tuple[str, str]]:
    """Numbers that contradict each other."""
    for index, line in enumerate(template.guidance):
        if line.errors > line.calls:
            yield f"guidance[{index}]", "more errors than calls"
    for index, recovery in enumerate(template.recoveries):
        if recovery.count > recovery.tries:
            yield f"recoveries[{index}]", "worked more often than it was tried"
    if template.provenance.errors > template.provenance.calls:
        yield "provenance", "more errors than calls"
