"""The interpretations of primitives that judges read programs by: tangents, rigorous balls, residues modulo a prime."""
