"""No text is slow: every family of ``bench/redact_hostile.py``, in a child with a limit on its CPU.

The limit is a multiple of what ordinary text took in the same child, far above what the families
need; it ends a rule that looks at the same characters again and again. Speed itself is measured by
``bench/redact.py``.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

BENCH = Path(__file__).resolve().parents[2] / "bench"
CHILD = """
import resource, sys, time
sys.path.insert(0, sys.argv[1])
from redact_hostile import list_scan_texts, list_texts, ordinary
from warmstart.redact import find_instructions, redact

SIZE, PATIENCE = 200_000, 20
part, parts = int(sys.argv[3]), int(sys.argv[4])
work = {"redact": lambda text: redact(text, pii=True), "scan": find_instructions}[sys.argv[2]]
families = {"redact": list_texts, "scan": list_scan_texts}[sys.argv[2]]
texts = [text for index, (_, text) in enumerate(families(SIZE)) if index % parts == part]
work(ordinary(SIZE))
begin = time.process_time()
work(ordinary(SIZE))
one = time.process_time() - begin
limit = int(time.process_time() + max(one, 0.02) * PATIENCE * len(texts)) + 5
resource.setrlimit(resource.RLIMIT_CPU, (limit, limit))
for text in texts:
    work(text)
print("done")
"""


@pytest.mark.skipif(sys.platform == "win32", reason="there is no limit on CPU time")
@pytest.mark.parametrize(("what", "part"), [("redact", 0), ("redact", 1), ("scan", 0)])
def test_no_text_keeps_redaction_or_the_scan_busy(what: str, part: int) -> None:
    parts = "14" if what == "redact" else "4"
    command = [sys.executable, "-c", CHILD, str(BENCH), what, str(part), parts]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.stdout == "done\n", done.stderr[-500:]


def test_every_word_of_the_rules_is_in_a_hostile_family() -> None:
    sys.path.insert(0, str(BENCH))
    try:
        from redact_hostile import list_scan_texts, list_texts
    finally:
        sys.path.remove(str(BENCH))
    from warmstart.redact.imperatives import ORDERS
    from warmstart.redact.names import ROOTS
    from warmstart.redact.vendors import RULES

    names = {name for name, _ in list_texts(40)}
    assert {mark for rule in RULES for mark in rule.marks} <= names
    assert {f"{root.rstrip('=')}=" for root in ROOTS} <= names
    scanned = {name for name, _ in list_scan_texts(40)}
    assert {opening for one in ORDERS for opening in one.openings} <= scanned


def test_what_cannot_be_paid_for_is_masked_and_stays_masked() -> None:
    from warmstart.redact import redact

    text = "".join(f"password=Kx{n:07}q " for n in range(20_000))
    clean = redact(text)
    assert "Kx00" not in clean.text
    assert clean.found["crowded"]
    assert redact(clean.text).text == clean.text
