"""Markdown files ↔ records: the only place that knows how a vault is written down."""
