"""
Why is this tumour benign?
==========================

A rule of three conditions, the most precise one that covers half of the rows, with its proof.
"""

from sklearn.datasets import load_breast_cancer
from sklearn.ensemble import RandomForestClassifier

import cpx

data = load_breast_cancer(as_frame=True)
forest = RandomForestClassifier(random_state=0).fit(data.data, data.target)
explainer = cpx.Explainer(forest, data.data, class_names=data.target_names)
rule = explainer.rule(19, k=3, min_coverage=0.5)
print(rule.summary())

# %%
# Each line is a column of the rule: how its values are distributed, the part that the rule
# covers, and the value of the row.
rule.plot()
