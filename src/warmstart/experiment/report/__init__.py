"""The report of an experiment, in the terminal, as Markdown and as one HTML page.

All three say the same, from the same lines and tables; a negative or open result is written with
the same care as a good one. Pure: a ``Subject`` in, text out.
"""

from warmstart.experiment.report.markdown import write_markdown
from warmstart.experiment.report.page import write_page
from warmstart.experiment.report.subject import Change, Subject
from warmstart.experiment.report.terminal import list_blocks

__all__ = ["Change", "Subject", "list_blocks", "write_markdown", "write_page"]
