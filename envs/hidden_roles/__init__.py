"""What games with hidden roles share: rules, bids for the floor, posteriors, files of habits."""
