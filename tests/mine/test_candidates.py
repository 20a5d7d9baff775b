"""Choosing sessions from facts gives the same wherever the facts come from."""

from __future__ import annotations

import subprocess
import sys

from msgspec.structs import replace

from support.mining import make_shop, make_worked
from warmstart.facts import derive_facts
from warmstart.mine import MiningRules
from warmstart.mine.candidates import MiningPlan
from warmstart.mine.rules import tally
from warmstart.model import SessionFacts
from warmstart.model.outcome import ErrorClass

LOOSE = MiningRules(max_error_rate=0.9, min_messages=1, min_calls=1)
OK = ("Bash", {"command": "ls"}, "a.py", False)
BAD = ("Bash", {"command": "ls x"}, "ls: cannot access 'x': No such file or directory", True)


def shop() -> list[SessionFacts]:
    return [derive_facts(session) for session in make_shop(6)]


def names(plan: MiningPlan) -> tuple[list[str], list[str], list[str]]:
    return tuple(
        [one.id for one in part] for part in (plan.qualified, plan.exemplary, plan.repairs)
    )  # type: ignore[return-value] - three lists


def test_a_tally_counts_judged_calls_and_what_failed() -> None:
    found = tally(derive_facts(make_worked("s", [OK, BAD, OK, BAD])), LOOSE)
    assert (found.judged, found.errors, found.tools) == (4, 2, {"Bash": 4})
    assert found.failed == [("Bash", ErrorClass.NOT_FOUND)] * 2


def test_calls_that_were_not_judged_are_no_part_of_a_tally() -> None:
    facts = derive_facts(make_worked("s", [OK, OK, BAD]))
    last = facts.calls[-1]._replace(status=facts.calls[-1].status.__class__("unanswered"))
    found = tally(replace(facts, calls=(*facts.calls[:-1], last)), LOOSE)
    assert (found.judged, found.errors, found.tools) == (2, 0, {"Bash": 2})


CHOOSE = """
import sys
sys.path.insert(0, "tests")
from test_candidates import LOOSE, names, shop
from warmstart.mine.candidates import plan_mining
print(names(plan_mining(shop(), LOOSE, max_sessions=4)))
"""


def test_another_order_of_sets_chooses_the_same_sessions() -> None:
    folder = __file__.rpartition("/")[0]
    outputs = {
        subprocess.run(
            [sys.executable, "-c", CHOOSE],
            env={"PYTHONHASHSEED": seed, "PYTHONPATH": ":".join([folder, *sys.path])},
            capture_output=True, text=True, check=True,
        ).stdout
        for seed in ("1", "2", "3")
    }  # fmt: skip
    assert len(outputs) == 1
