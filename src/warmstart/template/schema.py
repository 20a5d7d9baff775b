"""What a template file may hold, and the reading of an untrusted one.

The structs below are the schema: types, lengths and ranges are checked by msgspec, and
``schema.json`` beside this module is made from the same structs (a test keeps the two equal).
Unknown fields are refused, not ignored: the id is the hash of the content, and content that was
dropped on the way would leave an id that no longer stands for what is in the file. Errors name the
field and never its value: a refused file may hold a secret.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from enum import StrEnum
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta, Struct, field

from warmstart.model import (
    ArgumentUse,
    Certainty,
    ErrorClass,
    Example,
    Guidance,
    Marker,
    MarkerKind,
    PatternType,
    Provenance,
    Recovery,
    Template,
    ToolArguments,
    UserPatterns,
)
from warmstart.template.canonical import MAX_INTEGER, encode_canonical
from warmstart.template.errors import TemplateError, show_key
from warmstart.template.names import NAME_PATTERN, check_name
from warmstart.template.parse import DEFAULT_LIMITS, Limits, parse_document

SCHEMA_FILE = "schema.json"
HIDDEN = r"\x00-\x1f\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff"
NO_HIDDEN = rf"^(?![\s\S]*[{HIDDEN}])"
"""No control or hidden character anywhere; ``$`` would allow a line end."""
NEWER = "a newer warmstart may know it"
UNKNOWN_FIELD = "Object contains unknown field `"
MISSING_FIELD = "Object missing required field `"

_MOST = DEFAULT_LIMITS
Text = Annotated[str, Meta(max_length=_MOST.text)]
Line = Annotated[str, Meta(max_length=_MOST.short_text)]
Key = Annotated[str, Meta(max_length=_MOST.label)]
Label = Annotated[str, Meta(min_length=1, max_length=_MOST.label, pattern=NO_HIDDEN)]
Count = Annotated[int, Meta(ge=0, le=MAX_INTEGER)]
Counts = Annotated[dict[Label, Count], Meta(max_length=_MOST.items)]
Arguments = Annotated[dict[Key, Any], Meta(max_length=_MOST.items)]
_FEW, _MANY = Meta(max_length=_MOST.items), Meta(max_length=_MOST.sources)


class FilePart(Struct, forbid_unknown_fields=True):
    """An object of a template file."""


class _Guidance(FilePart):
    tool: Label
    text: Line
    calls: Count
    errors: Count


class _Example(FilePart):
    tool: Label
    arguments: Arguments
    result: Text
    intent: Text = ""
    closing: Text = ""
    pattern_type: PatternType = PatternType.SEQUENCE
    certainty: Certainty = Certainty.STRUCTURAL
    count: Count = 1
    sessions: Count = 1


class _Recovery(FilePart):
    tool: Label
    error_class: ErrorClass
    signature: Line
    failed_arguments: Arguments
    error: Text
    repaired_by: Label
    arguments: Arguments
    result: Text
    change: Line
    count: Count = 1
    tries: Count = 1
    sessions: Count = 1


class _ArgumentUse(FilePart):
    name: Key
    uses: Count
    shapes: Counts = field(default_factory=dict)
    ok: Count = 0
    errors: Count = 0


class _ToolArguments(FilePart):
    tool: Label
    calls: Count
    arguments: Annotated[tuple[_ArgumentUse, ...], _FEW] = ()


class _User(FilePart):
    style: Line = ""
    feedback: Line = ""
    sessions: Count = 0


class _Marker(FilePart):
    kind: MarkerKind
    value: Line
    uses: Count


class _Provenance(FilePart):
    sessions: Count = 0
    messages: Count = 0
    calls: Count = 0
    errors: Count = 0
    agents: Counts = field(default_factory=dict)
    models: Counts = field(default_factory=dict)
    tasks: Annotated[tuple[Line, ...], _MANY] = ()
    session_hashes: Annotated[tuple[Label, ...], _MANY] = ()
    redactions: Counts = field(default_factory=dict)
    flags: Annotated[tuple[Line, ...], _FEW] = ()
    rules: Annotated[tuple[Line, ...], _FEW] = ()


class _Template(FilePart):
    format: Literal["warmstart-template"]
    format_version: Literal[1]
    name: Annotated[str, Meta(pattern=NAME_PATTERN)]
    description: Line = ""
    task_type: Label = "mixed"
    tags: Annotated[tuple[Label, ...], _FEW] = ()
    anchors: Annotated[tuple[Line, ...], _FEW] = ()
    system_context: Text = ""
    guidance: Annotated[tuple[_Guidance, ...], _FEW] = ()
    examples: Annotated[tuple[_Example, ...], _FEW] = ()
    recoveries: Annotated[tuple[_Recovery, ...], _FEW] = ()
    arguments: Annotated[tuple[_ToolArguments, ...], _FEW] = ()
    user: _User = field(default_factory=_User)
    markers: Annotated[tuple[_Marker, ...], _FEW] = ()
    preferred_tools: Annotated[tuple[Label, ...], _FEW] = ()
    domains: Annotated[tuple[Label, ...], _FEW] = ()
    provenance: _Provenance = field(default_factory=_Provenance)


_MODELS: dict[type[Struct], Any] = {
    _Guidance: Guidance, _Example: Example, _Recovery: Recovery, _ArgumentUse: ArgumentUse,
    _ToolArguments: ToolArguments, _User: UserPatterns, _Marker: Marker, _Provenance: Provenance,
    _Template: Template,
}  # fmt: skip
_CHOICES: dict[str, type[StrEnum]] = {
    "kind": MarkerKind, "pattern_type": PatternType, "certainty": Certainty,
    "error_class": ErrorClass,
}  # fmt: skip
_KINDS = {
    "str": "text", "int": "a whole number", "float": "a number", "bool": "true or false",
    "array": "a list", "object": "an object", "null": "null",
}  # fmt: skip
_PLACE = re.compile(r"^(.*?)(?: - at (`key` in )?`\$\.?(.*)`)?$", re.DOTALL)
_GOT = re.compile(r"Expected `(\w+)`, got `(\w+)`$")
_LENGTH = re.compile(r"Expected `(\w+)` of length (<=|>=) (\d+)")


def read_template(data: bytes, limits: Limits = DEFAULT_LIMITS) -> Template:
    """The template in the bytes of a file.

    Raises:
        TemplateError: they are not a template.
    """
    return template_from_dict(parse_document(data, limits), limits)


def template_from_dict(data: Any, limits: Limits = DEFAULT_LIMITS) -> Template:
    """The template that a JSON object describes.

    Raises:
        TemplateError: a field is missing, unknown, of another type, too large, or contradicts
            another one.
    """
    if isinstance(data, dict) and "name" in data:
        check_name(data["name"])
    template: Template = _build(convert(data, _Template), "", limits)
    for where, problem in _find_contradictions(template):
        raise TemplateError(problem, field=where)
    if len(encode_canonical(data)) > limits.content_bytes:
        raise TemplateError(f"larger than {limits.content_bytes:,} bytes")
    return template


def convert(data: Any, kind: Any) -> Any:
    """Plain JSON values as a struct.

    Raises:
        TemplateError: they do not fit; the message names the field.
    """
    try:
        return msgspec.convert(data, kind)
    except msgspec.ValidationError as error:
        raise _explain(str(error)) from None  # the original's text may hold a value


def make_schema() -> dict[str, Any]:
    """The JSON Schema of a template file, draft 2020-12.

    Depth, sizes inside arguments and numbers that contradict each other are checked beyond it.
    """
    made = msgspec.json.schema(_Template)
    parts = {name.lstrip("_"): part for name, part in made["$defs"].items()}
    top = parts.pop("Template")
    text = msgspec.json.encode({**top, "$defs": parts}).replace(b"#/$defs/_", b"#/$defs/")
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        **msgspec.json.decode(text),
        "title": "warmstart template",
        "description": "Patterns mined from agent sessions that went well, and their provenance.",
    }


def _build(value: Any, where: str, limits: Limits) -> Any:
    """Structs as the model's records, arguments checked all the way down."""
    if isinstance(value, tuple):
        return tuple(_build(inner, f"{where}[{at}]", limits) for at, inner in enumerate(value))
    if not isinstance(value, Struct):
        return value
    fields = {}
    for name in value.__struct_fields__:
        inner, place = getattr(value, name), f"{where}.{name}" if where else name
        if name in ("format", "format_version"):
            continue
        if name.endswith("arguments") and isinstance(inner, dict):
            fields[name] = {
                key: _read_any(inner[key], f"{place}[{show_key(key)}]", limits, limits.depth)
                for key in sorted(inner)
            }
        else:
            fields[name] = _build(inner, place, limits)
    return _MODELS[type(value)](**fields)


