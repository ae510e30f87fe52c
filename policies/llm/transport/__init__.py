"""The way of a request to a chat endpoint: client, retry, cache, meter, prices and budget."""
