"""How the functions of autograd are called, and which are not tried."""

from __future__ import annotations

from adjudge.sweep.calls import table
from adjudge.sweep.catalogue import Library

TABLE = table("""
sum mean prod max min amax amin nansum nanprod nanmean nanmax nanmin : x | x, axis=0 | x, axis=(0, 1), keepdims=True
ptp median nanmedian average : x | x, axis=1
std var nanstd nanvar : x | x, axis=0, ddof=1 | x, axis=1, keepdims=True
percentile quantile nanpercentile nanquantile : x, 0.5 | x, 0.25, axis=1
linalg.norm : x | x3 | x, axis=1 | x3, 3 | A, 'fro' | A, 'nuc'
linalg.vector_norm linalg.matrix_norm : x3, ord=2 | A
linalg.inv linalg.det linalg.slogdet linalg.pinv : A | A + A.T
linalg.solve : A, y3 | A, y32
linalg.cholesky : A @ A.T
linalg.eigh linalg.eigvalsh : A + A.T
linalg.eig linalg.eigvals linalg.svd linalg.svdvals linalg.qr linalg.cond : A
linalg.lstsq : x43, y4
linalg.matrix_power : A, 3 | A, -1
linalg.tensorsolve : A, y3
linalg.tensorinv : A, ind=1
linalg.multi_dot : [x, y34, z43]
reshape resize : x, (3, 2) | x, (6,)
transpose permute_dims : x | x234, (1, 2, 0)
swapaxes rollaxis moveaxis : x234, 0, 2
matrix_transpose flipud fliplr flip ravel squeeze atleast_1d atleast_2d atleast_3d : x
expand_dims : x, 1
concatenate vstack hstack dstack stack column_stack row_stack concat : [x, y]
meshgrid : x3, y2
broadcast_arrays : x, y3
require asarray_chkfinite : x
append : x, y | x, y, 0
block : [[x, y], [z, w]]
tile repeat : x, 2
roll : x, 1 | x, 1, axis=0
rot90 : x | x, 2
broadcast_to : x3, (2, 3)
pad : x, 1, 'constant' | x, ((1, 0), (0, 2)), 'constant'
array asarray asanyarray ascontiguousarray asfortranarray copy array_from_args : x | [a, a]
take : x, np.array([0, 2, 2, -1]) | x, np.array([0, 1, 1]), axis=0
take_along_axis : x, np.array([[0, 2, 1], [1, 1, 0]]), axis=1
choose : np.array([0, 1, 1]), [x3, y3]
compress extract : np.array([True, False]), x, axis=0
select : [np.array([True, False, False])], [x3]
split array_split : x34, 2, axis=1
hsplit : x34, 2
vsplit : x43, 2
dsplit : x234, 2
unstack : x
partition : x3, 1
sort : x | k | x, axis=0
sort_complex : x
cumsum : x | x, axis=0 | x, axis=1
cumprod : x | k, axis=1
cumulative_sum cumulative_prod : x, axis=0
diff ediff1d : x
gradient : x34 | x34, axis=0 | x5, 0.5
trapezoid : x | x, axis=0 | x3, y3
diag diagonal diagflat trace tril triu : A | x34 | x34, 1
convolve correlate : x4, y3
tensordot : x, y34, 1 | x234, y43, ([1, 2], [1, 0])
einsum : 'ij,jk->ik', x, y34 | 'ij->ji', x | 'ii->i', A | 'ij->', x | x, [0, 1], y3, [1], [0]
kron : x, y32
inner : x, y43 | x3, y3
dot : x, y34 | x3, y3 | a, x
vecdot : x, y
cross : x, y | x3, y3
matvec : A, y3
vecmat : x3, A
interp : x3, np.array([-4.0, 0.0, 4.0]), y3
vander : x3, 3
polyval : x3, a | y3, x
poly polyint polyder polyadd polysub polymul : x3, y3
polyfit : np.array([0.0, 1.0, 2.0, 3.0]), y4, 1
unwrap nan_to_num real_if_close i0 angle modf frexp spacing cov corrcoef : x
ldexp : x, 2
fft.fft fft.ifft fft.fft2 fft.ifft2 fft.fftn fft.ifftn fft.rfft fft.rfft2 fft.rfftn : x34
fft.irfft fft.irfft2 fft.irfftn fft.hfft fft.ihfft : x34
fftshift ifftshift : x
where : np.array([[True, False, True], [False, True, False]]), x, y
clip : x, -0.5, 1.5 | x, y3 - 4, z3 + 4
copyto put put_along_axis place putmask fill_diagonal : x, y
special.beta special.betaln : p, q
special.betainc : p, q, u
special.gammainc special.gammaincc : p, q
special.polygamma : 2, p | 0, p
special.psi special.digamma special.gamma special.gammaln special.gammasgn special.rgamma : p
special.multigammaln : p + 2, 3
special.jn : 2, x
special.yn : 2, p
special.j0 special.j1 : x
special.y0 special.y1 : p
special.iv special.ive : 1.5, p
special.i0 special.i1 special.erf special.erfc special.expit : x
special.erfinv : s
special.erfcinv special.logit : u
special.logsumexp : x | x, axis=0 | x, axis=1, keepdims=True | x, axis=0, b=np.array([[1.0, 2.0, 0.5]]) | x, axis=0, b=p
signal.convolve : x34, y32
scipy.linalg.solve_banded : (1, 1), x35, y5
linalg.solve_triangular : A, y3 | A, y3, trans=1, lower=True
linalg.solve_sylvester : A, B, x33
linalg.sqrtm linalg.expm linalg.logm linalg.cosm linalg.sinm linalg.tanm linalg.coshm linalg.sinhm linalg.tanhm linalg.signm : A
linalg.expm_frechet linalg.funm : A, B
linalg.block_diag : x, y
linalg.toeplitz linalg.hankel linalg.circulant linalg.companion linalg.fiedler linalg.fiedler_companion : x3
linalg.eig_banded linalg.eigvals_banded : x23
integrate.odeint : lambda h, c, b: -b * h, x2, np.linspace(0.0, 1.0, 2), builtins.tuple((p2,)), rtol=1e-11, atol=1e-11
norm.pdf norm.logpdf norm.cdf norm.logcdf norm.sf norm.logsf : x, y, p
""")

