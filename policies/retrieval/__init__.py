"""Retrieval: a FAISS memory of what a seat has read, and the embedders that turn text into vectors."""
