"""The loop closed: meshes read back, checked against their profile, and made to solve the catalog."""
