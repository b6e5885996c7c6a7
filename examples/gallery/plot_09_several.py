"""
More than one good rule
=======================

The best rules of one row: often several are equally precise, and a person may choose.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_breast_cancer
from sklearn.ensemble import RandomForestClassifier

import cpx

data = load_breast_cancer(as_frame=True)
forest = RandomForestClassifier(random_state=0).fit(data.data, data.target)
explainer = cpx.Explainer(forest, data.data, class_names=data.target_names)
problem = explainer.problem(19, k=2, min_coverage=0.3)
found = cpx.solutions(problem, n=12)
print(found)

# %%
# Precision and coverage of each.
figure, ax = plt.subplots(layout="constrained")
measured = [problem.evaluate(one) for one in found]
ax.scatter([float(m.coverage) for m in measured], [float(m.precision) for m in measured])
ax.set(xlabel="coverage", ylabel="precision", title="Twelve rules of two conditions")
