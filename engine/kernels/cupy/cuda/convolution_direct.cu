// Convolutions and their gradients by the image where groups have few channels in the result: a thread computes
// FILTERS of them at one place.
#include "convolution_axes.cuh"

#define THREADS 128

extern "C" __global__ void __launch_bounds__(THREADS) direct(PROBLEM) {
    AXES((int)blockIdx.z)
    const place_t at = place_of(blockIdx.x * THREADS + threadIdx.x, positions, d, h, w, source_n, made_n,
                                made_sd, made_sh, made_sw);
    if (at.made < 0) return;
    const T *from = source + at.source + (i64)group * channels * source_c;
    const int row = blockIdx.y * FILTERS;
    const T *row_of = weight + group * weight_group + row * weight_row;
    A sums[FILTERS];
#pragma unroll
    for (int i = 0; i < FILTERS; ++i) sums[i] = (A)0;
    digits_t k;
    for (k.c = 0; k.c < channels; ++k.c)
        for (k.d = 0; k.d < d.taps; ++k.d)
            for (k.h = 0; k.h < h.taps; ++k.h)
                for (k.w = 0; k.w < w.taps; ++k.w) {
                    const A value = GATHERED(from, at, k);
                    const int place = WEIGHT(k);
#pragma unroll
                    for (int i = 0; i < FILTERS; ++i)
                        if (row + i < rows) sums[i] += wide(row_of[i * weight_row + place]) * value;
                }
#pragma unroll
    for (int i = 0; i < FILTERS; ++i)
        if (row + i < rows)
            put(made + at.made + ((i64)group * rows + row + i) * made_c,
                finished(sums[i], bias, biased, rectified, group * rows + row + i));
}
