"""What a piece will measure, in millimetres, before any solid exists: printed outline, recesses, letter."""
