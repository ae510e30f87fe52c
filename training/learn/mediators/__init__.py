"""Learning and equilibria for the mediator of GRACE: tables, quantal response, linear programs."""
