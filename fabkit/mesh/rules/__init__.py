"""The rules of an inspection, by what they look at. Each gives its findings on one part."""
