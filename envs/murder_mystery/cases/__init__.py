"""Cases as data: their format, those that ship with the library, and how one is found by reference."""
