"""The learners that users call.

decision_tree  DecisionTreeClassifier, DecisionTreeRegressor, ExtraTreeClassifier, ExtraTreeRegressor
forest         RandomForest and ExtraTrees, for classes and for numbers
forest_steps   what they do beside growing: rows are forgotten
id3            ID3Classifier
c45            C45Classifier
c50            C50Classifier
c50_tree       its single tree, which boosting and rules are made of, too
c50_steps      its trials, rules and winnowing, and what they say of rows
chaid          CHAIDClassifier, CHAIDRegressor
mars           MARSRegressor, MARSClassifier
spline_parameters  what they are asked for
oblique        ObliqueTree and ObliqueForest, for classes and for numbers
optimal        OptimalTreeClassifier, OptimalTreeRegressor
incremental    IncrementalTreeClassifier, IncrementalTreeRegressor, and the rows that they hold
graphs         DecisionGraphClassifier
rule_set       RuleSetClassifier
decision_list  DecisionListClassifier
from_sklearn   trees and forests of scikit-learn as models of this package
model_file     what a model file holds of each of them
warm_up        compile ahead what they need
recipes        small fits that need what fits of a kind need
bases          their bases
"""
