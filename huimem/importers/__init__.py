"""Foreign export → conversations: one file a source, each told by the shape of what it reads."""
