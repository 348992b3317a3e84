// Convolutions and their gradients by the image, as products whose second factor is gathered while they run.
//
// Rows are channels of the result, columns its places; a sum goes over channels of the source and entries of
// the filter. Both factors are in shared memory twice, so that the next part comes while one is used. Where
// there are few tiles, several blocks share one: each adds a stretch of the sum, and `sums` adds those.
#include "convolution_axes.cuh"
#include "convolution_tile.cuh"

#define WEIGHTS (ROWS * DEPTH / THREADS) /* that a thread fetches for a part */
#define VALUES (COLUMNS * DEPTH / THREADS)

extern "C" __global__ void __launch_bounds__(THREADS, RESIDENT) products(PROBLEM) {
    alignas(16) __shared__ A weights[2][DEPTH][ROWS + GAP];
    alignas(16) __shared__ A values[2][DEPTH][COLUMNS];
    __shared__ i64 places[COLUMNS];
    AXES((int)blockIdx.z / shares)
    const int share = (int)blockIdx.z % shares;
    const int thread = threadIdx.x, across = thread % ACROSS, down = thread / ACROSS;
    const int row = blockIdx.y * ROWS;

    // This thread fetches values of one place, and weights at one depth.
    const place_t at = place_of(blockIdx.x * COLUMNS + thread % COLUMNS, positions, d, h, w, source_n, made_n,
                                made_sd, made_sh, made_sw);
    const T *from = source + at.source + (i64)group * channels * source_c;
    if (thread < COLUMNS) places[thread] = at.made;
    const int length = channels * d.taps * h.taps * w.taps;
    const int all = (int)blockIdx.x * COLUMNS < positions ? (length + DEPTH - 1) / DEPTH : 0;
    const int each = (all + shares - 1) / shares, begin = share * each;
    const int parts = all - begin < each ? all - begin : each;

    A sums[PER_ROW][PER_COLUMN];
#pragma unroll
    for (int i = 0; i < PER_ROW; ++i)
#pragma unroll
        for (int j = 0; j < PER_COLUMN; ++j) sums[i][j] = (A)0;

    if (parts > 0) {  // the same for all threads
        digits_t of_value = digits_of(begin * DEPTH + thread / COLUMNS, FLAT(d.taps), h.taps, w.taps);
        const digits_t value_step = digits_of(THREADS / COLUMNS, FLAT(d.taps), h.taps, w.taps);
        digits_t of_weight = digits_of(begin * DEPTH + thread % DEPTH, FLAT(d.taps), h.taps, w.taps);
        const digits_t weight_step = digits_of(DEPTH, FLAT(d.taps), h.taps, w.taps);
        const T *row_of = weight + group * weight_group + (row + thread / DEPTH) * weight_row;
        A next_weights[WEIGHTS], next_values[VALUES];

        for (int part = -1; part < parts; ++part) {
            if (part + 1 < parts) {
                const bool real = of_weight.c < channels;
                const int place = WEIGHT(of_weight);
#pragma unroll
                for (int i = 0; i < WEIGHTS; ++i) {
                    const int below = i * (THREADS / DEPTH);
                    next_weights[i] = real && row + thread / DEPTH + below < rows
                                          ? wide(row_of[below * weight_row + place])
                                          : (A)0;
                }
                advance(of_weight, weight_step, FLAT(d.taps), h.taps, w.taps);
#pragma unroll
                for (int i = 0; i < VALUES; ++i) {
                    next_values[i] = of_value.c < channels ? GATHERED(from, at, of_value) : (A)0;
                    advance(of_value, value_step, FLAT(d.taps), h.taps, w.taps);
                }
            }
            if (part >= 0) add(sums, weights[part & 1], values[part & 1], down, across);
            if (part + 1 < parts) {
                const int half = (part + 1) & 1;
#pragma unroll
                for (int i = 0; i < WEIGHTS; ++i)
                    weights[half][thread % DEPTH][thread / DEPTH + i * (THREADS / DEPTH)] = next_weights[i];
#pragma unroll
                for (int i = 0; i < VALUES; ++i)
                    values[half][thread / COLUMNS + i * (THREADS / COLUMNS)][thread % COLUMNS] =
                        next_values[i];
            }
            __syncthreads();
        }
    }
    __syncthreads();
#pragma unroll
    for (int j = 0; j < PER_COLUMN; ++j) {
        const i64 place = places[across + j * ACROSS];
        if (place < 0) continue;
#pragma unroll
        for (int i = 0; i < PER_ROW; ++i) {
            const int below = row + down * PER_ROW + i, channel = group * rows + below;
            if (below >= rows) continue;
            if (shares > 1) stretches[share * size + place + channel * made_c] = sums[i][j];
            else put(made + place + channel * made_c, finished(sums[i][j], bias, biased, rectified, channel));
        }
    }
}
