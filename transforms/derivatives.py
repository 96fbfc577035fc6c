"""
Derivatives of arrays by arrays, as programs of the language. Read by our parser, linked in by `macros`; the names are rows.

    jacobian_of(back, out, x)    d out / d x, of shape (*shape(out), *shape(x)): one row for each element of out, each a call of the
                                 backpropagator `back` with that element's sensitivity alone
"""


def jacobian_of(back, out, x, position):
    rows = rows_of(back, out, x, position)
    if length(shape(out)) == 0:
        return rows[0]
    sizes = concat(shape(out), shape(x))
    return reshape(stack(rows, 0), sizes) if array_size(out) > 0 else full(sizes, 0.0, None)


def rows_of(back, out, x, position):
    rows = ()
    for k in range(array_size(out)):
        rows = append(rows, instantiate(back(unit_vector(out, k))[position], x))
    return rows


def unit_vector(out, k):
    if length(shape(out)) == 0:
        return 1.0
    return reshape(put(full(array_size(out), 0.0, None), k, 1.0), shape(out))
