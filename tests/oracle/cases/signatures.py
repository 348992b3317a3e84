"""Names, order and defaults of the arguments of Paddle's public functions and classes."""

_NAMES = {
    "paddle": """
        DataParallel ParamAttr abs abs_ acos acos_ acosh add add_n addmm addmm_ all allclose amax amin
        angle any arange argmax argmin argsort as_complex as_real as_strided asin asinh assign atan
        atan2 atan_ atanh atleast_1d atleast_2d atleast_3d batch bernoulli bincount bitwise_and
        bitwise_and_ bitwise_not bitwise_not_ bitwise_or bitwise_or_ bitwise_xor bitwise_xor_ bmm
        broadcast_shape broadcast_tensors broadcast_to bucketize cast cast_ cauchy_ cdist ceil chunk
        clip clone combinations complex concat conj cos cos_ cosh count_nonzero create_parameter crop
        cross cummax cummin cumprod cumprod_ cumsum cumsum_ cumulative_trapezoid deg2rad diag diag_embed
        diagflat diagonal diagonal_scatter diff digamma digamma_ disable_static dist divide divide_ dot
        einsum empty empty_like enable_grad enable_static equal equal_ equal_all erf erf_ erfinv exp
        expand expand_as expm1 expm1_ eye finfo flatten flip floor floor_divide floor_divide_ floor_mod
        floor_mod_ fmax fmin frac frac_ frexp full full_like gather gather_nd gcd gcd_ geometric_
        get_default_dtype get_flags get_rng_state grad greater_equal greater_equal_ greater_than
        greater_than_ heaviside histogram hypot hypot_ i0 i0_ i0e i1 i1e iinfo imag in_dynamic_mode
        increment index_add index_add_ index_fill index_fill_ index_put index_put_ index_sample
        index_select inner is_complex is_empty is_floating_point is_grad_enabled is_integer is_tensor
        isclose isfinite isinf isnan kron kthvalue lcm lcm_ ldexp ldexp_ lerp less_equal less_equal_
        less_than less_than_ lgamma lgamma_ linspace load log log10 log10_ log1p log2 log2_ log_
        logaddexp logcumsumexp logical_and logical_and_ logical_not logical_not_ logical_or logical_or_
        logical_xor logit logit_ logspace logsumexp masked_fill masked_fill_ masked_select matmul max
        maximum mean median min minimum mm mod mod_ mode moveaxis multigammaln multigammaln_ multinomial
        multiplex multiply multiply_ mv nan_to_num nan_to_num_ nanmean nanmedian nanquantile nansum neg
        neg_ nextafter no_grad nonzero normal normal_ not_equal numel ones ones_like outer poisson polar
        polygamma polygamma_ pow pow_ prod put_along_axis quantile rad2deg rand randint randint_like
        randn randperm rank real reciprocal remainder remainder_ renorm renorm_ repeat_interleave
        reshape reshape_ reverse roll rot90 round rsqrt save scale scatter scatter_ scatter_nd
        scatter_nd_add searchsorted seed select_scatter set_default_dtype set_flags set_grad_enabled
        set_printoptions set_rng_state sgn shape shard_index sign sin sin_ sinh sinh_ slice sort split
        sqrt square square_ squeeze squeeze_ stack standard_normal stanh std strided_slice subtract sum
        t t_ take take_along_axis tan tan_ tanh tanh_ tensordot tile to_tensor tolist topk trace
        transpose transpose_ trapezoid tril tril_ tril_indices triu triu_ triu_indices trunc trunc_
        unbind unflatten unfold uniform unique unique_consecutive unsqueeze unsqueeze_ unstack vander
        var view view_as vsplit where where_ zeros zeros_like
    """,
    "paddle.nn": """
        AdaptiveAvgPool1D AdaptiveAvgPool2D AdaptiveAvgPool3D AdaptiveMaxPool1D AdaptiveMaxPool2D
        AdaptiveMaxPool3D AlphaDropout AvgPool1D AvgPool2D AvgPool3D BCELoss BCEWithLogitsLoss BatchNorm
        BatchNorm1D BatchNorm2D BatchNorm3D BiRNN Bilinear CELU CTCLoss ChannelShuffle
        ClipGradByGlobalNorm ClipGradByNorm ClipGradByValue Conv1D Conv1DTranspose Conv2D
        Conv2DTranspose Conv3D Conv3DTranspose CosineEmbeddingLoss CosineSimilarity CrossEntropyLoss
        Dropout Dropout2D Dropout3D ELU Embedding Flatten Fold GELU GLU GRU GRUCell GaussianNLLLoss
        GroupNorm HSigmoidLoss Hardshrink Hardsigmoid Hardswish Hardtanh HingeEmbeddingLoss
        InstanceNorm1D InstanceNorm2D InstanceNorm3D KLDivLoss L1Loss LSTM LSTMCell Layer LayerDict
        LayerList LayerNorm LeakyReLU Linear LocalResponseNorm LogSigmoid LogSoftmax MSELoss
        MarginRankingLoss MaxPool1D MaxPool2D MaxPool3D MaxUnPool1D MaxUnPool2D MaxUnPool3D Maxout Mish
        MultiHeadAttention MultiLabelSoftMarginLoss MultiMarginLoss NLLLoss PReLU Pad1D Pad2D Pad3D
        PairwiseDistance ParameterList PixelShuffle PixelUnshuffle PoissonNLLLoss RNN RNNCellBase RReLU
        ReLU ReLU6 SELU Sequential Sigmoid Silu SimpleRNN SimpleRNNCell SmoothL1Loss SoftMarginLoss
        Softmax Softmax2D Softplus Softshrink Softsign SpectralNorm Swish SyncBatchNorm Tanh Tanhshrink
        ThresholdedReLU Transformer TransformerDecoder TransformerDecoderLayer TransformerEncoder
        TransformerEncoderLayer TripletMarginLoss TripletMarginWithDistanceLoss Unflatten Unfold
        Upsample UpsamplingBilinear2D UpsamplingNearest2D ZeroPad2D
    """,
    "paddle.nn.functional": """
        adaptive_avg_pool1d adaptive_avg_pool2d adaptive_avg_pool3d adaptive_max_pool1d
        adaptive_max_pool2d adaptive_max_pool3d affine_grid alpha_dropout avg_pool1d avg_pool2d
        avg_pool3d batch_norm bilinear binary_cross_entropy binary_cross_entropy_with_logits celu
        channel_shuffle conv1d conv1d_transpose conv2d conv2d_transpose conv3d conv3d_transpose
        cosine_embedding_loss cosine_similarity cross_entropy ctc_loss dice_loss dropout dropout2d
        dropout3d elu elu_ embedding fold gather_tree gaussian_nll_loss gelu glu grid_sample
        gumbel_softmax hardshrink hardsigmoid hardswish hardtanh hardtanh_ hinge_embedding_loss
        hsigmoid_loss instance_norm interpolate kl_div l1_loss label_smooth layer_norm leaky_relu
        leaky_relu_ linear local_response_norm log_loss log_sigmoid log_softmax margin_ranking_loss
        max_pool1d max_pool2d max_pool3d max_unpool1d max_unpool2d max_unpool3d maxout mish mse_loss
        multi_label_soft_margin_loss multi_margin_loss nll_loss normalize npair_loss one_hot pad
        pairwise_distance pixel_shuffle pixel_unshuffle poisson_nll_loss prelu relu relu6 relu_ rrelu
        scaled_dot_product_attention selu sequence_mask sigmoid sigmoid_focal_loss silu smooth_l1_loss
        soft_margin_loss softmax softmax_ softmax_with_cross_entropy softplus softshrink softsign
        square_error_cost swish tanh tanh_ tanhshrink temporal_shift thresholded_relu thresholded_relu_
        triplet_margin_loss triplet_margin_with_distance_loss unfold upsample zeropad2d
    """,
    "paddle.nn.initializer": """
        Assign Bilinear Constant Dirac KaimingNormal KaimingUniform Normal Orthogonal TruncatedNormal
        Uniform XavierNormal XavierUniform calculate_gain set_global_initializer
    """,
    "paddle.nn.utils": """
        clip_grad_norm_ clip_grad_value_ parameters_to_vector remove_weight_norm spectral_norm
        vector_to_parameters weight_norm
    """,
    "paddle.optimizer": """
        Adadelta Adagrad Adam AdamW Adamax LBFGS Lamb Momentum Optimizer RMSProp SGD
    """,
    "paddle.optimizer.lr": """
        CosineAnnealingDecay CosineAnnealingWarmRestarts CyclicLR ExponentialDecay InverseTimeDecay
        LRScheduler LambdaDecay LinearLR LinearWarmup MultiStepDecay MultiplicativeDecay NaturalExpDecay
        NoamDecay OneCycleLR PiecewiseDecay PolynomialDecay ReduceOnPlateau StepDecay
    """,
    "paddle.io": """
        BatchSampler ChainDataset ComposeDataset ConcatDataset DataLoader Dataset
        DistributedBatchSampler IterableDataset RandomSampler Sampler SequenceSampler Subset
        SubsetRandomSampler TensorDataset WeightedRandomSampler get_worker_info random_split
    """,
    "paddle.metric": """
        Accuracy Auc Metric Precision Recall accuracy
    """,
    "paddle.vision.transforms": """
        BaseTransform BrightnessTransform CenterCrop ColorJitter Compose ContrastTransform Grayscale
        HueTransform Normalize Pad RandomAffine RandomCrop RandomErasing RandomHorizontalFlip
        RandomPerspective RandomResizedCrop RandomRotation RandomVerticalFlip Resize SaturationTransform
        ToTensor Transpose adjust_brightness adjust_contrast adjust_hue affine center_crop crop erase
        hflip normalize pad perspective resize rotate to_grayscale to_tensor vflip
    """,
    "paddle.linalg": """
        cholesky cholesky_solve cond corrcoef cov det eig eigh eigvals eigvalsh householder_product inv
        lstsq lu lu_unpack matrix_power matrix_rank multi_dot norm pca_lowrank pinv qr slogdet solve svd
        triangular_solve
    """,
    "paddle.autograd": """
        PyLayerContext backward hessian jacobian saved_tensors_hooks
    """,
    "paddle.jit": """
        enable_to_static ignore_module load not_to_static save set_code_level set_verbosity to_static
    """,
    "paddle.regularizer": """
        L1Decay L2Decay
    """,
    "paddle.Tensor": """
        abs abs_ acos acos_ acosh acosh_ add add_ add_n addmm addmm_ all allclose amax amin angle any
        argmax argmin argsort as_complex as_real as_strided asin asin_ asinh asinh_ astype atan atan2
        atan_ atanh atanh_ atleast_1d atleast_2d atleast_3d backward bincount bitwise_and bitwise_and_
        bitwise_not bitwise_not_ bitwise_or bitwise_or_ bitwise_xor bitwise_xor_ bmm broadcast_shape
        broadcast_tensors broadcast_to bucketize cast cast_ cauchy_ cdist ceil ceil_ cholesky
        cholesky_solve chunk clear_grad clear_gradient clip clip_ clone combinations concat cond conj
        contiguous corrcoef cos cos_ cosh cosh_ count_nonzero cov cpu cross cuda cummax cummin cumprod
        cumprod_ cumsum cumsum_ cumulative_trapezoid deg2rad detach detach_ diag diag_embed diagflat
        diagonal diagonal_scatter diff digamma digamma_ dim dist divide divide_ dot eig eigvals eigvalsh
        element_size equal equal_ equal_all erf erfinv erfinv_ exp exp_ expand expand_as expm1
        exponential_ fill_ fill_diagonal_ fill_diagonal_tensor fill_diagonal_tensor_ flatten flatten_
        flip floor floor_ floor_divide floor_divide_ floor_mod floor_mod_ fmax fmin frac frac_ frexp
        gather gather_nd gcd gcd_ geometric_ gradient greater_equal greater_equal_ greater_than
        greater_than_ heaviside histogram householder_product hypot hypot_ i0 i0_ i0e i1 i1e imag
        increment index_add index_add_ index_fill index_fill_ index_put index_put_ index_sample
        index_select inner inverse is_complex is_contiguous is_empty is_floating_point is_integer
        isclose isfinite isinf isnan item kron kthvalue lcm lcm_ ldexp ldexp_ lerp lerp_ less_equal
        less_equal_ less_than less_than_ lgamma lgamma_ log log10 log10_ log1p log1p_ log2 log2_ log_
        logaddexp logcumsumexp logical_and logical_and_ logical_not logical_not_ logical_or logical_or_
        logical_xor logical_xor_ logit logit_ logsumexp lstsq lu lu_unpack masked_fill masked_fill_
        masked_select matmul matrix_power max maximum mean median min minimum mm mod mod_ mode moveaxis
        multi_dot multigammaln multigammaln_ multinomial multiplex multiply multiply_ mv nan_to_num
        nan_to_num_ nanmean nanmedian nanquantile nansum ndimension neg neg_ nextafter nonzero norm
        normal_ not_equal not_equal_ numel numpy outer pca_lowrank pinv polar polygamma polygamma_ pow
        pow_ prod put_along_axis put_along_axis_ qr quantile rad2deg rank real reciprocal reciprocal_
        register_hook remainder remainder_ renorm renorm_ repeat_interleave reshape reshape_
        retain_grads reverse roll rot90 round round_ rsqrt rsqrt_ scale scale_ scatter scatter_
        scatter_nd scatter_nd_add select_scatter set_value sgn shard_index sigmoid sigmoid_ sign sin
        sin_ sinh sinh_ slice solve sort split sqrt sqrt_ square squeeze squeeze_ stack stanh std
        strided_slice subtract subtract_ sum t t_ take take_along_axis tan tan_ tanh tanh_ tensordot
        tile to tolist topk trace transpose transpose_ trapezoid tril tril_ triu triu_ trunc trunc_
        unbind unflatten unfold uniform_ unique unique_consecutive unsqueeze unsqueeze_ unstack vander
        var view view_as vsplit where where_ zero_
    """,
}

CALLS: dict[str, str] = {
    f"{module}.{name}": f"signature({module}.{name}{', method=True' if module == 'paddle.Tensor' else ''})"
    for module, names in _NAMES.items()
    for name in names.split()
}
