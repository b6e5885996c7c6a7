"""
What would change the class
===========================

The smallest change of one row that gets another class, in columns that may be changed.
"""

from sklearn.datasets import load_breast_cancer
from sklearn.ensemble import RandomForestClassifier

import cpx

data = load_breast_cancer(as_frame=True)
forest = RandomForestClassifier(30, max_depth=6, random_state=0).fit(data.data, data.target)
explainer = cpx.Explainer(forest, data.data, class_names=data.target_names)
contrast = explainer.contrast(0)
print(contrast.summary())

# %%
# Each column that changes, with its value now and the values to change to.
contrast.plot()

# %%
# Without the columns that measure the worst cells, other changes are left.
worst = [name for name in data.data if name.startswith("worst")]
print(explainer.contrast(0, frozen=worst))
