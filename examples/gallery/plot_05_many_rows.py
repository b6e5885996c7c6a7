"""
A model in a few rules
======================

Rules for many rows, and then the fewest of these rules that explain most rows.
"""

from sklearn.datasets import load_iris
from sklearn.svm import SVC

import cpx

data = load_iris(as_frame=True)
model = SVC().fit(data.data, data.target)
explainer = cpx.Explainer(model, data.data, class_names=data.target_names)
rules = explainer.rules(data.data.iloc[::3], k=2)
print(rules[:6])

# %%
# The global view.
view = rules.overview()
print(view)
view.plot()
