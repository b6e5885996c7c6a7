"""
Seven encodings of one problem
==============================

What becomes of five samples in each encoding: variables and rows, and how far the relaxation of
the linear program is from the optimum.
"""

import matplotlib.pyplot as plt
import numpy as np

import cpx
from cpx.modelling.encodings import encoding_names as names

rng = np.random.default_rng(0)
agreement = rng.random((60, 12)) < 0.6
problem = cpx.KMonomial(cpx.Samples(agreement, agreement[:, :2].all(axis=1)), k=3)
sizes = {name: problem.model(name).sizes("lp") for name in names(problem)}
for name, size in sizes.items():
    print(f"{name:12} {size}")

# %%
# Rows and variables of the linear program.
figure, ax = plt.subplots(layout="constrained")
for name, size in sizes.items():
    ax.scatter(size["variables"], size["constraints"])
    ax.annotate(name, (size["variables"], size["constraints"]))
ax.set(xlabel="variables", ylabel="rows", title="60 samples, 12 features, k = 3")
