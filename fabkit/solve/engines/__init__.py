"""The engines; `fabkit.solve.engines.engine.get_engine` imports one when needed."""

#: The engines by name, each with its module here and its class; the fastest for most first.
ENGINES = {
    "search": ("search", "Search"),
    "count": ("frontier", "Count"),
    "sat": ("sat", "Sat"),
    "cp-sat": ("cpsat", "CpSat"),
    "mip": ("mip", "Mip"),
}
