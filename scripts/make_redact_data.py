"""Write a split of the redaction bench as JSONL, for tools other than ours.

    python scripts/make_redact_data.py dev|heldout [FILE]

The splits are made from a seed and are not kept in the repository: they are full of strings that
look like live keys to every scanner.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "bench"))

from redact_cases import SPLITS, make_cases


def main() -> int:
    """Write the split named on the command line."""
    if len(sys.argv) not in (2, 3) or sys.argv[1] not in SPLITS:
        print(__doc__, file=sys.stderr)
        return 2
    lines = "".join(json.dumps(case) + "\n" for case in make_cases(sys.argv[1]))
    if len(sys.argv) == 3:
        Path(sys.argv[2]).write_text(lines)
    else:
        sys.stdout.write(lines)
    return 0


if __name__ == "__main__":
    sys.exit(main())
