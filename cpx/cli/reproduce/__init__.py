"""``cpx reproduce``: the experiments of the papers, one command each."""
