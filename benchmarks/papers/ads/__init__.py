"""Lu and Ester (2019): decision sets for a network on Adult."""
