"""
Which pixels make it a three
============================

The pixels of one image that raise the expected prediction most when the others are unknown.
"""

from sklearn.datasets import load_digits
from sklearn.ensemble import RandomForestClassifier

import cpx

digits = load_digits(as_frame=True)
two = digits.target.isin([3, 5])
X, y = digits.data[two], digits.target[two]
forest = RandomForestClassifier(20, max_depth=5, random_state=0).fit(X, y)
explainer = cpx.Explainer(forest, X)
row = X.index[0]
expectation = explainer.expectation(row, k=4)
print(expectation.summary())

# %%
# The chosen pixels; the others are grey.
expectation.plot()
