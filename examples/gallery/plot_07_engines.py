"""
One problem, many engines
=========================

The same statement, solved by an exact search, CP-SAT, MaxSAT and MILP, each checked.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_wine
from sklearn.ensemble import RandomForestClassifier

import cpx

data = load_wine(as_frame=True)
forest = RandomForestClassifier(random_state=0).fit(data.data, data.target)
explainer = cpx.Explainer(forest, data.data)
problems = {f"row {row}": explainer.problem(row, k=3, objective="loss") for row in (0, 70, 150)}
comparison = cpx.compare(problems, "search,cpsat,maxsat,milp:highs", time_limit=10)
print(comparison)

# %%
# Value and proven bound over time for the first problem: where they meet, it is solved.
figure, ax = plt.subplots(layout="constrained")
for run in comparison.runs[: len(comparison.scores())]:
    seconds, values, bounds = zip(*run.result.trace, strict=True)
    (line,) = ax.step(seconds, values, where="post", label=run.engine)
    ax.step(seconds, bounds, where="post", color=line.get_color(), linewidth=0.8)
ax.set(xscale="log", xlabel="seconds", ylabel="loss, and bound on it")
ax.legend()
