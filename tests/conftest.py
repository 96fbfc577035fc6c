"""
The three profiles of property tests: `dev` (the default), `ci` (the same examples on every run) and `deep`.

Choose one with `pytest --hypothesis-profile=deep`. Failing examples are printed so that they can be replayed.
"""

from __future__ import annotations

from hypothesis import HealthCheck, settings

SLOW_IS_FINE = (HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.large_base_example)

settings.register_profile("dev", max_examples=20, deadline=None, print_blob=True, suppress_health_check=SLOW_IS_FINE)
settings.register_profile(
    "ci", max_examples=60, deadline=None, derandomize=True, print_blob=True, suppress_health_check=SLOW_IS_FINE
)
settings.register_profile("deep", max_examples=2000, deadline=None, print_blob=True, suppress_health_check=SLOW_IS_FINE)
settings.load_profile("dev")
