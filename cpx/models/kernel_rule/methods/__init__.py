"""Heuristics for rules of kernel machines: the genetic algorithm of Polato and Aiolli."""
