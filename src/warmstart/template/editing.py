"""A template as a text that a person can write and edit: TOML, one table per lesson.

    [[guidance]]
    tool = "terminal"
    text = "Call `bun run test`; `rtk bun run` fails here."

Writing a template and reading the text again gives the same template. Statistics of arguments and
the provenance are not in the text: they are counted from sessions, so they are kept from the
version that is edited. Arguments of calls are JSON in one string; a TOML table is taken as well.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import MISSING, fields, replace
from typing import Any

from warmstart.model import Example, Guidance, Marker, Recovery, Template, UserPatterns
from warmstart.template.canonical import template_to_dict
from warmstart.template.errors import TemplateError
from warmstart.template.parse import parse_document
from warmstart.template.schema import template_from_dict

__all__ = ["NEW_TEXT", "TemplateTextError", "format_text", "parse_text"]

HEAD = """\
# Lines that begin with # are ignored. Save and close the editor to keep this as a new draft;
# an agent gets nothing of it before you approve it.
"""
NEW_TEXT = """\
# A lesson is one line of advice on a tool:
#
# [[guidance]]
# tool = "terminal"
# text = "Call `bun run test`; `rtk bun run` fails here."
#
# An example is a call that works, with what it answers:
#
# [[examples]]
# tool = "terminal"
# intent = "Run the tests."
# arguments = '{"command": "bun run test"}'
# result = "12 pass, 0 fail"
"""
KEPT = ("arguments", "provenance")
"""Counted from sessions, so not for a person to write."""
TOP = ("name", "description", "task_type", "tags", "anchors", "system_context", "preferred_tools",
       "domains")  # fmt: skip
TABLES = ("guidance", "examples", "recoveries", "markers")
CALL_FIELDS = ("arguments", "failed_arguments")
_PLAIN = re.compile(r"[^\x00-\x08\x0a-\x1f\x7f']*")
_BLOCK = re.compile(r"[^\x00-\x08\x0b-\x1f\x7f]*")
_UNKNOWN = re.compile(r"the field '(\w+)' is unknown")
_FIELD = re.compile(r"(\w+)(?:\[(\d+)\])?(?:\.(\w+))?")


class TemplateTextError(TemplateError):
    """A text that is not a template; ``line`` is where, or None where that is not known."""

    def __init__(self, error: TemplateError, line: int | None) -> None:
        where = f"line {line}: " if line else ""
        super().__init__(f"{where}{error.message}", hint=error.hint)
        self.field = error.field
        self.line = line


def format_text(template: Template) -> str:
    """The template as text."""
    content = template_to_dict(template)
    defaults = {field.name: field.default for field in fields(Template)}
    lines = [HEAD]
    for name in TOP:
        empty = "" if defaults[name] is MISSING else defaults[name]
        lines.append(f"{name} = {_write(content.get(name, empty))}")
    for name in TABLES:
        for entry in content.get(name, ()):
            lines += ["", f"[[{name}]]", *_write_entry(entry)]
    if "user" in content:
        lines += ["", "[user]", *_write_entry(content["user"])]
    return "\n".join(lines) + "\n"


def parse_text(text: str, base: Template) -> Template:
    """The template that a text describes; what is not for a person to write is taken from ``base``.

    Raises:
        TemplateTextError: it is not valid TOML, or not a template.
    """
    try:
        document = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        found = re.search(r"at line (\d+)", str(error))
        line = int(found[1]) if found else max(len(text.splitlines()), 1)
        problem = str(error).partition(" (at ")[0]
        wrong = TemplateError(f"the text is not valid TOML: {problem}")
        raise TemplateTextError(wrong, line) from error
    except RecursionError as error:
        raise TemplateTextError(TemplateError("the text is nested too deeply"), None) from error
    try:
        return _read(document, base)
    except TemplateError as error:
        unknown = _UNKNOWN.search(error.message)
        if unknown is None:
            raise TemplateTextError(error, find_line(text, error.field)) from error
        place = f"{error.field}.{unknown[1]}" if error.field else unknown[1]
        known = ", ".join(_list_known(error.field.partition("[")[0]))
        error.hint = f"the fields here are {known}"
        raise TemplateTextError(error, find_line(text, place)) from error


def find_line(text: str, field: str) -> int | None:
    """The line of a text where a field such as ``guidance[1].text`` stands."""
    match = _FIELD.match(field)
    if match is None:
        return None
    name, index, key = match[1], int(match[2] or 0), match[3]
    lines = text.splitlines()
    heads = [at for at, line in enumerate(lines) if line.strip() in (f"[[{name}]]", f"[{name}]")]
    if index >= len(heads):
        return _find_key(lines, name, 0)
    return (_find_key(lines, key, heads[index] + 1) if key else None) or heads[index] + 1


def _list_known(table: str) -> list[str]:
    """The fields that may be written in a table, or at the top."""
    if table == "user":
        return [field.name for field in fields(UserPatterns)]
    if table == "markers":
        return list(Marker._fields)
    kind = {"guidance": Guidance, "examples": Example, "recoveries": Recovery}.get(table)
    return [field.name for field in fields(kind)] if kind else [*TOP, *TABLES, "user"]


def _find_key(lines: list[str], key: str, start: int) -> int | None:
    for at, line in enumerate(lines[start:], start):
        if at > start and line.startswith("["):
            return None
        if re.match(rf"\s*{re.escape(key)}\s*=", line):
            return at + 1
    return None


def _read(document: dict[str, Any], base: Template) -> Template:
    for name in KEPT:
        if name in document:
            raise TemplateError("is counted from sessions and cannot be written here", field=name)
    if document.get("name", base.name) != base.name:
        raise TemplateError(
            f"must stay {base.name!r}; another name is another template", field="name"
        )
    data = {**document, "name": base.name}
    for name in TABLES:
        if isinstance(data.get(name), list):
            data[name] = [_read_entry(entry, name, at) for at, entry in enumerate(data[name])]
    head = template_to_dict(base)
    template = template_from_dict(
        {**data, "format": head["format"], "format_version": head["format_version"]}
    )
    return replace(template, arguments=base.arguments, provenance=base.provenance)


def _read_entry(entry: Any, table: str, at: int) -> Any:
    """An entry of a table as a template file has it; other values are left to the schema."""
    if not isinstance(entry, dict):
        return entry
    # A lesson that a person writes rests on no counts.
    found = {"calls": 0, "errors": 0, **entry} if table == "guidance" else dict(entry)
    for name in CALL_FIELDS:
        if isinstance(found.get(name), str):
            try:
                found[name] = parse_document(found[name].encode("utf-8", "surrogatepass"))
            except TemplateError as error:
                raise TemplateError(error.message, field=f"{table}[{at}].{name}") from error
    return found


def _write_entry(entry: Mapping[str, Any]) -> Iterator[str]:
    for name, value in entry.items():
        text = json.dumps(value, ensure_ascii=False) if name in CALL_FIELDS else value
        yield f"{name} = {_write(text)}"


def _write(value: Any) -> str:
    if isinstance(value, list | tuple):
        parts = [_write(inner) for inner in value]
        line = f"[{', '.join(parts)}]"
        return line if len(line) <= 80 else "[\n" + "".join(f"    {p},\n" for p in parts) + "]"
    return _write_string(value) if isinstance(value, str) else json.dumps(value)


def _write_string(text: str) -> str:
    """A text in the plainest way TOML has for it."""
    if '"' in text or "\\" in text or "\n" in text:
        if _PLAIN.fullmatch(text):
            return f"'{text}'"
        if _BLOCK.fullmatch(text) and "'''" not in text and not text.endswith("'"):
            return f"'''\n{text}'''"
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")
