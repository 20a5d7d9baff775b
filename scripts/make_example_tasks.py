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
TRAINING, TEST = 9, 10
"""Tasks of each kind."""
PEOPLE = (
    "anna", "boris", "clara", "dario", "edith", "farid", "greta", "henry", "irene", "jonas",
    "karin", "lukas", "marta", "nils", "olga", "pavel", "quinn", "rosa", "simon", "tanja",
    "ugo", "vera", "walter", "xenia", "yusuf", "zoe", "agnes", "bruno",
)  # fmt: skip
FOLDERS = ("plans", "letters", "minutes", "drafts")
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
path = json.load(sys.stdin)["path"]
if not str(path).startswith("vault://"):
    sys.exit(f"not a vault path; write it as vault://{path}")
try:
    print(open(path[8:]).read().strip())
except OSError:
    sys.exit(f"there is no note {path}")
"""
PAY = """\
import json, sys
given = json.load(sys.stdin)
to, amount = given["to"], given["amount"]
if isinstance(amount, bool) or not isinstance(amount, int):
    try:
        cents = round(float(str(amount)) * 100)
    except ValueError:
        sys.exit("amount must be a number")
    sys.exit(f"amount is in cents; {amount} is written {cents}")
with open("ledger.txt", "a") as ledger:
    ledger.write(f"{str(to).lower()} {amount}\\n")
print(f"paid {amount} cents to {to}")
"""
READ_SENSOR = """\
import json, sys
given = json.load(sys.stdin)
if given.get("unit") != "celsius":
    sys.exit('unit is missing; add "unit": "celsius"')
readings = dict(line.split() for line in open("sensors.txt"))
name = str(given["sensor"])
if name not in readings:
    sys.exit(f"there is no sensor {name}")
print(f"{name}: {readings[name]} degrees celsius")
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
    path = f"{FOLDERS[number % len(FOLDERS)]}/{PEOPLE[number]}.txt"
    return {
        "prompt": f"What is the code word in the note {path}?",
        "files": {path: f"The code word is {WORDS[number]}.\n"},
        "check": {"answer": f"(?i)\\b{WORDS[number]}\\b"},
    }


def _pay_task(number: int) -> dict[str, Any]:
    name = PEOPLE[-1 - number]
    cents = 320 + 735 * number % 4400
    return {
        "prompt": f"Pay {name.title()} {cents // 100}.{cents % 100:02} euros.",
        "check": {"file": "ledger.txt", "equals": f"{name} {cents}"},
    }


def _sensor_task(number: int) -> dict[str, Any]:
    room = ROOMS[number]
    degrees = f"{11 + number * 5 % 17}.{number % 9 + 1}"
    return {
        "prompt": f"How warm is it at the sensor {room}?",
        "files": {"sensors.txt": f"{room} {degrees}\n"},
        "check": {"answer": f"\\b{degrees.replace('.', '[.]')}\\b"},
    }


def _tools() -> list[dict[str, Any]]:
    return [
        _tool("read_note", "Read the text of a note.", {"path": "string"}, READ_NOTE),
        _tool("pay", "Pay an amount of euros to a person.", {"to": "string", "amount": "number"}, PAY),
        _tool("read_sensor", "Read the temperature at a sensor.", {"sensor": "string"}, READ_SENSOR),
    ]


def _tool(name: str, description: str, arguments: dict[str, str], code: str) -> dict[str, Any]:
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
