"""The models of a set while its profile changes: only parts whose drawings change are made anew."""

from __future__ import annotations

from collections import OrderedDict
from typing import TYPE_CHECKING

import numpy as np

from fabkit.build.artifacts import Artifacts
from fabkit.drawing.boards.parts import printed_parts
from fabkit.drawing.draft import draft_possible, draft_printable
from fabkit.model.lattice import Cell
from fabkit.model.piece import Piece
from fabkit.model.puzzle import PuzzleSet
from fabkit.output.render.assembly import boards_for_region, piece_placements
from fabkit.output.web.viewerdata import ModelData, viewer_matrix, viewer_model
from fabkit.printing.plate import mesh_transform
from fabkit.profiles.accessory import LID, Printable
from fabkit.profiles.profile import Profile
from fabkit.solve.encoding import Layout

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
        impossible = {part.id for failed in self.failed.values() for part in failed}
        possible = [part for part in parts if part.id not in impossible]
        drawings = dict(zip(possible, drafted, strict=True))
        self.ids = [part.id for part in parts]
        self._keys = {
            part.id: _made_from(puzzle, profile, drawing, part)
            for part, drawing in drawings.items()
        }
        meshes = {part_id: _kept[key][0] for part_id, key in self._keys.items() if key in _kept}
        self.artifacts = Artifacts(puzzle, possible, profile, drawings, meshes)

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


def plate_matrices(artifacts: Artifacts) -> list[list[tuple[str, list[float]]]]:
    """Return the ids of the parts on each plate, with their matrices.

    Raises:
        InputError: when a part is larger than the bed.
    """
    drawings = artifacts.drawings
    return [
        [
            (part.name, viewer_matrix(mesh_transform(part, drawings[part.name])))
            for part in plate.placements
        ]
        for plate in artifacts.plates
    ]


def assembled_matrices(
    puzzle: PuzzleSet, profile: Profile, region: frozenset[Cell], layout: Layout
) -> list[tuple[str, list[float]]]:
    """Return the ids and matrices of the pieces, and of the board under them if it is printed.

    Args:
        region: the cells of the board.

    Raises:
        InputError: when the profile does not suit a piece or the board.
    """
    boards = [board for board in boards_for_region(puzzle, region, profile) if board.kind != LID]
    artifacts = Artifacts(puzzle, (*puzzle.select([*layout]), *boards), profile)
    placements = piece_placements(artifacts, region, layout, boards)
    parts = [(board.id, viewer_matrix(np.eye(3, 4))) for board in boards]
    return parts + [(piece, viewer_matrix(place)) for piece, (place, _) in placements.items()]


def _made_from(
    puzzle: PuzzleSet, profile: Profile, drawing: PartDrawing, part: Printable
) -> tuple[object, ...]:
    """Return what mesh and model of a part depend on: its drawing, and the areas of its tones."""
    if profile.tones == "plain" or not isinstance(part, Piece):
        return (drawing,)
    marks = tuple(puzzle.marks.items()) if part.back else ()
    tones = part.tone, part.tones, part.back, part.forms[0], marks, puzzle.lattice.name
    return drawing, profile.unit_mm, profile.label_depth_mm, *tones
