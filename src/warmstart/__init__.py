"""Start every agent session as good as your best one, and prove it.

Importing this package loads nothing heavy and has no effects; names below are fetched on use.
"""

from warmstart._version import __version__

__all__ = ["__version__"]
