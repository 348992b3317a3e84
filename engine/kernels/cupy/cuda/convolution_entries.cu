// Gradients of a convolution by its filters where groups have few filters with few entries: a block computes one
// entry of one filter, over one part of the places.
#include "convolution_parts.cuh"

#define THREADS 128

extern "C" __global__ void __launch_bounds__(THREADS) entries(PROBLEM) {
    __shared__ A partial[THREADS];
    PART
    const int entries = channels * kernel_d * kernel_h * kernel_w;
    const int filter = (int)blockIdx.x / entries, k = (int)blockIdx.x % entries;
    const entry_t entry = ENTRY(k);
    const T *from = source + (i64)group * channels * source_c;
    const T *given = gradient + ((i64)group * rows + filter) * gradient_c;
    digits_t at = digits_of(first + (int)threadIdx.x, FLAT(made_d), made_h, made_w);
    const digits_t step_by = digits_of(THREADS, FLAT(made_d), made_h, made_w);
    A sum = (A)0;
    for (int n = threadIdx.x; n < count; n += THREADS) {
        const place_t place = PLACE(at);
        sum += wide(given[place.gradient]) * read(from, place, entry, size_d, size_h, size_w);
        advance(at, step_by, FLAT(made_d), made_h, made_w);
    }
    partial[threadIdx.x] = sum;
    __syncthreads();
    for (int half = THREADS / 2; half; half /= 2) {
        if (threadIdx.x < half) partial[threadIdx.x] += partial[threadIdx.x + half];
        __syncthreads();
    }
    if (threadIdx.x == 0)
        give(partial[0], made, parts, blockIdx.z / groups, groups * rows, entries, group * rows + filter, k,
             gridDim.z == groups);
}
