"""An OpenAI-compatible server that answers offline, with faults on request."""
