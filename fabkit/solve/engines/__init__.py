"""The engines; `fabkit.solve.engines.engine.get_engine` imports one when needed."""
