"""Language models of the library `transformers` that answer on this machine, many prompts at once.

What needs PyTorch is imported where it is used: `parlour.policies.local_lm.model`.
"""
