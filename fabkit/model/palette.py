"""The colours of pieces whose set file names none."""

from __future__ import annotations

#: Sixteen colours that every eye tells apart, also two of them alone: by CIEDE2000 any two differ
#: by 19 for usual eyes and by 12 for colour-blind ones (10 is about four times what is just seen).
#: Found by a search over colours whose channels are multiples of 17, for the largest least
#: difference in all four visions; the first ones differ most. `tests/output/test_drawings_colours.py`
#: measures them.
PALETTE = (
    "#0077ee", "#bbaa00", "#990000", "#55eeff", "#770055", "#ff88bb", "#ffddcc", "#006644",
    "#778888", "#bbee77", "#886699", "#cc1155", "#2233aa", "#55bb88", "#aa7722", "#bb99ff",
)  # fmt: skip


def colour_of(index: int) -> str:
    """The colour of the piece at a place in its set; after sixteen they begin again.

    Example:
        >>> colour_of(0), colour_of(16)
        ('#0077ee', '#0077ee')
    """
    return PALETTE[index % len(PALETTE)]
