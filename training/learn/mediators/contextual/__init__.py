"""A mediator that sees more than the state: learning it, what it is compared with, and the comparison."""