HELPER = "a helper of the library's own rules"
LEFT_OUT = {
    "from*": "makes an array of what is no array",
    "get*": "tells settings",
    "info": "prints",
    "unique*": "the size of its result depends on the values",
    "*mat": "answers matrices of the old kind",
    "asmatrix": "answers matrices of the old kind",
    "test": "runs tests",
    "grad_*": HELPER,
    "fft_grad": HELPER,
    "*_grad": HELPER,
    "fwd_grad_*": HELPER,
    "make_*": HELPER,
    "*_vjp": HELPER,
    "*_jvp": HELPER,
    "def?jp*": HELPER,
    "wrap_*": HELPER,
    "*primitive": HELPER,
    "match_complex": HELPER,
    "repeat_to_match_shape": HELPER,
    "unbroadcast_f": HELPER,
    "flatten": HELPER,
    "vspace": HELPER,
    "metadata": HELPER,
    "check_*": HELPER,
    "parse_*": HELPER,
}
LIBRARY = Library(
    "autograd",
    (
        "autograd.numpy",
        "autograd.numpy.linalg",
        "autograd.numpy.fft",
        "autograd.scipy.special",
        "autograd.scipy.linalg",
        "autograd.scipy.signal",
        "autograd.scipy.integrate",
        "autograd.scipy.stats.norm",
    ),
    TABLE,
    LEFT_OUT,
    {"anp": "autograd.numpy", "builtins": "autograd.builtins"},
)
