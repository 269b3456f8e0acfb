"""Words → time ranges: a rule engine, pure, with no clock and no I/O of its own."""

from huimem.when.resolve import resolve

__all__ = ["resolve"]
