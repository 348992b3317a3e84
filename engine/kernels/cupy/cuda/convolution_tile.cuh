// A tile: a block computes ROWS x COLUMNS sums of products, DEPTH terms at a time, which are in shared memory; a
// thread keeps PER_ROW x PER_COLUMN sums. Columns of a thread lie ACROSS apart, so that threads side by side
// read and write side by side. RESIDENT blocks are meant to share a multiprocessor.
#define THREADS ((ROWS / PER_ROW) * (COLUMNS / PER_COLUMN))
#define ACROSS (COLUMNS / PER_COLUMN)
#define GAP 4 /* keeps threads that store one after the other apart in the banks */

// Adds the products of one part of both factors to a thread's sums.
template <int WIDE>
__device__ __forceinline__ void add(A (&sums)[PER_ROW][PER_COLUMN], const A (&lefts)[DEPTH][ROWS + GAP],
                                    const A (&rights)[DEPTH][WIDE], int down, int across) {
#pragma unroll
    for (int k = 0; k < DEPTH; ++k) {
        A left[PER_ROW], right[PER_COLUMN];
#pragma unroll
        for (int i = 0; i < PER_ROW; ++i) left[i] = lefts[k][down * PER_ROW + i];
#pragma unroll
        for (int j = 0; j < PER_COLUMN; ++j) right[j] = rights[k][across + j * ACROSS];
#pragma unroll
        for (int i = 0; i < PER_ROW; ++i)
#pragma unroll
            for (int j = 0; j < PER_COLUMN; ++j) sums[i][j] += left[i] * right[j];
    }
}
