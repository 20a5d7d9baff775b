"""Pages a person would send to a colleague: one file, no network, no script, everything escaped.

``page`` builds the document, ``svg`` the plots in it. Pure text in, text out.
"""

from warmstart.report.page import Html, build_page, escape

__all__ = ["Html", "build_page", "escape"]
