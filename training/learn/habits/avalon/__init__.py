"""Habits learned from recorded games of Avalon: what is counted, how it is fitted, and how well it tells games not learned from."""
