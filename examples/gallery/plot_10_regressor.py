"""
Why is the prediction high?
===========================

A model that predicts a number is asked why it is above a limit.
"""

from sklearn.datasets import load_diabetes
from sklearn.ensemble import RandomForestRegressor

import cpx

data = load_diabetes(as_frame=True, scaled=False)
model = RandomForestRegressor(20, max_depth=4, random_state=0).fit(data.data, data.target)
explainer = cpx.Explainer(model, data.data, above=200)
high = data.data.index[model.predict(data.data) > 200][0]
rule = explainer.rule(high, k=3)
print(rule.summary())

# %%
# What forces it, whatever the other columns are.
print(explainer.reason(high))
rule.plot()
