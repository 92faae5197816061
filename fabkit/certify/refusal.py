"""How a step of the checker says no."""


class RefusedError(Exception):
    """The certificate is well formed, but does not hold; the sentence says where and why."""
