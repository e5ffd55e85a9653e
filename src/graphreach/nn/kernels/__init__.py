"""Numba kernels of the layers, and what they are written with. They take arrays and numbers, and no tensors."""
