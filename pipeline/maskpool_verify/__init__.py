"""Machine-checked proofs that a JAX attention pooling kernel ignores padding, order and masked rows."""
