"""Experiments: whether a warm start helps, on these tasks with this model, and how sure that is.

Pure: plans, tasks and trials in, schedules and verdicts out. Running agents is ``runners``.
"""
