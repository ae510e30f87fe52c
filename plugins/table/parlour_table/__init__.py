"""Live tables for people in their browsers, with boards and a coach: a plugin of parlour."""