def _read_any(value: Any, where: str, limits: Limits, depth: int) -> Any:
    """A value among a call's arguments, within the limits; names are sorted."""
    if depth <= 0:
        raise TemplateError(f"nested deeper than {limits.depth}", field=where)
    if isinstance(value, list):
        _check_size(value, where, limits)
        return [_read_any(inner, where, limits, depth - 1) for inner in value]
    if isinstance(value, dict):
        _check_size(value, where, limits)
        for key in value:
            if not isinstance(key, str) or len(key) > limits.label:
                raise TemplateError(f"a name longer than {limits.label}, or not text", field=where)
        return {key: _read_any(value[key], where, limits, depth - 1) for key in sorted(value)}
    return _read_scalar(value, where, limits)


def _read_scalar(value: Any, where: str, limits: Limits) -> Any:
    if isinstance(value, str):
        if len(value) > limits.text:
            raise TemplateError(f"longer than {limits.text:,} characters", field=where)
        return value
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, int) and abs(value) <= MAX_INTEGER:
        return value
    if isinstance(value, float) and abs(value) < float("inf"):
        return value
    raise TemplateError("must be text or a number that every program reads alike", field=where)


def _check_size(value: list[Any] | dict[Any, Any], where: str, limits: Limits) -> None:
    if len(value) > limits.items:
        raise TemplateError(f"more than {limits.items:,} entries", field=where)


