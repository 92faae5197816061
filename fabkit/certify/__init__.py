"""Independent verification of certificates: it shares no code with the search.

A certificate states a challenge in integers, a claim about it, and an argument. Here the challenge
is redrawn in real coordinates, placements and symmetries are derived a second time, and the
argument is replayed step by step. A file of impossible shapes proves many claims at once.
"""

from fabkit.certify.document import Certificate, ImpossibleShapes, parse, read
from fabkit.certify.verdict import Verdict, verify, verify_content

__all__ = [
    "Certificate",
    "ImpossibleShapes",
    "Verdict",
    "parse",
    "read",
    "verify",
    "verify_content",
]
