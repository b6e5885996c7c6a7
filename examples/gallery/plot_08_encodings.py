"""
One problem, eight encodings
============================

What becomes of the same samples in each encoding, and how long HiGHS takes.
"""

import matplotlib.pyplot as plt
import numpy as np

import cpx
from cpx.modelling.encodings import encoding_names

rng = np.random.default_rng(0)
agreement = rng.random((60, 12)) < 0.6
same = agreement[:, :2].all(axis=1) ^ (rng.random(60) < 0.2)
problem = cpx.KMonomial(cpx.Samples(agreement, same), k=3)
results = {
    name: cpx.solve(problem, "milp:highs", encoding=name, warm_start=False)
    for name in encoding_names(problem)
}
for name, result in results.items():
    print(f"{name:15} {result.status} {result.objective}, {result.times.cpu:.2f} s")

# %%
# Rows of the program. ``table1-literal`` is a table as printed: its K may be more than the size.
figure, ax = plt.subplots(figsize=(6.4, 3), layout="constrained")
bars = ax.barh(list(results), [result.sizes["constraints"] for result in results.values()])
ax.bar_label(bars, padding=3)
ax.margins(x=0.1)
ax.set(xlabel="rows", title="60 samples, 12 features, k = 3")
ax.invert_yaxis()
