// Rows reduced to one number each: WHAT selects the reduction. Long rows may be cut into parts, which are
// joined in their order.
#include "rows.cuh"

#define TOTAL 0
#define MEAN 1
#define LARGEST 2
#define SMALLEST 3
#define ABSOLUTES 4
#define EUCLIDEAN 5
#define NONZEROS 6
#define POWERS 7
#define LARGEST_ABSOLUTE 8
#define SMALLEST_ABSOLUTE 9

__device__ __forceinline__ float size_of(float x) { return fabsf(x); }
__device__ __forceinline__ double size_of(double x) { return fabs(x); }
__device__ __forceinline__ float to_power(float x, float p) { return powf(x, p); }
__device__ __forceinline__ double to_power(double x, double p) { return pow(x, p); }

#if WHAT == LARGEST || WHAT == LARGEST_ABSOLUTE
typedef Most Joined;
#elif WHAT == SMALLEST || WHAT == SMALLEST_ABSOLUTE
typedef Least Joined;
#else
typedef Sum Joined;
#endif

// The contribution of one element.
__device__ __forceinline__ A of_one(A x, A power) {
#if WHAT == ABSOLUTES || WHAT == LARGEST_ABSOLUTE || WHAT == SMALLEST_ABSOLUTE
    return size_of(x);
#elif WHAT == EUCLIDEAN
    return x * x;
#elif WHAT == NONZEROS
    return x != 0 ? (A)1 : (A)0;
#elif WHAT == POWERS
    return to_power(size_of(x), power);
#else
    return x;
#endif
}

// The result of the row.
__device__ __forceinline__ A finished(A total, A count, A power) {
#if WHAT == MEAN
    return total / count;
#elif WHAT == EUCLIDEAN
    return root(total);
#elif WHAT == POWERS
    return to_power(total, 1 / power);
#else
    return total;
#endif
}

extern "C" __global__ void __launch_bounds__(ROW_THREADS) reduce(
    const T *x, T *made, A *parts, ROWS, A power) {
    Row row(PASS_ROWS);
    // The largest and least begin with an element: the row's first, in any order of threads.
    A total = 0;
    if (WHAT == LARGEST || WHAT == SMALLEST || WHAT == LARGEST_ABSOLUTE || WHAT == SMALLEST_ABSOLUTE)
        if (row.live) total = of_one(wide(x[row.at(row.begin)]), power);
    for (u32 j = row.first; j < row.end; j += row.step) total = Joined()(total, of_one(wide(x[row.at(j)]), power));
    total = row.over(total, Joined());
    if (!row.leads()) return;
    if (gridDim.y == 1) put(made + row.number, finished(total, (A)((u64)r1 * r2), power));
    else parts[blockIdx.y * rows + row.number] = total;
}

extern "C" __global__ void join(const A *parts, T *made, i64 rows, u32 count, u64 length, A power) {
    i64 n = (i64)blockIdx.x * blockDim.x + threadIdx.x;
    if (n >= rows) return;
    A total = parts[n];
    for (u32 part = 1; part < count; part++) total = Joined()(total, parts[part * rows + n]);
    put(made + n, finished(total, (A)length, power));
}
