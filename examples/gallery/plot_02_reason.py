"""
What forces the class
=====================

The fewest columns of one row whose values decide the class, whatever the others are. It is
proved that no fewer do.
"""

from sklearn.datasets import load_wine
from sklearn.ensemble import GradientBoostingClassifier

import cpx

data = load_wine(as_frame=True)
model = GradientBoostingClassifier(n_estimators=20, random_state=0).fit(data.data, data.target)
explainer = cpx.Explainer(model, data.data, class_names=data.target_names)
reason = explainer.reason(100)
print(reason.summary())

# %%
# The intervals are as wide as the class allows, so they say more than the values of the row do.
reason.plot()
