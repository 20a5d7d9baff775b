"""What is kept of a session beside its columns comes back as it was."""

from __future__ import annotations

from msgspec.structs import replace

from support.profiles import make_facts
from warmstart.facts.details import PackedMarkers, unpack_details
from warmstart.facts.packing import pack_facts, row_of, unpack_facts
from warmstart.model.facts import Marker, MarkerKind

MARKERS = (
    Marker(MarkerKind.FILE, "src/a\nb.py", 4),
    Marker(MarkerKind.URL, "https://x.example/", 2),
)


def unpack(markers: tuple[Marker, ...]) -> PackedMarkers:
    return unpack_details(pack_facts(make_facts(markers=markers)).details)[1]


def test_packed_markers_read_like_the_markers_they_hold() -> None:
    packed = unpack(MARKERS)
    assert (len(packed), tuple(packed), packed[0], packed[:1]) == (
        2,
        MARKERS,
        MARKERS[0],
        MARKERS[:1],
    )
    assert packed == MARKERS
    assert packed == unpack(MARKERS)
    assert (hash(packed), repr(packed)) == (hash(MARKERS), repr(MARKERS))
    assert packed != "text"
    assert packed[1].kind is MarkerKind.URL


def test_markers_can_be_had_as_they_are_stored() -> None:
    assert [tuple(row) for row in unpack(MARKERS).rows()] == list(map(tuple, MARKERS))


def test_a_session_without_markers_has_none() -> None:
    assert not unpack(())


def test_half_characters_and_huge_numbers_survive() -> None:
    odd = Marker(MarkerKind.COMMAND, "git \ud800", 10**30)
    facts = replace(make_facts("x."), title="half \ud800", markers=(odd, *MARKERS))
    assert unpack_facts(row_of(facts), pack_facts(facts).calls) == facts
