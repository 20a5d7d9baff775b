"""A process that appends to a store, for tests that start several and kill some.

python writer_process.py ADDRESS SESSION COUNT [BATCH] prints a line per acknowledged batch.
"""

from __future__ import annotations

import sys

from warmstart.store import SessionDB


def say(word: object) -> None:
    sys.stdout.write(f"{word}\n")
    sys.stdout.flush()


def main() -> None:
    address, session_id, count = sys.argv[1], sys.argv[2], int(sys.argv[3])
    batch = int(sys.argv[4]) if len(sys.argv) > 4 else 1
    # Longer than a busy machine may take to start a server again.
    with SessionDB.open(address, deadline_seconds=120) as db:
        say("ready")
        for start in range(0, count, batch):
            db.append_messages(
                session_id,
                [
                    {"role": "user", "content": f"{session_id} {n}"}
                    for n in range(start, start + batch)
                ],
            )
            say(start + batch)


if __name__ == "__main__":
    main()
