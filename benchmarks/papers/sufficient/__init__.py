"""Wang, Khosravi and Van den Broeck (IJCAI 2021): probabilistic sufficient explanations."""
