"""The rules: their ids, what they are about, what they are called, and what they ask for.

Help, README and `check.html` take their texts from here. Rules that ask for one thing together share
a sentence.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Rule:
    """One rule.

    Attributes:
        id: what reports call it.
        kind: what it is about: any ``mesh``, a ``flat piece``, a ``piece on stubs``, a
            ``ball piece``, a ``board``, a ``lid``, or the ``set``.
        title: the same for people, a few words.
        asks: one sentence on what it asks for, alone or with others.
    """

    id: str
    kind: str
    title: str
    asks: str


#: What rules ask for together, by kind: the sentence, and the id and title of each.
_GROUPS: tuple[tuple[str, str, dict[str, str]], ...] = (
    (
        "mesh",
        "The surface is closed, turned outwards, and cuts nowhere into itself.",
        {
            "watertight": "open edges",
            "winding": "faces turned the wrong way",
            "degenerate": "faces without extent or there twice",
            "self-intersection": "faces that cut through each other",
        },
    ),
    (
        "mesh",
        "There is one body, with a closed cavity for each embedded magnet and no other.",
        {"shells": "separate bodies", "cavities": "cavities inside", "volume": "volume"},
    ),
    (
        "mesh",
        "The printer of the profile can print it, with the face on the bed that the profile says.",
        {"overhang": "steepest overhang", "bridge": "widest ceiling", "bed": "room on the bed"},
    ),
    (
        "flat piece",
        "The outline lies on the lattice, is that of its piece (and not its mirror image), and "
        "carries its letter.",
        {
            "read-back": "outline on the lattice",
            "shape": "outline of a piece",
            "letter": "letter on the face",
            "letter-back": "letter on the back",
        },
    ),
    (
        "flat piece",
        "It rests on the bed as it lies in its file.",
        {"flat-back": "part that rests on the bed", "lies-on-back": "how it lies in its file"},
    ),
    (
        "flat piece",
        "Nothing stands out of back and face, and they are not hollow, by more than 0.05 mm.",
        {"even-back": "unevenness of the back", "even-face": "unevenness of the face"},
    ),
    (
        "flat piece",
        "Nothing sticks out of the outline as drawn, and nothing of it is missing, by more than "
        "0.05 mm.",
        {"bump": "what sticks out of the outline", "dent": "what is missing from the outline"},
    ),
    (
        "flat piece",
        "Sizes are the profile's, to 0.2 % and 0.05 mm.",
        {
            "unit": "grid unit",
            "thickness": "thickness",
            "top-chamfer": "chamfer around the face",
            "foot-chamfer": "chamfer around the back",
        },
    ),
    (
        "flat piece",
        "The gap to a usual neighbour is within the profile's limits, along every edge.",
        {"gap-least": "least gap", "gap-most": "greatest gap"},
    ),
    ("flat piece", "Every acute tip has a flat.", {"tip": "flat of the sharpest tip"}),
    (
        "flat piece",
        "There are the right recesses: the largest cylinder that goes into a bore, and the smallest "
        "around it, are right to 0.05 mm, and the depth holds the magnet and no more air than 0.3 mm.",
        {
            "recess-count": "number of recesses",
            "recess-diameter": "bore of the recess",
            "recess-empty": "free recess",
            "rib-crest": "bore between the ribs",
            "recess-depth": "depth of the recess",
            "recess-open": "recess open at the back",
            "recess-closed": "closed cavity",
            "mouth": "lead-in of the recess",
        },
    ),
    (
        "flat piece",
        "There is enough plastic beside, below and above a recess.",
        {
            "wall": "wall beside the recess",
            "bed-wall": "wall at the recess's mouth",
            "roof": "plastic above the recess",
            "floor": "plastic below the recess",
            "cut-through": "holes through the piece",
        },
    ),
    (
        "flat piece",
        "A closed cavity ends where a layer ends, as the piece is printed.",
        {"pause-height": "height of the pause"},
    ),
    (
        "flat piece",
        "Where poles alternate, there is a round dimple at each magnet whose south pole shows, with "
        "enough plastic around and beyond it, and none elsewhere.",
        {
            "pole-mark": "marks of south poles",
            "mark-diameter": "width of a mark",
            "mark-depth": "depth of a mark",
            "mark-wall": "wall beside a mark",
            "mark-floor": "plastic beyond a mark",
        },
    ),
    (
        "flat piece",
        "There are letters where the profile asks for them, and they print.",
        {
            "label-face": "letter on the face",
            "label-back": "letter on the back",
            "label-depth": "depth of the letter",
            "label-margin": "room around the letter",
            "label-stroke": "thinnest stroke",
            "label-island": "narrowest island in the letter",
        },
    ),
    (
        "flat piece",
        "The letter is as large as it is drawn, to a quarter, and stands on the piece as it does there.",
        {"label-size": "size of the letter", "label-turn": "turn of the letter"},
    ),
    (
        "piece on stubs",
        "There is one stub below the middle of each cell, as thick and high as asked.",
        {
            "stub-count": "number of stubs",
            "stub-place": "place of the stubs",
            "stub-diameter": "width of the stubs",
            "stub-height": "height of the stubs",
        },
    ),
    (
        "ball piece",
        "Balls and links are those of a piece of the set, and it lies on its flat.",
        {
            "ball-read": "balls on the lattice",
            "ball-shape": "balls and links of a piece",
            "ball-lies": "how it lies in its file",
        },
    ),
    (
        "ball piece",
        "Balls and links have their size, are apart where there is no link, have nothing beside them, "
        "and a flat under each to print on.",
        {
            "ball-pitch": "distance between balls",
            "ball-diameter": "width of the balls",
            "ball-link": "width of the links",
            "ball-gap": "gap between balls",
            "ball-stray": "what is no ball and no link",
            "ball-flat": "flat under the balls",
        },
    ),
    (
        "ball piece",
        "Seen from above, in each flat pose, a piece keeps inside its own cells.",
        {"ball-cells": "room in its own cells"},
    ),
    (
        "board",
        "A board is one of the set, and has its lid.",
        {
            "board-read": "board of the set",
            "board-lid": "lid of the board",
            "lid-board": "board of the lid",
        },
    ),
    (
        "board",
        "There is one bore at each place, to 0.02 mm, and room below for a ball one pitch down.",
        {
            "board-holes": "number of holes",
            "board-hole-diameter": "width of the holes",
            "board-hole-place": "place of the holes",
            "board-depth": "room below the balls",
        },
    ),
    (
        "board",
        "Posts have one height, and channels are as wide and deep as links need.",
        {
            "board-posts": "height of the posts",
            "board-channels": "width of the channels",
            "board-channel-depth": "depth of the channels",
            "board-channel-free": "free channels",
        },
    ),
    (
        "board",
        "There is one seat for each cell, as wide as asked, 0.1 mm deeper than its stub.",
        {
            "board-seats": "number of seats",
            "board-seat-diameter": "width of the seats",
            "board-seat-place": "place of the seats",
            "board-seat-depth": "depth of the seats",
        },
    ),
    (
        "board",
        "The opening leaves the clearance, to 0.02 mm all around, and square pieces go into its corners.",
        {"board-opening": "clearance in the tray", "board-corners": "corners of the tray"},
    ),
    (
        "board",
        "There is enough plastic, and air below the lid.",
        {
            "board-floor": "floor of the board",
            "board-wall": "wall of the board",
            "board-height": "room below the lid",
        },
    ),
    (
        "lid",
        "The lid closes without overlap, gets there, cannot be lifted by 2 mm, and stretches by 2 % at "
        "most.",
        {
            "lid-fits": "closed lid",
            "lid-path": "way of the lid",
            "lid-held": "hold of the lid",
            "lid-strain": "stretch of the hooks",
        },
    ),
    (
        "board",
        "A piece, lying any way at any place of its board, has nothing in common with it, and gets "
        "there straight from above.",
        {"seat-free": "room in the board", "seat-insert": "way into the board"},
    ),
    (
        "board",
        "A piece has 0.3 to 0.6 mm of play in its board, turns by 3 degrees at most, and rests on it.",
        {
            "seat-play": "least play in the board",
            "seat-loose": "greatest play in the board",
            "seat-turn": "turning in the board",
            "seat-rest": "rest on the board",
        },
    ),
    (
        "board",
        "No two pieces side by side come nearer than `gap.min`.",
        {"seat-neighbours": "gap to neighbours"},
    ),
    (
        "board",
        "A piece on stubs, turned over, lies at least 1.5 mm higher.",
        {"seat-proud": "height when turned over"},
    ),
    (
        "set",
        "The parts are the whole set and nothing else, and a file named like one holds it.",
        {
            "missing": "missing pieces",
            "twice": "pieces there twice",
            "strange": "parts that are no piece",
            "file-name": "names of the files",
        },
    ),
    (
        "set",
        "Every challenge is answered as the catalog says, so that it could be assembled.",
        {"put-together": "assembled challenges"},
    ),
    (
        "set",
        "Files are in millimetres, and there is some clearance.",
        {"lengths": "unit of length", "clearance": "clearance between parts"},
    ),
)

#: All rules by their ids, in the order in which they are told.
RULES: dict[str, Rule] = {
    name: Rule(name, kind, title, asks)
    for kind, asks, titles in _GROUPS
    for name, title in titles.items()
}


def title_of(rule: str) -> str:
    """What a rule is called, for people; its id where it is not in the table.

    Example:
        >>> title_of("wall"), title_of("no-such-rule")
        ('wall beside the recess', 'no-such-rule')
    """
    return RULES[rule].title if rule in RULES else rule


def readme_table() -> str:
    """The table of the README, in Markdown: a line for the rules that ask for one thing together."""
    lines = ["| of | rule | asks |", "| --- | --- | --- |"]
    for kind, asks, titles in _GROUPS:
        lines.append(f"| {kind} | {', '.join(f'`{name}`' for name in titles)} | {asks} |")
    return "\n".join(lines) + "\n"
