"""Agents and frameworks that warmstart plugs into; each module stands alone."""
