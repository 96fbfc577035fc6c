"""
Derivatives of arrays by arrays, as programs of the language. Read by our parser, linked in by `macros`; the names are rows.

    jacobian_of(back, out, x)    d out / d x, of shape (*shape(out), *shape(x)): one row for each element of out, each a call of the
                                 backpropagator `back` with that element's sensitivity alone
"""


def jacobian_of(back, out, x, position):
    count = array_size(out)
    rows = ()
    for k in range(count):
        rows = append(rows, instantiate(back(unit_vector(out, k))[position], x))
    if length(shape(out)) == 0:
        return rows[0]
    return reshape(stack(rows, 0), concat(shape(out), shape(x))) if count > 0 else full(concat(shape(out), shape(x)), 0.0, None)


def unit_vector(out, k):
    if length(shape(out)) == 0:
        return 1.0
    return reshape(put(full(array_size(out), 0.0, None), k, 1.0), shape(out))
