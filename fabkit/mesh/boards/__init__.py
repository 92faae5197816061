"""Boards, trays and lids: measured on their meshes, alone and with pieces in them."""
