"""The judge of certificates: it believes nothing, and shares nothing with the search.

A certificate states a challenge in integers, claims something of it, and argues for it. Here the
challenge is drawn again in real coordinates, placements and symmetries are derived a second time,
and the argument is followed step by step. A file of impossible shapes argues for many at once.
"""

from fabkit.certify.check import Verdict, check, judge
from fabkit.certify.document import Certificate, ImpossibleShapes, parse, read

__all__ = ["Certificate", "ImpossibleShapes", "Verdict", "check", "judge", "parse", "read"]
