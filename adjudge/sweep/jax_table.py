"""How the functions of JAX are called, and which are not tried."""

from __future__ import annotations

from adjudge.sweep.calls import table
from adjudge.sweep.catalogue import Library

TABLE = table("""
sum mean prod max min amax amin nansum nanprod nanmean nanmax nanmin : x | x, axis=0 | x, axis=(0, 1), keepdims=True
ptp median nanmedian average : x | x, axis=1
std var nanstd nanvar : x | x, axis=0, ddof=1 | x, axis=1, keepdims=True
percentile nanpercentile : x, 50.0 | x, 25.0, axis=1
quantile nanquantile : x, 0.5 | x, 0.25, axis=1
norm : x | x3 | x, axis=1 | x3, 3 | A, 'fro' | A, 'nuc'
vector_norm : x3, ord=2 | x3, ord=1
matrix_norm : A | A, ord=2
matrix_power : A, 3 | A, -1
tensorsolve : A, y3
tensorinv : A, ind=1
numpy.linalg.lstsq : f(x43, y4)[0]
numpy.linalg.pinv : A | x
numpy.linalg.svd : x, full_matrices=False | f(x, compute_uv=False)
numpy.linalg.eig : f(A + A.T)[0].real
numpy.linalg.eigvals : f(A + A.T).real
numpy.linalg.slogdet : A
reshape resize : x, (3, 2) | x, (6,)
lax.reshape : x, (3, 2)
permute_dims : x, (1, 0) | x234, (1, 2, 0)
transpose lax.transpose : x, (1, 0)
swapaxes rollaxis moveaxis : x234, 0, 2
fliplr flipud flip ravel squeeze atleast_1d atleast_2d atleast_3d matrix_transpose : x
expand_dims : x, 1
lax.expand_dims : x, (1,)
concatenate concat vstack hstack dstack stack column_stack block : [x, y]
lax.concatenate : [x, y], 0
lax.stack : [x, y]
append : x, y | x, y, 0
tile repeat : x, 2
lax.tile : x, (2, 1)
roll : x, 1 | x, 1, axis=0
rot90 : x | x, 2
broadcast_to : x3, (2, 3)
numpy.pad : x, 1, 'constant' | x, 1, 'edge' | x, 1, 'reflect'
lax.pad : x, 0.0, [(1, 0, 0), (0, 1, 1)] | x, a, [(1, 0, 0), (0, 1, 1)]
array asarray copy : x
take : x, jnp.array([0, 2, 2, -1]) | x, jnp.array([0, 1, 1]), axis=0
take_along_axis : x, jnp.array([[0, 2, 1], [1, 1, 0]]), axis=1
choose : jnp.array([0, 1, 1]), [x3, y3]
compress : np.array([True, False]), x, axis=0
select : [jnp.array([True, False, True])], [x3]
lax.select : jnp.array([True, False, True]), x3, y3
lax.select_n : jnp.array([True, False, True]), x3, y3
where : jnp.array([[True, False, True], [False, True, False]]), x, y
array_split : x34, 2, axis=1
split : x34, 2, 1
hsplit : x34, 2
vsplit : x43, 2
dsplit : x234, 2
lax.split : x, (1, 2), 1
unstack sort_complex modf frexp angle unwrap nan_to_num i0 cov corrcoef : x
sort : x | k | x, axis=0
lax.sort : x | k
partition : x3, 1
put_along_axis : x, jnp.array([[0], [1]]), y[:, :1], 1, inplace=False
put : x, jnp.array([0, 3]), y3[:2], inplace=False
place : x, np.array([[True, False, True], [False, True, False]]), y3, inplace=False
fill_diagonal : A, a, inplace=False
insert : x3, 1, a
delete : x3, 1
cumulative_sum cumulative_prod : x, axis=0
cumlogsumexp cummax cummin lax.cumsum lax.cumprod : x | x, axis=1 | x, reverse=True
diff ediff1d trapezoid : x
gradient : x34 | x34, axis=0 | x5, 0.5
diag diagonal diagflat trace tril triu : A | x34 | x34, 1
numpy.diag : x3 | A
convolve correlate : x4, y3 | x4, y3, 'same'
fftconvolve convolve2d correlate2d signal.convolve signal.correlate : x34, y32
kron : x, y32
inner : x, y43 | x3, y3
lax.dot : x, y34 | x3, y3
lax.batch_matmul : x223, y234
lax.dot_general : x, y34, (((1,), (0,)), ((), ()))
vecdot : x, y
cross : x, y | x3, y3
matvec : A, y3
vecmat : x3, A
interp : x3, jnp.array([-4.0, 0.0, 4.0]), y3
vander : x3, 3
polyval : x3, a | y3, x
polyint polyder poly : x3
polyadd polysub polymul : x3, y3
polyfit : jnp.array([0.0, 1.0, 2.0, 3.0]), y4, 1
piecewise : x, [x < 0, x >= 0], [lambda v: v * v, lambda v: 2 * v]
apply_along_axis : jnp.cumsum, 0, x
ldexp : x, 2
bincount : jnp.array([0, 1, 1]), x3
fft.fft fft.ifft fft.fft2 fft.ifft2 fft.fftn fft.ifftn fft.rfft fft.rfft2 fft.rfftn fft.ihfft : f(x34).real | f(x34).imag
fft.irfft fft.irfft2 fft.irfftn fft.hfft : x34
fftshift ifftshift : x
clip : x, -0.5, 1.5 | x, y3 - 4, z3 + 4
lax.clamp : -0.5, x, 1.5 | y - 4, x, z + 4
lax.add lax.sub lax.mul lax.max lax.min lax.atan2 lax.nextafter : x, y
lax.div lax.rem : x, p
lax.pow : p, y | p, 2
lax.integer_pow : x, 3 | x, -2 | x, 0
lax.complex : f(x, y).real
lax.erf_inv : s
lax.logistic lax.bessel_i0e lax.bessel_i1e lax.stop_gradient lax.real lax.reduce_precision : x
lax.igamma lax.igammac gammainc gammaincc : p, q
lax.betainc betainc : p, q, u
lax.polygamma polygamma : 1.0, p | 2.0, p
lax.random_gamma_grad lax.igamma_grad_a : p, q
lax.reduce_sum lax.reduce_max lax.reduce_min lax.reduce_prod : x, (0,) | x, (0, 1)
lax.broadcast : x, (2,)
lax.broadcast_in_dim : x3, (2, 3), (1,)
lax.collapse : x234, 0, 2
lax.rev : x, (0,)
lax.slice : x34, (0, 1), (2, 3) | x34, (0, 0), (3, 4), (2, 2)
lax.slice_in_dim : x34, 1, 3
lax.index_in_dim lax.dynamic_index_in_dim : x34, 1
lax.dynamic_slice : x34, (1, 1), (2, 2)
lax.dynamic_slice_in_dim : x34, 1, 2
lax.dynamic_update_slice : x34, y[:2, :2], (1, 1)
lax.dynamic_update_slice_in_dim : x34, y34[:2], 1, 0
lax.dynamic_update_index_in_dim : x34, y4, 1, 0
lax.squeeze : x[None], (0,)
lax.top_k : f(x5, 2)[0]
lax.convert_element_type : x, jnp.float64
lax.conv : x134, y234[:, :1] | x125, y323, (1,), 'SAME'
lax.conv_general_dilated : x125, y323, (1,), [(1, 1)] | x125, y323, (2,), [(0, 2)], (1,), (2,)
lax.conv_transpose : x152, y323, (1,), 'SAME'
lax.conv_with_general_padding : x125, y323, (1,), [(1, 1)], None, None
lax.conv_general_dilated_patches : x125, (3,), (1,), 'SAME'
lax.reduce_window : x34, -jnp.inf, jax.lax.max, (2, 2), (1, 1), 'VALID' | x34, 0.0, jax.lax.add, (2, 2), (1, 1), 'SAME'
lax.associative_scan : jnp.multiply, x4
lax.cond : x[0, 0] > 0, jnp.sin, jnp.cos, x
lax.switch : 1, [jnp.sin, jnp.cos], x
lax.map : jnp.sin, x
lax.scan : lambda c, e: (c * e, c + e), a, x4
lax.fori_loop : 0, 3, lambda n, c: jnp.sin(c), x

lax.linalg.cholesky : A @ A.T
lax.linalg.eigh : A + A.T
lax.linalg.lu : f(A)[0]
lax.linalg.qr : A
lax.linalg.svd : f(A, compute_uv=False)
lax.linalg.triangular_solve : A, y32, left_side=True, lower=True | A, y32, left_side=True, transpose_a=True
lax.linalg.tridiagonal_solve : p4 / 9, p4 + 3, q4 / 9, y42
lax.linalg.qdwh : f(A)[0]
lax.linalg.symmetric_product : x, A + A.T
special.beta special.betaln : p, q
special.bessel_jn : f(p3, v=2)
special.expn : 2, p
special.exp1 special.expi special.spence special.factorial special.loggamma special.gammasgn : p
special.sici special.fresnel special.dawsn : x
special.poch special.boxcox : p, q
special.boxcox1p : p, y
special.hyp1f1 : p, q + 1, y
special.hyp2f1 : p, q, q + 2, u
special.logsumexp : x | x, axis=0 | x, axis=1, keepdims=True | x, axis=0, b=p
special.multigammaln : p + 2, 3
special.zeta : g, p
special.owens_t : x, y
special.log_softmax special.softmax : x | x, axis=0
special.wofz : f(x).real
celu elu relu relu6 selu sigmoid hard_sigmoid hard_silu hard_swish hard_tanh silu swish soft_sign softplus log_sigmoid : x | 40 * x
leaky_relu mish squareplus sparse_plus sparse_sigmoid : x | 40 * x
gelu : x | x, approximate=False
glu : x34
standardize : x | x, axis=0
nn.softmax nn.log_softmax nn.logsumexp nn.logmeanexp : x | x, axis=0 | 400 * x
nn.log1mexp : p
nn.dot_product_attention : x2324, y2324, z2324
scipy.linalg.solve : A, y3 | A @ A.T, y3, assume_a='pos'
scipy.linalg.cho_factor scipy.linalg.lu_factor : f(A @ A.T)[0]
scipy.linalg.cho_solve : (A, False), y3
scipy.linalg.lu_solve : (A, jnp.array([0, 1, 2])), y3
scipy.linalg.lu : A
scipy.linalg.polar : A
scipy.linalg.expm scipy.linalg.sqrtm : f(A).real
scipy.linalg.expm_frechet : A, B
scipy.linalg.solve_triangular : A, y3 | A, y3, lower=True | A, y3, trans=1
scipy.linalg.solve_sylvester : A, B, x33
scipy.linalg.block_diag : x, y
scipy.linalg.toeplitz scipy.linalg.circulant scipy.linalg.hankel scipy.linalg.companion scipy.linalg.fiedler : x3
scipy.linalg.eigh_tridiagonal : f(x3, y3[:2], eigvals_only=True)
norm.pdf norm.logpdf norm.cdf norm.logcdf norm.sf norm.logsf : x, y, p
norm.ppf norm.isf : u, y, p

""")

COLLECTIVE = "speaks to other devices"
LEFT_OUT = {
    "from*": "makes an array of what is no array",
    "p[sm]*[mnxw]": COLLECTIVE,
    "psum*": COLLECTIVE,
    "pbroadcast": COLLECTIVE,
    "pcast": COLLECTIVE,
    "ppermute": COLLECTIVE,
    "psend": COLLECTIVE,
    "precv": COLLECTIVE,
    "pshuffle": COLLECTIVE,
    "pswapaxes": COLLECTIVE,
    "all_*": COLLECTIVE,
    "ragged_all*": COLLECTIVE,
    "rng_*": "random",
    "*shape_tuple": "answers shapes",
    "while_loop": "has no reverse derivative",
}
LIBRARY = Library(
    "jax",
    (
        "jax.numpy",
        "jax.numpy.linalg",
        "jax.numpy.fft",
        "jax.nn",
        "jax.scipy.special",
        "jax.scipy.linalg",
        "jax.scipy.signal",
        "jax.scipy.stats.norm",
        "jax.lax",
        "jax.lax.linalg",
    ),
    TABLE,
    LEFT_OUT,
    {"jax": "jax", "jnp": "jax.numpy"},
)
