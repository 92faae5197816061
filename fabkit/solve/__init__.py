"""Exact cover: the problem, the engines that solve it, and what they answer."""
