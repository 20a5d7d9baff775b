"""Statistics for agent sessions: small, pure, standard library only.

Every function names its source. Degenerate input (no clusters, no calls, differences that are all
zero) gives the widest honest answer and never raises; what that is stands in each docstring. The
unit is the task or the session, never the tool call: no test on pooled calls is offered.
"""
