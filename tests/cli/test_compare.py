from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from support.planting import Planter
from support.sessions import make_session, make_steps, write_export
from warmstart.model import Message, Role

Run = Callable[..., Any]


@pytest.fixture
def paired(tmp_path: Path) -> Path:
    """Eight tasks done by both models, three by the large one only."""
    made = []
    for n in range(11):
        large = make_steps(f"large-{n}", "x" + "." * (29 + n % 4), model="acme-large")
        made.append(replace(large, task=f"task {n}"))
    for n in range(8):
        small = make_steps(f"small-{n}", "x.." * 10 + "." * (n % 4), model="acme-small")
        made.append(replace(small, task=f"task {n}"))
    made.append(make_session("mute", model="acme-mute", messages=[Message(role=Role.USER)]))
    return write_export(tmp_path / "sessions.jsonl", *made)


def test_the_help_has_an_example_per_line(run: Run) -> None:
    lines = run("compare", "--help").stdout.splitlines()
    assert "    warmstart compare model=opus model=sonnet" in lines
    assert not any("\\b" in line or "\b" in line for line in lines)


def test_pairs_are_counted_and_so_is_what_was_left_out(run: Run, paired: Path) -> None:
    text = run("compare", "model=large", "model=small", paired).stdout
    assert "(pilot)" in text.splitlines()[1]  # below the question
    text = " ".join(text.split())
    assert "unit: task (paired), 8 and 8; left out as unpaired: 3 tasks of A, 0 of B" in text
    assert "MDE80" in text
    made = json.loads(run("compare", "model=large", "model=small", paired, "--json").stdout)
    assert (made["comparison"]["units"], made["comparison"]["unpaired"]) == ([8, 8], [3, 0])
    assert made["comparison"]["pilot"] is True


@pytest.mark.parametrize(("sides", "side"), [(("model=zzz", "model=small"), "A"),
                                             (("model=small", "model=zzz"), "B")])  # fmt: skip
def test_a_filter_that_matches_nothing_is_an_error(
    run: Run, paired: Path, sides: tuple[str, str], side: str
) -> None:
    result = run("compare", *sides, paired)
    assert result.exit_code == 3
    assert f"no session matches {side} (model=zzz)" in result.stderr
    assert "hint:" in result.stderr
    assert not result.stdout


def test_a_side_without_judged_calls_is_said_in_words(run: Run, paired: Path) -> None:
    result = run("compare", "model=mute", "model=small", paired)
    assert result.exit_code == 0
    assert "no judged calls in A" in result.stdout
    assert "p = " not in result.stdout
    assert " nan" not in result.stdout
    assert "+nan" not in result.stdout
    made = json.loads(run("compare", "model=mute", "model=small", paired, "--json").stdout)
    assert made["comparison"]["difference"]["p"] is None


def damage(path: Path) -> Path:
    path.write_bytes(b"{broken\n" + path.read_bytes())
    return path


def count_skips(result: Any) -> int:
    return sum(skip["count"] for skip in json.loads(result.stdout)["skipped"])


def test_a_line_that_both_sides_skip_is_counted_once(run: Run, paired: Path) -> None:
    damage(paired)
    assert count_skips(run("compare", "model=large", "model=small", paired, "--json")) == 1
    assert count_skips(run("compare", "large-1", "small-1", paired, "--json")) == 1
    assert run("compare", "model=large", "model=small", paired).stderr.count("skipped 1:") == 1


def test_lines_skipped_in_different_files_are_all_counted(run: Run, paired: Path) -> None:
    damage(paired)
    other = paired.with_name("other.jsonl")
    damage(write_export(other, make_steps("x-1", "..x")))
    assert count_skips(run("compare", paired, other, "--json")) == 2


def test_what_was_skipped_is_told_even_where_nothing_matches(run: Run, paired: Path) -> None:
    result = run("compare", "model=zzz", "model=small", damage(paired))
    assert "skipped 1:" in result.stderr


def test_an_empty_side_is_refused(run: Run, paired: Path) -> None:
    result = run("compare", "", "model=acme-large", paired)
    assert result.exit_code == 2
    assert "empty" in result.stderr


def test_no_secret_in_a_name_is_shown(run: Run, tmp_path: Path) -> None:
    secret = Planter(7).self_telling("here", "github_pat")
    tool = f"get {secret}"
    made = [make_steps(name, "x..", tool, model=name) for name in ("one", "two")]
    path = write_export(tmp_path / "s.jsonl", *made)
    for options in ((), ("--json",)):
        result = run("compare", "model=one", "model=two", path, *options)
        assert result.exit_code == 0
        assert secret not in result.stdout
        assert "get " in result.stdout
    refused = run("compare", f"model={secret}", "model=two", path)
    assert refused.exit_code == 3
    assert "no session matches A (model=" in refused.stderr
    assert secret not in refused.stderr


def test_a_comparison_is_written_as_a_page_without_the_home_folder(
    run: Run, paired: Path, home: Path
) -> None:
    page, notes = home / "c.html", home / "c.md"
    done = run("compare", "model=large", "model=small", paired, "--html", page, "--md", notes)
    assert done.exit_code == 0, done.output
    assert "<h1>Do A and B differ?</h1>" in page.read_text()
    assert notes.read_text().startswith("# Do A and B differ?")
    assert str(home) not in page.read_text()
    assert (
        "exists already"
        in run("compare", "model=large", "model=small", paired, "--md", notes).stderr
    )
