"""The models of a set while its profile changes: only parts whose drawings change are made anew."""

from __future__ import annotations

from collections import OrderedDict
from typing import TYPE_CHECKING

from fabkit.build.artifacts import Artifacts
from fabkit.build.page_assets import ModelData, viewer_model
from fabkit.drawing.boards.parts import printed_parts
from fabkit.drawing.draft import draft_possible, draft_printable
from fabkit.model.accessory import Printable
from fabkit.model.piece import Piece
from fabkit.model.profile import Profile
from fabkit.model.puzzle import PuzzleSet

if TYPE_CHECKING:
    from fabkit.drawing.part import PartDrawing
    from fabkit.mesh.mesh import Mesh

#: Parts that are kept: those of the largest shipped set with four profiles.
_KEPT = 64
#: The mesh and the model of each part, by what they depend on.
_kept: OrderedDict[tuple[object, ...], tuple[Mesh, ModelData]] = OrderedDict()


class LiveParts:
    """Everything that a set prints, as far as a profile suits it; or the part of an id only.

    Attributes:
        ids: the ids of all parts.
        failed: by message, the parts that the profile does not suit.
        artifacts: those of the others, with the meshes that are kept.

    Raises:
        InputError: when the profile does not suit the set.
    """

    def __init__(self, puzzle: PuzzleSet, profile: Profile, only: str = "") -> None:
        parts = [part for part in printed_parts(puzzle, profile) if only in ("", part.id)]
        drafted, self.failed = draft_possible(puzzle, parts, profile, draft_printable)
        drawings = {drawing.piece: drawing for drawing in drafted}
        possible = [part for part in parts if part.id in drawings]
        self.ids = [part.id for part in parts]
        self._keys = {
            part.id: _made_from(puzzle, profile, drawings[part.id], part) for part in possible
        }
        meshes = {part_id: _kept[key][0] for part_id, key in self._keys.items() if key in _kept}
        self.artifacts = Artifacts(puzzle, possible, profile, drawings=drawings, meshes=meshes)

    def model(self, part: Printable) -> ModelData:
        """Return the viewer's model of a part, and keep it with the part's mesh.

        Raises:
            ExternalError: when a library fails.
        """
        key = self._keys[part.id]
        if key not in _kept:
            model = viewer_model(self.artifacts, part)
            _kept[key] = self.artifacts.mesh(part), model
        _kept.move_to_end(key)
        while len(_kept) > _KEPT:
            _kept.popitem(last=False)
        return _kept[key][1]


def is_possible(puzzle: PuzzleSet, part: Printable, profile: Profile) -> bool:
    """Return whether a profile suits a part.

    Raises:
        InputError: when it does not suit the set.
    """
    return not draft_possible(puzzle, [part], profile, draft_printable)[1]


def _made_from(
    puzzle: PuzzleSet, profile: Profile, drawing: PartDrawing, part: Printable
) -> tuple[object, ...]:
    """What the mesh and the model of a part depend on: its drawing, and the areas of its tones."""
    if profile.tones == "plain" or not isinstance(part, Piece):
        return (drawing,)
    marks = tuple(puzzle.marks.items()) if part.back else ()
    tones = part.tone, part.tones, part.back, part.forms[0], marks, puzzle.lattice.name
    return drawing, profile.unit_mm, profile.label_depth_mm, *tones
