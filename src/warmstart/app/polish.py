"""Texts of a template rewritten by a language model, if a person asks for it.

Any OpenAI-compatible endpoint will do. Nothing depends on it: only the description, intents and
closing words are offered, what comes back is redacted and scanned again like everything else,
and where the endpoint fails, answers nonsense or invents, the text that was there stays, with a
note that says so. Counts, calls, results and names are never sent to be changed.
"""

from __future__ import annotations

import json
import os
import re
import urllib.request
from dataclasses import dataclass, replace
from http.client import HTTPException
from typing import Any

from warmstart.errors import UsageError
from warmstart.mine.seal import Redacts, find_flags
from warmstart.model.template import Example, Template
from warmstart.redact import strip_hidden

TIMEOUT_SECONDS = 60.0
MAX_ANSWER_BYTES = 1_000_000
MAX_GROWTH = 1.5
"""A rewritten text may be at most this much longer than the original."""
_PLACEHOLDER = re.compile(r"<[A-Za-z][A-Za-z0-9:_-]*>")
TASK = (
    "You edit short texts that teach an agent by example. For each numbered text give a clearer, "
    "shorter one in the same language and meaning. Keep every <placeholder> exactly. Add nothing. "
    'Answer with one JSON object: {"texts": {"0": "...", "1": "..."}}.'
)


class _StayHere(urllib.request.HTTPRedirectHandler):
    """Follows nobody: key and texts are for the address that was named."""

    def redirect_request(self, *_: Any) -> None:
        return None


_OPENER = urllib.request.build_opener(_StayHere)


@dataclass(frozen=True, slots=True, kw_only=True)
class Endpoint:
    """Where a model answers."""

    url: str
    """Base address, such as ``http://localhost:11434/v1``."""
    model: str
    key: str | None = None
    timeout_seconds: float = TIMEOUT_SECONDS

    @classmethod
    def from_environment(cls, url: str, model: str) -> Endpoint:
        """The endpoint with the key in ``WARMSTART_POLISH_KEY``; no other key is ever sent."""
        return cls(url=url, model=model, key=os.environ.get("WARMSTART_POLISH_KEY"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Polished:
    """A template, rewritten where that worked."""

    template: Template
    changed: int
    notes: tuple[str, ...] = ()


def polish_template(template: Template, endpoint: Endpoint, redactor: Redacts) -> Polished:
    """Offer a template's texts to a model and keep what comes back well.

    Raises:
        UsageError: the address is none.
    """
    texts = _list_texts(template)
    try:
        answers = _ask(endpoint, texts)
    except (OSError, ValueError, HTTPException) as error:
        reason = type(error).__name__
        note = f"not polished: the endpoint did not answer as asked ({reason})"
        return Polished(template=template, changed=0, notes=(note,))
    kept: dict[int, str] = {}
    refused = 0
    for index, text in enumerate(texts):
        answer = answers.get(str(index))
        if not isinstance(answer, str) or answer == text:
            continue
        clean = redactor.text(strip_hidden(answer)).strip()
        if _is_faithful(text, clean):
            kept[index] = clean
        else:
            refused += 1
    notes = (f"{refused} rewritten texts were not kept: they changed too much",) if refused else ()
    return Polished(template=_apply(template, kept), changed=len(kept), notes=notes)


def _list_texts(template: Template) -> list[str]:
    texts = [template.description]
    for example in template.examples:
        texts += (example.intent, example.closing)
    return texts


def _apply(template: Template, kept: dict[int, str]) -> Template:
    examples: list[Example] = []
    for number, example in enumerate(template.examples):
        intent, closing = 1 + 2 * number, 2 + 2 * number
        examples.append(
            replace(
                example,
                intent=kept.get(intent, example.intent),
                closing=kept.get(closing, example.closing),
            )
        )
    changed = replace(
        template,
        description=kept.get(0, template.description),
        examples=tuple(examples),
    )
    flags = find_flags({"description": changed.description, "examples": changed.examples})
    provenance = template.provenance
    merged = tuple(sorted({*provenance.flags, *flags}))
    return replace(changed, provenance=replace(provenance, flags=merged))


def _is_faithful(before: str, after: str) -> bool:
    """Same placeholders, not longer than it may be, not empty."""
    if not after or not before:
        return False
    same = sorted(_PLACEHOLDER.findall(before)) == sorted(_PLACEHOLDER.findall(after))
    return same and len(after) <= max(MAX_GROWTH * len(before), 80)


def _ask(endpoint: Endpoint, texts: list[str]) -> dict[str, Any]:
    """One request; the object of rewritten texts."""
    if not endpoint.url.startswith(("http://", "https://")):
        raise UsageError(
            f"{endpoint.url!r} is no address", hint="such as http://localhost:11434/v1"
        )
    numbered = json.dumps({str(index): text for index, text in enumerate(texts)})
    body = {
        "model": endpoint.model,
        "temperature": 0,
        "messages": [
            {"role": "system", "content": TASK},
            {"role": "user", "content": numbered},
        ],
    }
    headers = {"Content-Type": "application/json"}
    if endpoint.key:
        headers["Authorization"] = f"Bearer {endpoint.key}"
    request = urllib.request.Request(  # noqa: S310 - http and https only, checked above
        endpoint.url.rstrip("/") + "/chat/completions",
        data=json.dumps(body).encode(),
        headers=headers,
    )
    with _OPENER.open(request, timeout=endpoint.timeout_seconds) as answer:
        return _read_answer(answer.read(MAX_ANSWER_BYTES))


def _read_answer(data: bytes) -> dict[str, Any]:
    """The texts in a chat completion; ValueError where there are none."""
    document = json.loads(data)
    try:
        content = document["choices"][0]["message"]["content"]
        start, end = content.index("{"), content.rindex("}")
        texts = json.loads(content[start : end + 1])["texts"]
    except (KeyError, IndexError, TypeError, AttributeError) as error:
        raise ValueError("no texts in the answer") from error
    if not isinstance(texts, dict):
        raise ValueError("no texts in the answer")  # noqa: TRY004 - one kind of failure for callers
    return texts
