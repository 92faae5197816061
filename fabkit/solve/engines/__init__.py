"""The engines; `fabkit.solve.engines.engine.get_engine` imports one when it is wanted."""
