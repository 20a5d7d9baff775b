"""What the docs say is what the code does."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

from warmstart.model import ErrorClass, Status
from warmstart.outcome import complaints, explicit, refusals, structure, words

ROOT = Path(__file__).resolve().parents[1]


def test_generated_pages_are_up_to_date() -> None:
    command = [sys.executable, str(ROOT / "scripts" / "make_docs.py"), "--check"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_every_rule_of_the_judge_is_documented() -> None:
    page = (ROOT / "docs" / "outcomes.md").read_text()
    sources = [Path(m.__file__ or "").read_text() for m in (explicit, structure, words)]
    named = {
        name for text in sources for name in re.findall(r'"([a-z]+(?:_[a-z]+)+)", (?:_|Cert)', text)
    }
    named |= {rule.name for rule in complaints._RULES}
    named |= {refusal.name for refusal in refusals._REFUSALS.values()}
    assert len(named) > 25
    assert {name for name in named if f"`{name}`" not in page} == set()


def test_every_status_and_error_class_is_documented() -> None:
    page = (ROOT / "docs" / "outcomes.md").read_text()
    assert all(f"`{value}`" in page for value in (*Status, *ErrorClass))


def test_links_between_pages_lead_somewhere() -> None:
    pages = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").glob("*.md")]
    for page in pages:
        for target in re.findall(r"\]\((?!https?:)([^)#]+)", page.read_text()):
            assert (page.parent / target).exists(), f"{page.name}: {target}"
