"""The sample sessions: a story in data, and one writer per format."""
