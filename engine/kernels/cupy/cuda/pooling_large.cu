// Poolings with large windows: the lanes of a warp share one, and combine their results in a fixed tree.
#include "pooling_windows.cuh"

#define WARPS 4

extern "C" __global__ void __launch_bounds__(WARPS * 32) large(const T *__restrict__ x, T *__restrict__ made,
                                                               int mean, SIZES, STRIDES(x)) {
    const int lane = threadIdx.x % 32;
    const i64 place = (i64)blockIdx.x * WARPS + threadIdx.x / 32;
    const bool real = place < (i64)samples * channels * made_d * made_h * made_w;
    const element_t at = element_of(real ? (int)place : 0, channels, made_d, made_h, made_w, last);
    WINDOWS(at)
    const T *plane = PLANE(x, at);
    const int high = h.to - h.from, across = w.to - w.from;
    A found = mean ? (A)0 : -INFINITE;
    if (real && d.from < d.to && high > 0 && across > 0) {
        digits_t k = digits_of(lane, d.to - d.from, high, across);
        const digits_t step = digits_of(32, d.to - d.from, high, across);
        while (k.c == 0) {
            const A value = wide(plane[INNER(x, d.from + k.d, h.from + k.h, w.from + k.w)]);
            if (mean) found += value;
            else if (value > found || value != value) found = value;
            advance(k, step, d.to - d.from, high, across);
        }
    }
    for (int apart = 16; apart; apart /= 2) {
        const A other = __shfl_xor_sync(0xFFFFFFFFu, found, apart);
        if (mean) found += other;
        else if (other > found || other != other) found = other;
    }
    if (real && lane == 0) put(made + place, mean ? found / (A)(d.counted * h.counted * w.counted) : found);
}
