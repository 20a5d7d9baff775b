"""The commands answer about the sample sessions as they did when ``tests/golden`` was written."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from warmstart.samples import samples_path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "scripts"))

import golden


@pytest.fixture(scope="module")
def differences() -> list[str]:
    return golden.compare(golden.GOLDEN, golden.collect(samples_path().resolve()))


def test_answers_about_the_samples_are_as_they_were(differences: list[str]) -> None:
    assert not differences, "\n".join(differences)
