"""A piece's images: its outlines turned, and perhaps turned over, and the cells inside them."""

from __future__ import annotations

from fabkit.certify.certificate import DrawnPiece
from fabkit.certify.outline import Draughtsman, Shape
from fabkit.certify.refusal import RefusedError
from fabkit.certify.tiling import Keys, Tiling, moved

#: A piece's distinct images, each as the keys of its cells with the translation divided out.
Images = dict[bytes, Keys]


def images_of(
    tiling: Tiling, piece: DrawnPiece, flips: bool, draughtsman: Draughtsman, key: str
) -> Images:
    """A piece's distinct images, drawn, turned, and perhaps turned over.

    Args:
        tiling: the lattice.
        piece: as the file draws it.
        flips: whether it may be turned over.
        draughtsman: who draws it.
        key: the piece's place in the file, for messages.

    Raises:
        InputError: when an outline is not drawn along the lattice.
    """
    images: Images = {}
    for index, rings in enumerate(piece.forms):
        form = draughtsman.draw(rings, f"{key}.forms[{index}]")
        for turn, flip in tiling.moves(flips):
            keys = _cells_of_image(tiling, form, turn, flip)
            images[keys.tobytes()] = keys
    return images


def _cells_of_image(tiling: Tiling, form: Shape, turn_degrees: int, flip: bool) -> Keys:
    """A form's image is turned as a polygon, and its cells are looked for again."""
    keys = tiling.inside(moved(form.polygon, turn_degrees, flip))
    if len(keys) != len(form.keys):
        raise RefusedError(f"a turn by {turn_degrees} degrees changes how many cells a form has")
    return tiling.to_origin(keys)
