"""What is measured of murder mysteries: a case played with a method, the quiz after it, learning."""
