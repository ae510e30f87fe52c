"""Players that differ in how they were made: rule players and searches as kernels. Start with `policy`."""
