"""What players did in recorded games of Avalon (`measures`), and the beliefs of seats and onlookers at them. Start with `measures`."""
