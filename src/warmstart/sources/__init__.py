"""Foreign session stores, read-only: every format people have, as one model.

Nothing outside this package knows a format; nothing inside it writes.
"""

from warmstart.sources.log import ReadLog, Skip
from warmstart.sources.reader import Probe, Reader, Unit
from warmstart.sources.registry import READERS, find_reader, get_reader
from warmstart.sources.scan import Found, find_units, read_sessions, read_unit

__all__ = [
    "READERS",
    "Found",
    "Probe",
    "ReadLog",
    "Reader",
    "Skip",
    "Unit",
    "find_reader",
    "find_units",
    "get_reader",
    "read_sessions",
    "read_unit",
]
