"""
The theorems, as functions that return a verdict on one program at one point. A file per theme.

    evaluation    T1 determinism, T2 progress, T3 preservation, T5 adequacy, T24 simulation, T25 unreachable branches
    adjoint       T6 traces, T7 values kept, T8 functoriality, T9 free variables, T10 logical relation, T15 linearity,
                  T16 sensitivities, T17 perturbations
    oracles       T11 exact gradients, T12 ball differences, T13 boundaries, T14 the boundary at zero
    prime_field   T26 slopes, T27 identity, modulo a prime
    higher_order  T18 Hessians, T19 closure of J
    structured    T10, T18, T19 along directions, for arguments that are arrays, records, lists
    cost          T20 cheap gradient
    rewriting     T4 substitution, T21 refinement, T22 commuting with the optimizer, T23 termination

Nothing here draws inputs: `tests` does, and so may any caller.
"""
