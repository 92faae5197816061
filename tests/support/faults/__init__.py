"""A catalogue of faults to plant in printed pieces, each with the rule that must name it."""
