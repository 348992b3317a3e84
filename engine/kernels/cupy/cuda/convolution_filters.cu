// Gradients of a convolution by its filters: rows are filters, columns their entries; a sum goes over the
// places of one part.
#include "convolution_parts.cuh"
#include "convolution_tile.cuh"

#define ALONG (THREADS / DEPTH) /* rows or columns that threads fetch side by side */
#define LEFTS (ROWS / ALONG)
#define RIGHTS (COLUMNS / ALONG)

extern "C" __global__ void __launch_bounds__(THREADS, RESIDENT) filters(PROBLEM) {
    alignas(16) __shared__ A lefts[2][DEPTH][ROWS + GAP];
    alignas(16) __shared__ A rights[2][DEPTH][COLUMNS + GAP];
    PART
    const int thread = threadIdx.x, across = thread % ACROSS, down = thread / ACROSS;
    const int row = blockIdx.y * ROWS, column = blockIdx.x * COLUMNS;
    const int entries = channels * kernel_d * kernel_h * kernel_w;
    const int steps = (count + DEPTH - 1) / DEPTH;

    // This thread fetches at every DEPTH-th place, of some filters and of some entries.
    const int depth = thread % DEPTH, side = thread / DEPTH;
    const T *from = source + (i64)group * channels * source_c;
    const T *given = gradient + ((i64)group * rows + row + side) * gradient_c;
    entry_t entry[RIGHTS];
#pragma unroll
    for (int i = 0; i < RIGHTS; ++i) entry[i] = ENTRY(column + side + i * ALONG);
    digits_t at = digits_of(first + depth, FLAT(made_d), made_h, made_w);
    const digits_t step_by = digits_of(DEPTH, FLAT(made_d), made_h, made_w);

    A sums[PER_ROW][PER_COLUMN];
#pragma unroll
    for (int i = 0; i < PER_ROW; ++i)
#pragma unroll
        for (int j = 0; j < PER_COLUMN; ++j) sums[i][j] = (A)0;
    A next_lefts[LEFTS], next_rights[RIGHTS];
    for (int step = -1; step < steps; ++step) {
        if (step + 1 < steps) {
            const bool real = (step + 1) * DEPTH + depth < count;
            const place_t place = PLACE(at);
#pragma unroll
            for (int i = 0; i < LEFTS; ++i)
                next_lefts[i] = real && row + side + i * ALONG < rows
                                    ? wide(given[place.gradient + (i64)i * ALONG * gradient_c])
                                    : (A)0;
#pragma unroll
            for (int i = 0; i < RIGHTS; ++i)
                next_rights[i] = real && column + side + i * ALONG < entries
                                     ? read(from, place, entry[i], size_d, size_h, size_w)
                                     : (A)0;
            advance(at, step_by, FLAT(made_d), made_h, made_w);
        }
        if (step >= 0) add(sums, lefts[step & 1], rights[step & 1], down, across);
        if (step + 1 < steps) {
            const int half = (step + 1) & 1;
#pragma unroll
            for (int i = 0; i < LEFTS; ++i) lefts[half][depth][side + i * ALONG] = next_lefts[i];
#pragma unroll
            for (int i = 0; i < RIGHTS; ++i) rights[half][depth][side + i * ALONG] = next_rights[i];
        }
        __syncthreads();
    }
#pragma unroll
    for (int i = 0; i < PER_ROW; ++i)
#pragma unroll
        for (int j = 0; j < PER_COLUMN; ++j) {
            const int filter = row + down * PER_ROW + i, k = column + across + j * ACROSS;
            if (filter < rows && k < entries)
                give(sums[i][j], made, parts, blockIdx.z / groups, groups * rows, entries,
                     group * rows + filter, k, gridDim.z == groups);
        }
}
