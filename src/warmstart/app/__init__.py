"""Where stores and stages meet: the one package that both opens things and runs stages.

``Workspace`` (in ``core``) knows the home and every session store around it; each module beside it
joins one stage to storage and takes a ``Workspace`` as its first argument.
"""

from warmstart.app.core import Workspace

__all__ = ["Workspace"]
