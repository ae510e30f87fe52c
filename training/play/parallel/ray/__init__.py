"""Games on more than one machine, by Ray. Needs the extra `ray`."""
