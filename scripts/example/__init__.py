"""The packaged experiment with a real model: server, loop, and the page about it."""
