"""What is measured, not tested: retrieval on public sets, time and memory on large vaults."""
