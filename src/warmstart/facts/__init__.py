"""Facts: sessions reduced to what every figure is computed from, and the index that keeps them.

``derive_facts`` is the meaning of every field; the lanes are faster ways to the same rows, and the
index only remembers. Whatever is here can be thrown away and made again from the sources.
"""

from warmstart.facts.derive import derive_facts

__all__ = ["derive_facts"]
