"""Pictures of solid things: triangles with colours in, a PNG file out."""
