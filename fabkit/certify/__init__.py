"""The judge of certificates: it believes nothing, and shares nothing with the search.

A certificate states a challenge in integers, claims something of it (that it has no solution,
exactly one, or so many), and argues for it. Here the challenge is drawn again with shapely in
real coordinates, placements and symmetries are derived a second time, and the argument is
followed step by step. A file of impossible shapes argues for many at once, in the same way.
"""

from fabkit.certify.certificate import Certificate
from fabkit.certify.check import Verdict, check, judge
from fabkit.certify.impossible import ShapesVerdict, check_shapes, judge_shapes
from fabkit.certify.reading import certificate_of, read_certificate, read_document
from fabkit.certify.shapes import ImpossibleShapes, is_of_shapes, shapes_of

__all__ = [
    "Certificate",
    "ImpossibleShapes",
    "ShapesVerdict",
    "Verdict",
    "certificate_of",
    "check",
    "check_shapes",
    "is_of_shapes",
    "judge",
    "judge_shapes",
    "read_certificate",
    "read_document",
    "shapes_of",
]
