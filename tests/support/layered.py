"""Numbers that say where layers end and how deep recesses are, all in hundredths of a millimetre."""

from __future__ import annotations

from dataclasses import dataclass, replace

from hypothesis import strategies as st

from fabkit.model.profile import Profile


@dataclass(frozen=True)
class Layered:
    """What tells the span of a recess."""

    first: int
    layer: int
    magnet: int
    air: int
    floor: int
    roof: int
    depth: int
    thickness: int
    fit: str
    faces: str

    def profile(self, base: Profile) -> Profile:
        """A profile with these numbers."""
        return replace(
            base,
            first_layer_mm=self.first / 100,
            layer_mm=self.layer / 100,
            magnet_height_mm=self.magnet / 100,
            air_mm=self.air / 100,
            floor_mm=self.floor / 100,
            roof_mm=self.roof / 100,
            label_depth_mm=self.depth / 100,
            thickness_mm=self.thickness / 100,
            fit=self.fit,
            faces=self.faces,
        )

    @property
    def front(self) -> int:
        """How deep the letter in the front is."""
        return self.depth * (self.faces != "none")

    @property
    def back(self) -> int:
        """How deep the letter in the back is."""
        return self.depth * (self.faces == "both")


def layered(least_air: int) -> st.SearchStrategy[Layered]:
    """All that can be asked for, nearly."""
    ways = ("press front", "embedded front", "embedded both", "glue none")
    return st.builds(
        lambda how, **numbers: Layered(fit=how.split()[0], faces=how.split()[1], **numbers),
        st.sampled_from(ways),
        first=st.integers(5, 60),
        layer=st.integers(5, 60),
        magnet=st.integers(30, 800),
        air=st.integers(least_air, 30),
        floor=st.integers(20, 300),
        roof=st.integers(20, 200),
        depth=st.integers(10, 150),
        thickness=st.integers(300, 1500),
    )
