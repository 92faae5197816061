"""The closed loop: scan meshes, check them against a profile, and solve the catalog with them."""
