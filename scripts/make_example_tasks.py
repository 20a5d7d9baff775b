"""Write the tasks of the packaged experiment: an office whose three tools have unwritten rules.

    python scripts/make_example_tasks.py

Each tool breaks off with an error that says what was wrong; nothing the model is told beforehand
does. A session that reads the error can still do its task, with a call or more wasted. Training
and test tasks share no name, no amount and no answer.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

OUTPUT = Path(__file__).resolve().parents[1] / "examples" / "first-experiment" / "tasks.jsonl"
TRAINING, TEST = 5, 8
"""Tasks of each kind."""
PEOPLE = (
    "anna", "boris", "clara", "dario", "edith", "farid", "greta", "henry", "irene", "jonas",
    "karin", "lukas", "marta", "nils", "olga", "pavel", "quinn", "rosa", "simon", "tanja",
    "ugo", "vera", "walter", "xenia", "yusuf", "zoe", "agnes", "bruno",
)  # fmt: skip
WORDS = (
    "amber", "basalt", "cedar", "dune", "ember", "fjord", "grove", "heron", "indigo", "jasper",
    "kelp", "linden", "maple", "nectar", "onyx", "pebble", "quartz", "raven", "saffron", "thistle",
    "umber", "violet", "willow", "yarrow", "zephyr", "acorn", "birch", "clover",
)  # fmt: skip
ROOMS = (
    "attic", "bakery", "cellar", "dairy", "engine", "foyer", "garage", "hall", "island", "jetty",
    "kitchen", "lobby", "mill", "nursery", "office", "pantry", "quay", "roof", "stable", "tower",
    "utility", "vault", "winery", "annex", "barn", "chapel", "dock", "estate",
)  # fmt: skip
READ_NOTE = """\
import json, sys
path = str(json.load(sys.stdin)["path"])
if not path.startswith("vault://"):
    sys.exit(f"not a path; write it as vault://{path}")
try:
    print(open(path[8:]).read().strip())
except OSError:
    sys.exit(f"there is no note {path}")
"""
PAY = """\
import json, sys
given = json.load(sys.stdin)
to, amount = given["to"], given["amount"]
try:
    number = float(str(amount))
except ValueError:
    sys.exit(f"{amount} is not a number")
if not number.is_integer():
    sys.exit(f"amount is in cents; {amount} is written {round(number * 100)}")
with open("ledger.txt", "a") as ledger:
    ledger.write(f"{str(to).strip().lower()} {int(number)}\\n")
print(f"Paid. {to} has got {int(number)} cents.")
"""
READ_SENSOR = """\
import json, os, sys
given = json.load(sys.stdin)
name = str(given["sensor"])
if given.get("unit") != "celsius":
    sys.exit(f"unit is missing; use sensor {name} with unit celsius")
readings = {}
if os.path.exists("sensors.txt"):
    readings = dict(line.split() for line in open("sensors.txt"))
if name not in readings:
    sys.exit(f"there is no sensor {name}")
print(f"It is {readings[name]} degrees at the sensor {name}.")
"""


def main() -> None:
    """Write the file."""
    lines = [json.dumps(task) for task in list_tasks()]
    OUTPUT.write_text("\n".join(lines) + "\n", "utf-8")
    print(f"{len(lines)} tasks in {OUTPUT.name}")


def list_tasks() -> Iterator[dict[str, Any]]:
    """Training tasks first, one of each kind in turn."""
    for number in range(TRAINING + TEST):
        split = "train" if number < TRAINING else "test"
        for kind, make in (("note", _note_task), ("pay", _pay_task), ("sensor", _sensor_task)):
            yield {
                "id": f"{kind}-{number:02}",
                **make(number),
                "tools": [],
                "tool_definitions": _tools(),
                "tags": [kind],
                "split": split,
            }


def _note_task(number: int) -> dict[str, Any]:
    path = f"{PEOPLE[number]}.txt"
    return {
        "prompt": f"Read the note {path}. What is the code word in it?",
        "files": {path: f"The code word is {WORDS[number]}.\n"},
        "check": {"answer": f"(?i)\\b{WORDS[number]}\\b"},
    }


def _pay_task(number: int) -> dict[str, Any]:
    name = PEOPLE[-1 - number]
    cents = 325 + 730 * number % 4400  # never whole euros: those could not be told from cents
    return {
        "prompt": f"Pay {name.title()} {cents // 100}.{cents % 100:02} euros.",
        "check": {"file": "ledger.txt", "equals": f"{name} {cents}"},
    }


def _sensor_task(number: int) -> dict[str, Any]:
    room = ROOMS[number]
    degrees = f"{11 + number * 5 % 17}.{number % 9 + 1}"
    return {
        "prompt": f'Read the sensor "{room}". How warm is it there?',
        "files": {"sensors.txt": f"{room} {degrees}\n"},
        "check": {"answer": f"\\b{degrees.replace('.', '[.]')}\\b"},
    }


def _tools() -> list[dict[str, Any]]:
    return [
        _tool("read_note", "Read the text of a note.", READ_NOTE, path="string"),
        _tool("pay", "Pay an amount of euros to a person.", PAY, to="string", amount="number"),
        _tool("read_sensor", "Read the temperature at a sensor.", READ_SENSOR, sensor="string"),
    ]


def _tool(name: str, description: str, code: str, **arguments: str) -> dict[str, Any]:
    return {
        "name": name,
        "description": description,
        "parameters": {
            "type": "object",
            "properties": {key: {"type": kind} for key, kind in arguments.items()},
            "required": list(arguments),
        },
        "command": ["python3", "-I", "-c", code],
    }


if __name__ == "__main__":
    main()
