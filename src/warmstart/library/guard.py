"""What every template goes through on its way in and out: redaction, and the scan for orders.

Both run on every field. Redaction is fail-closed: where it cannot run there is an error and no
template. Flags are found anew each time, by the rules of today, and joined with those the template
says it had when it was built.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from warmstart.library.model import Stored
from warmstart.model.template import Template
from warmstart.template import TemplateError
from warmstart.template.texts import list_scanned, rewrite_texts

if TYPE_CHECKING:
    from warmstart.redact import Redactor

MAX_PLACE = 120


class Checked(NamedTuple):
    """A template after redaction."""

    template: Template
    redactions: Mapping[str, int]
    """What was found that had not been taken out before."""


def redact_for_others(template: Template, redactor: Redactor) -> Checked:
    """The template as it may leave: without anything that ``redactor`` knows of this user.

    Raises:
        RedactionError: redaction cannot run.
        TemplateError: the template's own name holds something that must go.
    """
    return _redact(template, redactor)


def redact_from_others(template: Template) -> Checked:
    """The template as it may come in; the same on every machine, so that its id is too."""
    from warmstart.redact import Redactor  # noqa: PLC0415 - its tables are not for every command

    return _redact(template, Redactor(pii=True))


def find_flags(template: Template) -> tuple[str, ...]:
    """What reads like an order to an agent, with the place it stands at; sorted."""
    from warmstart.redact import find_instructions  # noqa: PLC0415 - as above

    found = set(template.provenance.flags)
    for where, text in list_scanned(template):
        for name in find_instructions(text):
            found.add(f"{where[:MAX_PLACE]}: {name}")
    return tuple(sorted(found))


def check_approvable(stored: Stored, *, despite_flags: bool) -> tuple[str, ...]:
    """The flags of a template that may be approved.

    Raises:
        TemplateError: it has some, and nobody said to approve it all the same.
    """
    flags = find_flags(stored.template)
    if flags and not despite_flags:
        spec = f"{stored.name}@{stored.version}"
        raise TemplateError(
            f"text that reads like instructions is in it ({len(flags)} places)",
            field=spec,
            hint=f"read it: warmstart template show {spec}; then approve it with --despite-flags",
        )
    return flags


def _redact(template: Template, redactor: Redactor) -> Checked:
    if redactor.text(template.name) != template.name:
        raise TemplateError("its name holds a secret or a person's name", field="name")
    cleaned = rewrite_texts(template, _Cleaner(redactor))
    return Checked(cleaned, dict(redactor.found))


class _Cleaner:
    """Takes out what nobody sees first, so that nothing can hide from redaction behind it."""

    def __init__(self, redactor: Redactor) -> None:
        from warmstart.redact import strip_hidden  # noqa: PLC0415 - as above

        self._redactor = redactor
        self._strip = strip_hidden

    def text(self, text: str) -> str:
        return self._redactor.text(self._strip(text))

    def value(self, value: Any) -> Any:
        return self._redactor.value(self._strip_value(value))

    def _strip_value(self, value: Any) -> Any:
        if isinstance(value, str):
            return self._strip(value)
        if isinstance(value, dict):
            return {self._strip(key): self._strip_value(inner) for key, inner in value.items()}
        if isinstance(value, list | tuple):
            return [self._strip_value(inner) for inner in value]
        return value
