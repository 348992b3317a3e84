// Rows that threads share: the layout of a row, the elements that each thread reads, reductions in a fixed
// order.
//
// An array has the layout [K1][R1][K2][R2]; a row is R1 x R2 elements that are reduced, and there are K1 x K2
// rows. Every reduction over neighbouring axes, over channels and over groups has this form. Sums are trees
// whose form depends on these sizes only, so the same numbers give the same bits each time.

enum { BY_WARP, BY_BLOCK, BY_COLUMN };
#define ROW_THREADS 512 /* of a block at most, see rows.py: registers must suffice for them */

struct Sum {
    template <typename N> __device__ __forceinline__ N operator()(N a, N b) const { return a + b; }
};
// NaN spreads, as in NumPy.
struct Most {
    template <typename N> __device__ __forceinline__ N operator()(N a, N b) const {
        return (a > b || a != a) ? a : b;
    }
};
struct Least {
    template <typename N> __device__ __forceinline__ N operator()(N a, N b) const {
        return (a < b || a != a) ? a : b;
    }
};

// The result over groups of `lanes` neighbouring lanes of a warp, in each of them.
template <typename N, typename F> __device__ __forceinline__ N over_lanes(N x, F f, int lanes) {
    for (int apart = lanes >> 1; apart; apart >>= 1) {
        N other = __shfl_xor_sync(0xFFFFFFFFu, x, apart);
        // Both lanes of a pair combine in one order, so that they continue with the same bits.
        x = (threadIdx.x & apart) ? f(other, x) : f(x, other);
    }
    return x;
}

// Shared memory of the reductions below, one for all of a kernel's.
template <typename N> __device__ __forceinline__ N *shared_numbers() {
    __shared__ N shared[512];
    return shared;
}

// The result over a block of one dimension, a power of two and of whole warps, in each thread.
template <typename N, typename F> __device__ N over_block(N x, F f) {
    N *shared = shared_numbers<N>();
    int warps = blockDim.x >> 5;
    x = over_lanes(x, f, 32);
    if ((threadIdx.x & 31) == 0) shared[threadIdx.x >> 5] = x;
    __syncthreads();
    x = over_lanes(shared[threadIdx.x & (warps - 1)], f, warps);
    __syncthreads();
    return x;
}

// The result over the threads of one column of a block [power of two up to 16][32], in each of them.
template <typename N, typename F> __device__ N over_column(N x, F f) {
    N *shared = shared_numbers<N>();
    int at = threadIdx.y * 32 + threadIdx.x;
    shared[at] = x;
    __syncthreads();
    for (int apart = blockDim.y >> 1; apart; apart >>= 1) {
        if (threadIdx.y < apart) shared[at] = f(shared[at], shared[at + apart * 32]);
        __syncthreads();
    }
    x = shared[threadIdx.x];
    __syncthreads();
    return x;
}

// The row of this thread, and its share of it: for (u32 j = row.first; j < row.end; j += row.step) x[row.at(j)].
//
// BY_WARP: blocks [rows][32], a warp for each row. BY_BLOCK: a block for each row. BY_COLUMN: blocks
// [threads][32] of 32 adjacent rows. blockIdx.y counts the parts that rows are cut into. Threads
// beyond the last row have no share, and take part in reductions all the same.
struct Row {
    i64 number, start, across;
    u32 begin, first, end, step, inner, how;
    bool live;

    __device__ __forceinline__ Row(u32 way, i64 rows, u32 r1, i64 k2, u32 r2) {
        i64 k1, of;
        how = way;
        if (how == BY_COLUMN) {
            i64 tiles = (k2 + 31) >> 5;
            k1 = (i64)blockIdx.x / tiles;
            of = ((i64)blockIdx.x % tiles) * 32 + threadIdx.x;
            live = of < k2;
            number = k1 * k2 + of;
        } else {
            number = how == BY_WARP ? (i64)blockIdx.x * blockDim.y + threadIdx.y : (i64)blockIdx.x;
            live = number < rows;
            k1 = number / k2;
            of = number % k2;
        }
        across = k2 * r2;
        inner = r2;
        start = k1 * r1 * across + of * r2;
        u64 size = live ? (u64)r1 * r2 : 0;
        begin = (u32)(size * blockIdx.y / gridDim.y);
        end = (u32)(size * (blockIdx.y + 1) / gridDim.y);
        first = begin + (how == BY_COLUMN ? threadIdx.y : threadIdx.x);
        step = how == BY_COLUMN ? blockDim.y : blockDim.x;
    }
    // The offset of the row's element j.
    __device__ __forceinline__ i64 at(u32 j) const {
        return j < inner ? start + j : start + (i64)(j / inner) * across + j % inner;
    }
    // One thread for each row.
    __device__ __forceinline__ bool leads() const {
        return live && (how == BY_COLUMN ? threadIdx.y : threadIdx.x) == 0;
    }
    template <typename N, typename F> __device__ __forceinline__ N over(N x, F f) const {
        if (how == BY_WARP) return over_lanes(x, f, 32);
        return how == BY_BLOCK ? over_block(x, f) : over_column(x, f);
    }
};
#define ROWS u32 way, i64 rows, u32 r1, i64 k2, u32 r2
#define PASS_ROWS way, rows, r1, k2, r2

__device__ __forceinline__ float e_to(float x) { return expf(x); }
__device__ __forceinline__ double e_to(double x) { return exp(x); }
__device__ __forceinline__ float ln(float x) { return logf(x); }
__device__ __forceinline__ double ln(double x) { return log(x); }
__device__ __forceinline__ float root(float x) { return sqrtf(x); }
__device__ __forceinline__ double root(double x) { return sqrt(x); }
template <typename N> __device__ __forceinline__ N infinite() { return (N)float_of(0x7F800000u); }
