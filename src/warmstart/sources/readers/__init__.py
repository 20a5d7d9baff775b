"""One file per format; none knows another. The registry lists them in order of recognition."""
