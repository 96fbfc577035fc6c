"""
Programs of other systems, brought in to be judged and sent back: jaxprs (`jaxprs`, `jax_jit`) and torch.fx graphs (`torch_fx`).

The package of the other system is imported when an adapter is used, not before; without it, Malformed names the extra to install.
"""
