"""What all tests share: a fixed hypothesis profile and the optional corpus."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

settings.register_profile(
    "house",
    max_examples=60,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
settings.load_profile("house")


@pytest.fixture(scope="session")
def corpus() -> Path:
    """Real transcripts outside the project; tests that need them skip where they are absent."""
    default = Path(__file__).resolve().parents[2] / "shared" / "corpus"
    folder = Path(os.environ.get("WARMSTART_CORPUS", default))
    if not folder.is_dir():
        pytest.skip("no corpus beside the project (set WARMSTART_CORPUS)")
    return folder


@pytest.fixture(autouse=True, scope="session")
def _own_home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Nothing a test runs, in this process or another, touches the home of whoever runs it."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("WARMSTART_HOME", str(tmp_path_factory.mktemp("warmstart-home")))
        yield
