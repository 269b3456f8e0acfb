"""The verbs for agents, over the Model Context Protocol: one process beside one client, on its pipes.

In: JSON-RPC from a client. Out: the same tools that people have as verbs, each answer as text and as data.
"""
