"""How the functions of PyTorch are called, and which are not tried."""

from __future__ import annotations

from adjudge.sweep.calls import table
from adjudge.sweep.catalogue import Library

TABLE = table("""
torch.sum torch.mean nansum nanmean amax amin : x | x, dim=0 | x, dim=(0, 1), keepdim=True
torch.prod : x | x, dim=0, keepdim=True
torch.max torch.min : x | f(x, dim=0)[0]
aminmax : f(x, dim=1)
median nanmedian mode : f(x, dim=1)[0]
kthvalue : f(x, 2, dim=1)[0]
topk : f(x, 2, dim=1)[0]
quantile nanquantile : x, 0.5 | x, 0.25, dim=1
std var : x | x, dim=0, correction=0 | x, dim=1, keepdim=True
std_mean var_mean : x | x, dim=0
torch.norm : x | x3, 3 | x, 1, dim=1
linalg.norm : x | x3 | x, dim=1 | x3, 3 | A, 'fro' | A, 'nuc'
linalg.vector_norm : x | x3, 1 | x, 3, dim=1 | x3, float('inf')
linalg.matrix_norm : A | A, ord=2 | A, ord='nuc'
frobenius_norm : x, (0, 1)
nuclear_norm : A
dist : x, y | x, y, 3
cdist : x43, y23 | x43, y23, p=1.0
pdist : x43 | x43, p=1.0
renorm : x, 2, 0, 1.0
torch.norm_except_dim : x, 2, 0
linalg.matrix_power : A, 3 | A, -1
torch.matrix_power : A, 3
linalg.inv linalg.inv_ex linalg.det linalg.slogdet linalg.pinv inverse pinverse torch.det torch.slogdet logdet matrix_exp : A
linalg.solve linalg.solve_ex : A, y3 | A, y32
linalg.solve_triangular : A, y32, upper=True | A, y32, upper=False, unitriangular=True
triangular_solve : y32, A
linalg.tensorsolve : A, y3
linalg.tensorinv : A, ind=1
linalg.lstsq torch.lstsq : f(x43, y42)[0]
linalg.cholesky torch.cholesky : A @ A.T | A @ A.T, upper=True
linalg.cholesky_ex : f(A @ A.T)[0]
cholesky_inverse : A
cholesky_solve : y32, A
linalg.eigh linalg.eigvalsh : A + A.T
linalg.eig : f(A + A.T)[0].real
linalg.eigvals : f(A + A.T).real
linalg.svd torch.svd : x, False | f(A)[1]
linalg.svdvals linalg.cond torch.qr linalg.qr : A
linalg.lu torch.linalg.lu : A
linalg.lu_factor linalg.lu_factor_ex torch.lu : f(A)[0]
linalg.lu_solve : A, torch.tensor([1, 2, 3], dtype=torch.int32), y32
torch.lu_solve : y32, A, torch.tensor([1, 2, 3], dtype=torch.int32)
linalg.ldl_factor linalg.ldl_factor_ex : f(A @ A.T)[0]
linalg.householder_product orgqr : x43, y3
ormqr : x43, y3, z42
geqrf : A
linalg.multi_dot : [x, y34, z43]
chain_matmul : x, y34, z43
linalg.vander : x3
linalg.vecdot : x, y
linalg.cross torch.cross : x, y | x3, y3
linalg.diagonal : A | x234
mm : x, y34
mv : x, y3
bmm : x223, y234
addmm : x24, y, z34 | x24, y, z34, beta=0.5, alpha=2.0
addmv : x2, y, z3
addr : x, y2, z3
addbmm : x24, y323, z334
baddbmm : x224, y223, z234
addcmul : x, y, z, value=0.5
addcdiv : x, y, p, value=0.5
ger outer : x3, y4
dot inner vdot : x3, y3
where : torch.tensor([[True, False, True], [False, True, False]]), x, y
lerp : x, y, z | x, y, 0.3
clamp clip : x, -0.5, 1.5 | x, y - 4, z + 4
clamp_max clamp_min : x, 0.5
cumsum logcumsumexp : x, 0 | x, 1
cumprod : x, 0 | k, 1
cummax cummin : f(x, 1)[0]
cumulative_trapezoid trapezoid trapz : x | x, dim=0
diff : x | x, 1, 0
gradient : f(x34)[0] | f(x34, spacing=0.5, dim=1)[0]
sort : f(x)[0]
torch.sort : f(x)[0] | f(k)[0]
msort : x
reshape view_copy : x, (3, 2)
squeeze squeeze_copy ravel fliplr flipud t t_copy adjoint clone alias_copy positive atleast_1d atleast_2d atleast_3d : x
flatten real conj resolve_conj resolve_neg conj_physical detach detach_copy : x
unflatten : x34, 1, (2, 2)
unsqueeze unsqueeze_copy : x, 1
transpose transpose_copy swapaxes swapdims moveaxis movedim : x234, 0, 2
permute permute_copy : x234, (1, 2, 0)
cat concat concatenate stack hstack vstack dstack row_stack column_stack : [x, y]
cartesian_prod : x3, y2
block_diag : x, y
tile : x, (2, 1)
expand_copy : x3, (2, 3)
broadcast_to : x3, (2, 3)
repeat_interleave : x, 2
roll : x, 1 | x, 1, 0
rot90 : x | x, 2
flip : x, (0, 1)
diag diagflat diag_embed : x3
diagonal diagonal_copy tril triu : A | x34
trace : A
torch.diag : x3 | A
as_strided as_strided_copy : x, (2, 2), (1, 1)
as_strided_scatter : x, y22, (2, 2), (1, 1)
narrow narrow_copy : x34, 1, 1, 2
select select_copy : x34, 1, 2
select_scatter : x, y2, 1, 0
slice_scatter : x34, y32, 1, 1, 3
slice_copy : x34, 1, 1, 3
diagonal_scatter : A, y3
unfold_copy : x5, 0, 2, 1
gather : x, 1, torch.tensor([[0, 2, 2], [1, 1, 0]])
take : x, torch.tensor([0, 2, 2, -1])
take_along_dim : x, torch.tensor([[0, 2, 1], [1, 1, 0]]), 1
index_select : x, 1, torch.tensor([0, 2, 2])
index_add index_copy : x34, 0, torch.tensor([0, 2]), y24
index_fill : x, 1, torch.tensor([0, 2]), 1.5
index_put : x, (torch.tensor([0, 1, 1]),), y3, True
index_reduce : x34, 0, torch.tensor([0, 2]), y24, 'mean' | p34, 0, torch.tensor([0, 2]), q24, 'prod'
scatter : x, 1, torch.tensor([[0, 2], [1, 0]]), y22
scatter_add : x, 1, torch.tensor([[0, 0], [1, 0]]), y22
scatter_reduce : x, 1, torch.tensor([[0, 0], [1, 0]]), y22, 'prod' | x, 1, torch.tensor([[0, 0], [1, 0]]), y22, 'amax'
put : x, torch.tensor([0, 3]), y2
masked_fill : x, torch.tensor([[True, False, True], [False, True, False]]), a
masked_select : x, torch.tensor([[True, False, True], [False, True, False]])
masked_scatter : x, torch.tensor([[True, False, True], [False, True, False]]), y3
fill : x, a
constant_pad_nd : x, (1, 0)
chunk unsafe_chunk tensor_split : x34, 2
unbind unbind_copy : x
vsplit : x43, 2
hsplit : x34, 2
dsplit : x234, 2
split_copy split unsafe_split : x34, 2
split_with_sizes split_with_sizes_copy unsafe_split_with_sizes : x34, (1, 2)
combinations : x4
corrcoef cov : x
vander : x3
tensordot : x, y34, 1
einsum : 'ij,jk->ik', x, y34 | 'ii->i', A | 'bij,bjk->bk', x223, y234 | 'ij->', x
bilinear : x, y24, z534, w5
polygamma : 1, p | 2, p
mvlgamma multigammaln : p + 2, 3
igamma igammac gammainc gammaincc : p, q
ldexp : x, y
frexp : f(x)[0]
polar complex : f(p, x).real
view_as_real view_as_real_copy : torch.complex(x, y)
view_as_complex view_as_complex_copy : f(x32).real
special.chebyshev_polynomial_t special.chebyshev_polynomial_u special.chebyshev_polynomial_v special.chebyshev_polynomial_w : s, 3
special.hermite_polynomial_h special.hermite_polynomial_he special.legendre_polynomial_p special.laguerre_polynomial_l : s, 3
special.airy_ai special.bessel_j0 special.bessel_j1 special.modified_bessel_i0 special.modified_bessel_i1 : p
special.bessel_y0 special.bessel_y1 special.modified_bessel_k0 special.modified_bessel_k1 special.spherical_bessel_j0 : p
special.xlog1py : x, p
special.logsumexp torch.logsumexp : x, 0 | x, (0, 1), True
softmax log_softmax softmin : x, 1 | 400 * x, 0
fft.fft fft.ifft fft.fft2 fft.ifft2 fft.fftn fft.ifftn fft.rfft fft.rfft2 fft.rfftn : f(x34).real | f(x34).imag
fft.ihfft fft.ihfft2 fft.ihfftn : f(x34).real | f(x34).imag
fft.irfft fft.irfft2 fft.irfftn fft.hfft fft.hfft2 fft.hfftn : x34
fft.fftshift fft.ifftshift : x
stft : f(x9, 4, return_complex=True, window=torch.ones(4, dtype=torch.float64)).real
celu elu relu relu6 selu sigmoid hardsigmoid hardswish hardtanh silu logsigmoid softplus softsign tanhshrink mish : x | 40 * x
leaky_relu hardshrink softshrink frac sgn nan_to_num angle : x
gelu : x | x, approximate='tanh'
glu : x34
prelu : x, p3 | x, a.reshape(1)
threshold : x, 0.5, -1.0
rrelu : x, 0.1, 0.3, False
dropout alpha_dropout feature_dropout feature_alpha_dropout : x, 0.5, False
dropout1d dropout2d dropout3d : x234, 0.5, False
rsub : x, y
linear : x, y43 | x, y43, z4
conv1d : x125, y323 | x125, y323, z3, stride=2, padding=1 | x225, y213, groups=2
conv2d : x1144, y2122 | x1144, y2122, z2, stride=2, padding=1, dilation=2
conv3d : x11333, y21222
conv_tbc : x512, y323, z3
conv_transpose1d : x125, y233 | x125, y233, stride=2, padding=1, output_padding=1
conv_transpose2d : x1244, y2122
conv_transpose3d : x11222, y11222
convolution : x125, y323, z3, [1], [1], [1], False, [0], 1
unfold : x1144, (2, 2)
fold : x144, (3, 3), (2, 2)
avg_pool1d : x126, 2
lp_pool1d : x126, 2.0, 2
lp_pool2d : x1144, 2.0, 2
lp_pool3d : x11444, 2.0, 2
avg_pool2d max_pool2d : x1144, 2 | x1144, 3, stride=2, padding=1
avg_pool3d max_pool3d : x11444, 2
max_pool1d : x126, 2 | x126, 3, stride=2, padding=1
max_pool2d_with_indices : f(x1144, 2)[0]
max_pool1d_with_indices : f(x126, 2)[0]
max_pool3d_with_indices : f(x11444, 2)[0]
adaptive_avg_pool1d adaptive_max_pool1d : x126, 4
adaptive_avg_pool2d adaptive_max_pool2d : x1144, 3
adaptive_avg_pool3d adaptive_max_pool3d : x11444, 2
max_unpool1d : x12, torch.tensor([[0, 3]]), 2
local_response_norm : x134, 2
layer_norm : x, (3,) | x, (3,), y3, z3
native_layer_norm : x, (3,), y3, z3, 1e-5
rms_norm : x, (3,) | x, (3,), y3
group_norm : x243, 2 | x243, 2, y4, z4
batch_norm instance_norm : x342, None, None, y4, z4, True
torch.batch_norm : x342, y4, z4, None, None, True, 0.1, 1e-5, False
torch.instance_norm : x342, y4, z4, None, None, True, 0.1, 1e-5, False
torch.group_norm : x243, 2, y4, z4
normalize : x | x, 1.0, 0
cosine_similarity pairwise_distance : x, y
embedding : torch.tensor([0, 2, 2]), x43
embedding_bag : torch.tensor([0, 2, 2, 1]), x43, torch.tensor([0, 2])
grid_sample : x1144, s1222, align_corners=False
grid_sampler grid_sampler_2d : x1144, s1222, 0, 0, False
affine_grid : x123, (1, 1, 2, 2), align_corners=False
interpolate upsample : x1144, scale_factor=2, mode='bilinear' | x125, size=7, mode='linear' | x1144, scale_factor=2, mode='bicubic'
upsample_nearest : x1144, scale_factor=2
upsample_bilinear : x1144, scale_factor=2
pixel_shuffle : x1422, 2
pixel_unshuffle : x1144, 2
channel_shuffle native_channel_shuffle : x1433, 2
nn.functional.pad : x, (1, 2) | x134, (1, 2), 'reflect' | x134, (1, 2), 'replicate' | x134, (1, 2), 'circular'
scaled_dot_product_attention : x234, y234, z234 | x234, y234, z234, is_causal=True
mse_loss l1_loss smooth_l1_loss huber_loss soft_margin_loss : x, y | x, y, reduction='none'
hinge_embedding_loss : x, torch.tensor([[1.0, -1.0, 1.0], [-1.0, 1.0, 1.0]], dtype=torch.float64)
binary_cross_entropy : u, t
binary_cross_entropy_with_logits : x, u | 40 * x, u
cross_entropy : x, torch.tensor([0, 2]) | 40 * x, torch.tensor([0, 2]), label_smoothing=0.1
nll_loss multi_margin_loss : x, torch.tensor([0, 2])
multilabel_margin_loss : x, torch.tensor([[0, 2, -1], [1, -1, -1]])
multilabel_soft_margin_loss : x, torch.tensor([[1.0, 0.0, 1.0], [0.0, 1.0, 0.0]], dtype=torch.float64)
kl_div : x, p | x, y, reduction='batchmean', log_target=True
torch.kl_div : x, p
poisson_nll_loss : x, p | p, q, log_input=False
torch.poisson_nll_loss : x, p, True, False, 1e-8, 1
gaussian_nll_loss : x, y, p
margin_ranking_loss : x3, y3, torch.tensor([1.0, -1.0, 1.0], dtype=torch.float64)
cosine_embedding_loss : x, y, torch.tensor([1.0, -1.0], dtype=torch.float64)
triplet_margin_loss triplet_margin_with_distance_loss : x, y, z
ctc_loss : torch.log_softmax(x514, 2), torch.tensor([[1, 2]]), torch.tensor([5]), torch.tensor([2])
multi_head_attention_forward : x, y
rnn_tanh_cell rnn_relu_cell : x23, y24, z43, w44
gru_cell : x22, y22, z62, w62
lstm_cell : x22, (y22, z22), w82, p82
segment_reduce : x3, 'sum', lengths=torch.tensor([1, 2])
heaviside : x, y
""")

