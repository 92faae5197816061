"""Long work in tasks, in processes or on a cluster, with results that survive a kill."""
