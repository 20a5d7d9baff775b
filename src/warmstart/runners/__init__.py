"""Carrying out the trials of an experiment: endpoints, commands, and sessions already recorded.

The only code of an experiment that talks to a network, starts processes or writes files.
"""
