"""Settings: where they come from, and what is refused."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

import pytest

from warmstart.app import Workspace
from warmstart.app.config import load_section
from warmstart.app.warm_start import WarmConfig
from warmstart.errors import UsageError
from warmstart.warm import Policy


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    size: int = field(default=3, metadata={"least": 1, "most": 9})
    share: float = 0.5
    loud: bool = False
    word: str = "plain"


def load(
    home: Path, text: str = "", environ: dict[str, str] | None = None, **flags: object
) -> Sample:
    home.mkdir(exist_ok=True)
    (home / "config.toml").write_text(text)
    return load_section(Workspace.open(home), "sample", Sample, flags, environ or {})


def test_defaults_hold_where_nobody_says_anything(tmp_path: Path) -> None:
    assert load_section(Workspace.open(tmp_path), "sample", Sample, environ={}) == Sample()


def test_file_then_environment_then_flags(tmp_path: Path) -> None:
    text = "[sample]\nsize = 4\nshare = 1\nloud = true\nword = 'file'\n[other]\nx = 1\n"
    environ = {"WARMSTART_SAMPLE_SIZE": "5", "WARMSTART_SAMPLE_WORD": "env"}
    assert load(tmp_path, text) == Sample(size=4, share=1.0, loud=True, word="file")
    assert load(tmp_path, text, environ) == Sample(size=5, share=1.0, loud=True, word="env")
    assert load(tmp_path, text, environ, size=6, word=None).size == 6


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("[sample]\nsise = 4", "has no setting 'sise'"),
        ("[sample]\nsize = 'big'", "size must be a whole number, not 'big'"),
        ("[sample]\nsize = true", "size must be a whole number"),
        ("[sample]\nsize = 10", "at most 9"),
        ("[sample]\nloud = 1", "true or false"),
        ("sample = 1", "must be a table"),
        ("[sample", "is not valid TOML"),
    ],
)
def test_what_cannot_be_right_is_refused_by_name(tmp_path: Path, text: str, complaint: str) -> None:
    with pytest.raises(UsageError, match=complaint):
        load(tmp_path, text)


@pytest.mark.parametrize(
    ("name", "value", "complaint"),
    [
        ("SIZE", "x", "WARMSTART_SAMPLE_SIZE must be a number"),
        ("SIZE", "0", "at least 1"),
        ("LOUD", "maybe", "true or false"),
        ("SHARE", "nanana", "a number"),
    ],
)
def test_variables_are_checked_too(tmp_path: Path, name: str, value: str, complaint: str) -> None:
    with pytest.raises(UsageError, match=complaint):
        load(tmp_path, environ={f"WARMSTART_SAMPLE_{name}": value})


def test_words_for_yes_and_no(tmp_path: Path) -> None:
    assert load(tmp_path, environ={"WARMSTART_SAMPLE_LOUD": "Yes"}).loud
    assert not load(tmp_path, "[sample]\nloud = true", {"WARMSTART_SAMPLE_LOUD": "off"}).loud


def test_a_policy_is_one_of_the_known_ones(tmp_path: Path) -> None:
    workspace = Workspace.open(tmp_path)
    environ = {"WARMSTART_WARM_POLICY": "least_used", "WARMSTART_WARM_HOLDOUT": "0.25"}
    config = load_section(workspace, "warm", WarmConfig, environ=environ)
    assert config.policy is Policy.LEAST_USED
    assert config.holdout == 0.25
    with pytest.raises(UsageError, match="one of thompson, best, least_used"):
        load_section(workspace, "warm", WarmConfig, {"policy": "random"}, {})
    with pytest.raises(UsageError, match=r"at least 0\.0, not nan"):
        load_section(workspace, "warm", WarmConfig, environ={"WARMSTART_WARM_HOLDOUT": "nan"})
