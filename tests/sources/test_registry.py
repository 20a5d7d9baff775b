from __future__ import annotations

from pathlib import Path

import pytest

from warmstart.errors import UsageError
from warmstart.sources import READERS, Probe, Reader, find_reader, get_reader

ALL = pytest.mark.parametrize("reader", READERS.values(), ids=list(READERS))


@ALL
def test_a_reader_is_found_by_the_name_of_its_module(reader: Reader) -> None:
    assert get_reader(reader.name) is reader
    assert type(reader).__module__.endswith(f".{reader.name}")
    assert reader.title


def test_every_reader_module_is_registered() -> None:
    folder = Path(__file__).parents[2] / "src" / "warmstart" / "sources" / "readers"
    modules = {path.stem for path in folder.glob("*.py") if not path.stem.startswith("_")}
    assert modules == set(READERS)


@ALL
@pytest.mark.parametrize(
    "probe",
    [
        Probe(path=Path("nothing")),
        Probe(path=Path("folder"), is_folder=True),
        Probe(path=Path("folder"), is_folder=True, names=frozenset({"a.txt", "src"})),
        Probe(path=Path("a.db"), tables=frozenset({"users", "posts"})),
        Probe(path=Path("a.zip"), members=frozenset({"a.txt"})),
        Probe(path=Path("a.json"), records=({},)),
        Probe(path=Path("a.jsonl"), records=({"a": 1}, {"id": None}), is_lines=True),
        Probe(path=Path("package.json"), records=({"name": "shop", "version": "1.0"},)),
    ],
    ids=lambda probe: f"{probe.path}-{len(probe.names)}-{len(probe.records)}",
)
def test_no_reader_claims_what_is_no_session(reader: Reader, probe: Probe) -> None:
    assert not reader.recognises(probe)


def test_the_most_general_format_is_asked_last() -> None:
    assert list(READERS)[-1] == "openai_chat"


def test_a_probe_nobody_recognises_has_no_reader() -> None:
    assert find_reader(Probe(path=Path("x"))) is None


def test_an_unknown_name_lists_the_known_ones() -> None:
    with pytest.raises(UsageError) as caught:
        get_reader("nonsense")
    assert caught.value.hint is not None
    assert all(name in caught.value.hint for name in READERS)
