"""
A classifier that is a set of rules
===================================

Learned from a table and its labels, with a proof of how good the set is among those that can be
made of its candidates.
"""

from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import train_test_split

import cpx

X, y = load_breast_cancer(return_X_y=True, as_frame=True)
X_train, X_test, y_train, y_test = train_test_split(X, y, random_state=0)
model = cpx.RuleSetClassifier(time_limit=5).fit(X_train, y_train)
print(model.rule_set_)
print("accuracy on rows not seen:", round(model.score(X_test, y_test), 3))

# %%
# A row for each rule, a column for each row of the table: blue where the rule is right.
model.plot(X_train, y_train)
