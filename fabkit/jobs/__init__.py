"""Long work in tasks: done on processes or on a cluster, kept as it is done, resumed after a kill."""
