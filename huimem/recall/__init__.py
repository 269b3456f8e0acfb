"""A question → candidates → ranking → context."""
