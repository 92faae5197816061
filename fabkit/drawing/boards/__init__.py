"""Boards, trays and lids: drawn as prisms and cylinders that are added and cut in order."""
