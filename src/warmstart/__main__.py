"""``python -m warmstart``: the same command as ``warmstart``."""

from warmstart.cli.main import main

main()
