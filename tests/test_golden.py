"""The commands answer about the sample sessions as they did when ``tests/golden`` was written."""

from __future__ import annotations

import pytest

import golden
from warmstart.samples import samples_path


@pytest.fixture(scope="module")
def differences() -> list[str]:
    return golden.compare(golden.GOLDEN, golden.collect(samples_path().resolve()))


def test_answers_about_the_samples_are_as_they_were(differences: list[str]) -> None:
    assert not differences, "\n".join(differences)
