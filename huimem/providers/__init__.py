"""Implementations of the sockets in `huimem.ports`, and nowhere else the libraries of models."""
