"""``template extract``, ``build`` and ``auto`` as a person runs them."""

from __future__ import annotations

import json
import stat
from pathlib import Path

import pytest

from cli.conftest import Run
from support.mining import make_shop
from support.sessions import write_export

LOOSE = ("--max-error-rate", "0.3")


@pytest.fixture
def shop(home: Path) -> Path:
    return write_export(home / "shop.jsonl", *make_shop(4))


def test_build_prints_rules_counts_and_the_next_command(run: Run, shop: Path) -> None:
    result = run("template", "build", shop, "--name", "shop", *LOOSE)
    assert result.exit_code == 0, result.output
    assert "4 looked at, 4 qualify, 4 read" in result.output
    assert "at least 30 messages and 8 judged calls" in result.output
    assert "error rate at most 30.0% (as asked)" in result.output
    assert "redacted:" in result.output
    assert "warmstart template show shop@1" in result.output
    assert "warmstart template approve shop@1" in result.output


def test_hints_name_the_version_that_was_made_beside_one_in_use(run: Run, shop: Path) -> None:
    run("template", "build", shop, "--name", "shop", *LOOSE)
    assert run("template", "approve", "shop@1", "--yes").exit_code == 0
    made = run("template", "build", shop, "--name", "shop", "--max", "2", *LOOSE, "--json")
    (report,) = json.loads(made.stdout)["templates"]
    assert report["next"] == [
        "warmstart template show shop@2", "warmstart template approve shop@2",
    ]  # fmt: skip
    page = json.loads(run("template", "show", "shop", "--json").stdout)
    assert (page["version"], page["newer"]) == (1, [{"version": 2, "state": "draft"}])
    again = run("template", "build", shop, "--name", "shop", *LOOSE, "--json").stdout
    assert json.loads(again)["templates"][0]["next"] == ["warmstart template show shop@1"]


def test_build_saves_a_private_draft_and_the_same_one_only_once(
    run: Run, shop: Path, home: Path
) -> None:
    first = json.loads(run("template", "build", shop, "--name", "shop", *LOOSE, "--json").stdout)
    again = json.loads(run("template", "build", shop, "--name", "shop", *LOOSE, "--json").stdout)
    saved = first["templates"][0]["saved"]
    assert first["schema_version"] == 1
    assert (saved["version"], saved["state"], saved["is_new"]) == (1, "draft", True)
    assert again["templates"][0]["saved"]["id"] == saved["id"]
    assert again["templates"][0]["saved"]["is_new"] is False
    path = Path(saved["path"])
    assert path.is_relative_to(home)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_sessions_left_out_are_counted_by_reason(run: Run, shop: Path) -> None:
    result = run("template", "build", shop, "--name", "x", "--min-messages", "5000")
    assert result.exit_code == 2
    assert "4 too few messages" in result.output
    assert "hint: warmstart sessions list" in result.output


def test_extract_takes_one_session(run: Run, shop: Path) -> None:
    result = run("template", "extract", "shop-1", shop, "--name", "one", "--description", "Cart work",
                 "--max", "3", "--tag", "cart", "--json")  # fmt: skip
    (report,) = json.loads(result.stdout)["templates"]
    assert (report["read"], report["examples"]) == (1, 3)
    assert report["rules"] == ["one session, chosen by hand"]
    assert run("template", "extract", "nope", shop, "--name", "one").exit_code == 3


def test_auto_proposes_by_kind_of_work(run: Run, shop: Path) -> None:
    result = run("template", "auto", shop, "--prefix", "mine", *LOOSE)
    assert result.exit_code == 0, result.output
    assert "mine-file (file):" in result.output


def test_dry_run_saves_nothing(run: Run, shop: Path, home: Path) -> None:
    result = run("template", "build", shop, "--name", "shop", *LOOSE, "--dry-run")
    assert "not saved" in result.output
    assert not (home / "ws" / "templates").exists()


@pytest.mark.parametrize("name", ["../evil", "UPPER", "", "a/b", "x" * 65])
def test_a_bad_name_is_refused_before_anything_is_read(run: Run, name: str) -> None:
    result = run("template", "build", "/nowhere", "--name", name)
    assert result.exit_code == 6
    assert "cannot be the name of a template" in result.output
