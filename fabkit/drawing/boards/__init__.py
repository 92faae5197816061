"""Boards, trays and lids: drawn as prisms and bores that are added and cut in order."""
