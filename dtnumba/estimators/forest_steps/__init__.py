"""What forests do beside growing, a step a module.

forgetting  rows that leave a fitted forest
"""
