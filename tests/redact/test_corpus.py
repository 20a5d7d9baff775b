"""On real results of agents: nobody's home is left, and hardly anything is taken for a secret."""

from __future__ import annotations

import gzip
import json
import re
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

import pytest

from warmstart.redact import Redactor, redact

_HOME = re.compile(r"(?<![\w.\-~>])/(?:home|Users)/(?!Shared)[A-Za-z0-9_]|[A-Z]:\\+Users\\+[a-z]")


def results(corpus: Path, step: int) -> Iterator[str]:
    with gzip.open(corpus / "labelled" / "calls.jsonl.gz", "rt") as file:
        for line in islice(file, 0, None, step):
            yield json.loads(line)["result_text"] or ""


@pytest.mark.corpus
def test_no_home_folder_is_left(corpus: Path) -> None:
    redactor = Redactor(pii=True)
    clean = [redactor.text(text) for text in results(corpus, 41)]
    assert redactor.found["home"] > 0
    assert not [text for text in clean if _HOME.search(text)]


@pytest.mark.corpus
def test_hardly_anything_is_taken_for_a_secret(corpus: Path) -> None:
    texts = list(results(corpus, 29))
    changed = sum(redact(text).text != text for text in texts)
    assert changed <= len(texts) // 100
