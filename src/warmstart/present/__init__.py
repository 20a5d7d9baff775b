"""Every result worded once: a result becomes a Document, and four writers put it out."""
