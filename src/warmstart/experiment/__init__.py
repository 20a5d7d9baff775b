"""Experiments: does a warm start help, on these tasks, with this model, and how sure is that?

Pure: plans, tasks and trials in, schedules and verdicts out. Running agents is ``runners``.
"""
