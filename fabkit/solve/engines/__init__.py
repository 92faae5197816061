"""The engines; `fabkit.solve.engines.engine.engine_named` imports one when it is wanted."""
