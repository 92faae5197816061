"""Long work in shards: a ledger that survives a kill, workers here or on a cluster."""