def _find_contradictions(template: Template) -> Iterator[tuple[str, str]]:
    for index, line in enumerate(template.guidance):
        if line.errors > line.calls:
            yield f"guidance[{index}]", "more errors than calls"
    for index, recovery in enumerate(template.recoveries):
        if recovery.count > recovery.tries:
            yield f"recoveries[{index}]", "worked more often than it was tried"
    if template.provenance.errors > template.provenance.calls:
        yield "provenance", "more errors than calls"


def _explain(text: str) -> TemplateError:
    """The error of a message by msgspec, without the value that is in it."""
    match = _PLACE.match(text)
    problem, is_key, where = match.groups() if match else (text, None, "")
    place = f"{where or ''}{' name' if is_key else ''}"
    if problem.startswith(UNKNOWN_FIELD):
        name = show_key(problem.removeprefix(UNKNOWN_FIELD).removesuffix("`"))
        return TemplateError(f"the field {name} is unknown", field=place, hint=NEWER)
    if problem.startswith(MISSING_FIELD):
        name = problem.removeprefix(MISSING_FIELD).removesuffix("`")
        return TemplateError(f"{name} is missing", field=place)
    return _explain_value(problem, place)


def _explain_value(problem: str, place: str) -> TemplateError:
    if problem.startswith("Invalid enum value"):
        words = _CHOICES.get(place.rpartition(".")[2])
        if words is None:
            return TemplateError("has a value this version does not know", field=place, hint=NEWER)
        return TemplateError(f"must be one of {', '.join(words)}", field=place)
    if "matching regex" in problem:
        return TemplateError("has control or hidden characters", field=place)
    return TemplateError(_explain_size(problem), field=place)


def _explain_size(problem: str) -> str:
    length = _LENGTH.match(problem)
    if length:
        kind, sign, most = length.groups()
        if sign == ">=":
            return "may not be empty"
        text = kind == "str"
        return (
            f"longer than {int(most):,} characters" if text else f"more than {int(most):,} entries"
        )
    got = _GOT.match(problem)
    if got:
        wanted, found = (_KINDS.get(word, "another kind of value") for word in got.groups())
        return f"must be {wanted}, not {found}"
    return "may not be negative or beyond 2^53"
