"""A server that strangers reach: limits on connections, and on each request."""