NAMES_ONLY = "tells or changes settings"
LEFT_OUT = {
    "*[a-z0-9]_": "works in place",
    "from_*": "makes an array of what is no array",
    "frombuffer": "makes an array of what is no array",
    "are_*": NAMES_ONLY,
    "use_*": NAMES_ONLY,
    "*autocast*": NAMES_ONLY,
    "manual_seed": "random",
    "seed": "random",
    "initial_seed": "random",
    "cudnn_*": "for a GPU",
    "miopen_*": "for a GPU",
    "mkldnn_*": "one implementation of what has a name of its own",
    "quantize*": "on integers that stand for reals",
    "fbgemm_*": "on integers that stand for reals",
    "q_*": "on integers that stand for reals",
    "sym_*": "on symbols",
    "sparse_*": "makes an array that is not dense",
    "parse_*": "reads programs",
    "import_*": "reads programs",
    "compile": "compiles functions",
    "vmap": "maps functions",
    "wait": "waits",
    "fork": "starts processes",
    "prepare_*": "starts processes",
    "init_*": "starts processes",
    "has_torch_function*": "a helper of the library's own",
    "handle_torch_function": "a helper of the library's own",
    "boolean_dispatch": "a helper of the library's own",
    "assert_*": "a helper of the library's own",
    "while_loop": "has no reverse derivative",
}
LIBRARY = Library(
    "torch",
    ("torch", "torch.nn.functional", "torch.special", "torch.linalg", "torch.fft"),
    TABLE,
    LEFT_OUT,
    {"torch": "torch"},
)
