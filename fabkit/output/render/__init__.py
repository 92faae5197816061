"""A renderer: coloured triangle meshes in, a PNG file out."""
