from __future__ import annotations

from pathlib import Path

from warmstart.sources.log import ReadLog, Skip


def test_every_skip_is_counted_and_the_first_is_kept() -> None:
    log = ReadLog()
    log.skip("no JSON", Path("a"), 3)
    log.skip("no JSON", Path("b"), 9)
    log.skip("other", Path("c"), count=5)
    assert (log.total, log.counts["no JSON"]) == (7, 2)
    assert log.examples["no JSON"] == Skip("no JSON", Path("a"), 3)


def test_sentences_name_the_most_frequent_first_and_its_place() -> None:
    log = ReadLog()
    log.skip("rare", Path("a.jsonl"))
    log.skip("common", Path("b.jsonl"), 12, count=1500)
    assert log.sentences() == [
        "skipped 1,500: common (first: b.jsonl:12)",
        "skipped 1: rare (first: a.jsonl)",
    ]


def test_an_empty_log_says_nothing() -> None:
    assert (ReadLog().total, ReadLog().sentences()) == (0, [])


def test_an_id_is_new_once_per_origin() -> None:
    log = ReadLog()
    assert [log.first_sight("a", "1"), log.first_sight("a", "1"), log.first_sight("b", "1")] == [
        True,
        False,
        True,
    ]


def test_logs_share_nothing() -> None:
    one, two = ReadLog(), ReadLog()
    one.skip("x", Path("a"))
    one.first_sight("a", "1")
    assert (two.total, two.first_sight("a", "1")) == (0, True)
