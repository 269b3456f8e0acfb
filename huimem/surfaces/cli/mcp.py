"""`huimem mcp`: serve agents, and set up their clients."""

from __future__ import annotations

from huimem.surfaces.cli.options import shared_options
from huimem.surfaces.cli.table import Row, Table

VERBS = {
    "serve": Row("Serve one client over standard input and output.", "mcp_serve:serve"),
    "install": Row(
        "Enter huimem among the MCP servers of a client, and see whether it answers.", "mcp_install:install"
    ),
    "config": Row(
        "Print what `huimem mcp install` would enter in a client's file, and write nothing.",
        "mcp_install:config",
    ),
}
EXAMPLES = (
    "huimem mcp install --client claude-code",
    "huimem mcp config --client cursor",
    "huimem mcp serve --vault ~/Notes/AI --read-only",
)

command = Table(
    "huimem mcp",
    VERBS,
    EXAMPLES,
    options_title="Options",
    params=shared_options(),
    help="Serve agents over MCP; set up their clients.",
    no_args_is_help=False,
)
