"""The rules, by what they examine. Each yields findings on one part."""
