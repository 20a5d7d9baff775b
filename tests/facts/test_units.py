from __future__ import annotations

from pathlib import Path

import pytest

from support.badinput import write
from support.claude_lines import SESSION, encode, said
from warmstart.errors import SourceError
from warmstart.facts.derive import derive_facts
from warmstart.facts.packing import pack_facts
from warmstart.facts.units import read_rows
from warmstart.sources import ReadLog, find_units, read_unit

SAMPLES = Path(__file__).resolve().parents[2] / "src" / "warmstart" / "samples"


def test_every_format_gives_the_rows_of_its_sessions_in_their_order() -> None:
    units = list(find_units(SAMPLES, ReadLog()))
    assert len({found.reader.name for found in units}) > 3
    for found in units:
        sessions = read_unit(found, ReadLog())
        rows = [pack_facts(derive_facts(s))._replace(ord=float(n)) for n, s in enumerate(sessions)]
        assert read_rows(found, ReadLog()) == rows


@pytest.mark.parametrize("name", [f"{SESSION}.jsonl", "chat.jsonl"])
def test_a_unit_that_is_all_there_is_must_be_readable(tmp_path: Path, name: str) -> None:
    form = "claude_code" if name.startswith(SESSION) else "openai_chat"
    path = write(tmp_path, name, encode(said(0, "Go.")))
    (found,) = find_units(path, ReadLog(), form)
    path.unlink()
    with pytest.raises(SourceError):
        read_rows(found, ReadLog(), alone=True)
    assert read_rows(found, ReadLog()) == []
