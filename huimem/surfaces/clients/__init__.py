"""MCP clients: where each keeps its settings, how huimem is entered there, and whether that works."""
