"""The last step before a template exists: every text in it is cleaned, redacted and scanned.

It walks whatever the draft is made of, so a field added to the model later cannot be forgotten.
It fails closed: if the redactor cannot run, or finds something in its own output, there is no
template.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Any, Protocol

from warmstart.errors import WarmstartError
from warmstart.mine.people import make_eraser
from warmstart.model import Provenance, Template, map_texts
from warmstart.redact import find_instructions, strip_hidden

MAX_FLAGS = 40
MAX_ROUNDS = 4
_OURS = ("session_hashes", "rules")
"""Fields whose texts are our own: digests would look like secrets."""


class SealError(WarmstartError):
    """A draft could not be made safe, so it did not become a template."""


class Redacts(Protocol):
    """What sealing needs of a redactor."""

    @property
    def found(self) -> Mapping[str, int]:
        """Kinds of secret taken out so far, and how many."""

    def text(self, text: str, /) -> str:
        """A text without its secrets."""

    def value(self, value: Any, /) -> Any:
        """A JSON value without its secrets."""

    def without_people(self) -> Redacts:
        """The same numbering, for secrets alone."""


def seal(
    draft: Mapping[str, Any],
    redactor: Redacts,
    names: Iterable[str] = (),
    *,
    before: Mapping[str, int] | None = None,
) -> Template:
    """A template from its fields; ``before`` is what had been found when its sessions were read.

    Raises:
        SealError: the name is a secret, or redaction does not come to an end.
    """
    erase = make_eraser(names)
    before = dict(redactor.found) if before is None else before
    if redactor.text(erase(strip_hidden(draft["name"]))) != draft["name"]:
        raise SealError(
            "the name of the template looks like a secret or a person's name",
            hint="choose another --name",
        )
    sealed = _redact(walk_fields(draft, lambda text: erase(strip_hidden(text))), redactor)
    provenance: Provenance = sealed.pop("provenance")
    # Hidden characters are gone from what is sealed; that they were there is worth knowing.
    flags = {*find_draft_flags(draft), *find_draft_flags(sealed)}
    provenance = replace(
        provenance,
        redactions=_new_counts(before, redactor.found),
        flags=tuple(sorted(flags)[:MAX_FLAGS]),
    )
    return Template(**sealed, provenance=provenance)


def _new_counts(before: Mapping[str, int], after: Mapping[str, int]) -> dict[str, int]:
    counts = {kind: after[kind] - before.get(kind, 0) for kind in sorted(after)}
    return {kind: number for kind, number in counts.items() if number > 0}


def _redact(draft: dict[str, Any], redactor: Redacts) -> dict[str, Any]:
    """Redact until nothing changes: what is learned in one field may stand in an earlier one."""
    for _ in range(MAX_ROUNDS):
        clean = walk_fields(draft, redactor.text, redactor.value)
        if clean == draft:
            return clean
        draft = clean
    raise SealError(
        "redaction did not come to an end; no template was made",
        hint="please report this, with the kind of secret but not its value",
    )


def walk_fields(
    draft: Mapping[str, Any],
    work: Callable[[str], str],
    work_json: Callable[[Any], Any] | None = None,
) -> dict[str, Any]:
    """Every text of a draft; arguments go to ``work_json`` whole: a key tells what its value is.

    Raises:
        SealError: a field holds something whose texts cannot be found.
    """
    try:
        return {
            key: value
            if key in _OURS
            else map_texts(value, work, on_arguments=work_json, skip=_OURS)
            for key, value in draft.items()
        }
    except TypeError as error:
        raise SealError(f"the draft cannot be checked: {error}") from error


def find_draft_flags(sealed: Mapping[str, Any]) -> list[str]:
    """Where instruction-like text stands: the field and the kind of rule, never the words."""
    flags: set[str] = set()
    for name, value in sealed.items():
        if isinstance(value, tuple):
            for index, entry in enumerate(value):
                _note_flags(entry, f"{name}[{index}]", flags)
        else:
            _note_flags(value, name, flags)
    return sorted(flags)


def _note_flags(value: Any, where: str, flags: set[str]) -> None:
    def note(text: str) -> str:
        flags.update(f"{where}: {kind}" for kind in find_instructions(text))
        return text

    map_texts(value, note)
