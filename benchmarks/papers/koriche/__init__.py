"""Koriche et al. (ECML PKDD 2024): Table 2 and Figures 1 and 2."""
