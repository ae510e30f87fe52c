"""Small parts that know no game: JSON, files, terminals, packages, frames of seats."""
