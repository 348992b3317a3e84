// Products of matrices: tiles in shared memory, a block of results in the registers of each thread.
//
// out = alpha * a @ b + beta * other over a batch of up to three dimensions. Operands have any strides
// (in elements; 0 repeats a matrix or a vector), so transposed, sliced and broadcast ones are read in place.
// Each result adds its terms in the order of k. Where results are few, k is split into parts that
// ``gemm_fold`` adds in order; how many follows from the sizes alone, so the bits are the same each time.
//
// Macros: T and A as in the prelude (or cfloat_t, cdouble_t), R the real type of A, TM, TN, TK the tile,
// RM, RN the results of a thread, OTHER whether there is another operand.

template <typename N> struct complex_of { N re, im; };
typedef complex_of<float> cfloat_t;
typedef complex_of<double> cdouble_t;

template <typename N> __device__ __forceinline__ void mad(N &sum, N x, N y) { sum += x * y; }
template <typename N>
__device__ __forceinline__ void mad(complex_of<N> &sum, complex_of<N> x, complex_of<N> y) {
    sum.re += x.re * y.re - x.im * y.im;
    sum.im += x.re * y.im + x.im * y.re;
}
template <typename N> __device__ __forceinline__ N times(N factor, N x) { return factor * x; }
template <typename N> __device__ __forceinline__ complex_of<N> times(N factor, complex_of<N> x) {
    return {factor * x.re, factor * x.im};
}
template <typename N> __device__ __forceinline__ N plus(N x, N y) { return x + y; }
template <typename N> __device__ __forceinline__ complex_of<N> plus(complex_of<N> x, complex_of<N> y) {
    return {x.re + y.re, x.im + y.im};
}
__device__ __forceinline__ float passed(float x, int far) { return __shfl_down_sync(0xffffffffu, x, far); }
__device__ __forceinline__ double passed(double x, int far) { return __shfl_down_sync(0xffffffffu, x, far); }
template <typename N> __device__ __forceinline__ complex_of<N> passed(complex_of<N> x, int far) {
    return {passed(x.re, far), passed(x.im, far)};
}

#define THREADS ((TM / RM) * (TN / RN))
#define A_EACH (TM * TK / THREADS)
#define B_EACH (TN * TK / THREADS)

// Grid: tiles of the result, batches, parts of k. ``span`` is how much of k a part has, a multiple of TK.
// With more than one part the sums go to ``partial`` [parts, batches, m, n].
extern "C" __global__ void __launch_bounds__(THREADS) gemm(
    const T *__restrict__ a, const T *__restrict__ b, const T *__restrict__ other, T *__restrict__ out,
    A *__restrict__ partial, int m, int n, int k, int span, i64 a_row, i64 a_col, i64 b_row, i64 b_col,
    i64 other_row, i64 other_col, i64 out_row, i64 out_col, int batches, int inner, int middle, i64 a_outer,
    i64 a_middle, i64 a_inner, i64 b_outer, i64 b_middle, i64 b_inner, i64 out_outer, i64 out_middle,
    i64 out_inner, R alpha, R beta) {
    __shared__ A left[TK][TM + 1];
    __shared__ A right[TK][TN + 1];
    const int thread = threadIdx.x, across = thread % (TN / RN), down = thread / (TN / RN);
    const int wide_tiles = (n + TN - 1) / TN;
    const int first_row = (int)(blockIdx.x / wide_tiles) * TM, first_col = (int)(blockIdx.x % wide_tiles) * TN;
    const int begin = blockIdx.z * span, end = begin + span < k ? begin + span : k;
    // Neighbouring threads read neighbouring elements, for any layout of an operand.
    const bool a_turned = a_row == 1 && a_col != 1, b_turned = b_row == 1 && b_col != 1;

    for (i64 at_batch = blockIdx.y; at_batch < batches; at_batch += gridDim.y) {
        const int batch = (int)at_batch;
        const int in = batch % inner, rest = batch / inner, mid = rest % middle, outer = rest / middle;
        const T *from_a = a + outer * a_outer + mid * a_middle + in * a_inner;
        const T *from_b = b + outer * b_outer + mid * b_middle + in * b_inner;
        A sums[RM][RN], next_a[A_EACH], next_b[B_EACH];
#pragma unroll
        for (int i = 0; i < RM; i++)
#pragma unroll
            for (int j = 0; j < RN; j++) sums[i][j] = A();

        for (int place = begin - TK; place < end; place += TK) {
            // The operands of the next round are loaded while this round computes.
            const int ahead = place + TK;
#pragma unroll
            for (int e = 0; e < A_EACH; e++) {
                const int at = thread + e * THREADS;
                const int row = first_row + (a_turned ? at % TM : at / TK);
                const int col = ahead + (a_turned ? at / TM : at % TK);
                next_a[e] = row < m && col < end ? wide(from_a[row * a_row + col * a_col]) : A();
            }
#pragma unroll
            for (int e = 0; e < B_EACH; e++) {
                const int at = thread + e * THREADS;
                const int row = ahead + (b_turned ? at % TK : at / TN);
                const int col = first_col + (b_turned ? at / TK : at % TN);
                next_b[e] = row < end && col < n ? wide(from_b[row * b_row + col * b_col]) : A();
            }
            if (place >= begin) {
#pragma unroll
                for (int t = 0; t < TK; t++) {
                    A x[RM], y[RN];
#pragma unroll
                    for (int i = 0; i < RM; i++) x[i] = left[t][down + i * (TM / RM)];
#pragma unroll
                    for (int j = 0; j < RN; j++) y[j] = right[t][across + j * (TN / RN)];
#pragma unroll
                    for (int i = 0; i < RM; i++)
#pragma unroll
                        for (int j = 0; j < RN; j++) mad(sums[i][j], x[i], y[j]);
                }
            }
            __syncthreads();
#pragma unroll
            for (int e = 0; e < A_EACH; e++) {
                const int at = thread + e * THREADS;
                left[a_turned ? at / TM : at % TK][a_turned ? at % TM : at / TK] = next_a[e];
            }
#pragma unroll
            for (int e = 0; e < B_EACH; e++) {
                const int at = thread + e * THREADS;
                right[b_turned ? at % TK : at / TN][b_turned ? at / TK : at % TN] = next_b[e];
            }
            __syncthreads();
        }

#pragma unroll
        for (int i = 0; i < RM; i++) {
            const int row = first_row + down + i * (TM / RM);
#pragma unroll
            for (int j = 0; j < RN; j++) {
                const int col = first_col + across + j * (TN / RN);
                if (row < m && col < n) {
                    if (gridDim.z > 1) {
                        partial[(((i64)blockIdx.z * batches + batch) * m + row) * n + col] = sums[i][j];
                    } else {
                        A sum = times(alpha, sums[i][j]);
#if OTHER
                        sum = plus(sum, times(beta, wide(other[row * other_row + col * other_col])));
#endif
                        put(out + outer * out_outer + mid * out_middle + in * out_inner + row * out_row +
                                col * out_col,
                            sum);
                    }
                }
            }
        }
    }
}

// The parts of k added in order, then as in gemm: one thread for each result.
extern "C" __global__ void gemm_fold(
    const A *__restrict__ partial, const T *__restrict__ other, T *__restrict__ out, int parts, int m, int n,
    i64 other_row, i64 other_col, i64 out_row, i64 out_col, int batches, int inner, int middle, i64 out_outer,
    i64 out_middle, i64 out_inner, R alpha, R beta) {
    const i64 each = (i64)m * n, all = each * batches;
    for (i64 at = (i64)blockIdx.x * blockDim.x + threadIdx.x; at < all; at += (i64)gridDim.x * blockDim.x) {
        A sum = partial[at];
        for (int part = 1; part < parts; part++) sum = plus(sum, partial[part * all + at]);
        const int batch = (int)(at / each), row = (int)(at % each / n), col = (int)(at % n);
        const int in = batch % inner, rest = batch / inner, mid = rest % middle, outer = rest / middle;
        sum = times(alpha, sum);
#if OTHER
        sum = plus(sum, times(beta, wide(other[row * other_row + col * other_col])));
#endif
        put(out + outer * out_outer + mid * out_middle + in * out_inner + row * out_row + col * out_col, sum);
    }
}

// Sums of products of rows, out[o] = sum of a[o, k] * b[o, k] over k: one block of 128 threads for each result
// and part of k. Each thread adds its terms in their order, then the threads are added as a tree.
extern "C" __global__ void __launch_bounds__(128) dots(
    const T *__restrict__ a, const T *__restrict__ b, T *__restrict__ out, A *__restrict__ partial, int count,
    i64 k, i64 span, i64 a_out, i64 a_step, i64 b_out, i64 b_step, i64 out_step) {
    __shared__ A warps[4];
    for (i64 o = blockIdx.x; o < count; o += gridDim.x) {
        const i64 begin = blockIdx.y * span, end = begin + span < k ? begin + span : k;
        A sum = A();
        for (i64 at = begin + threadIdx.x; at < end; at += 128)
            mad(sum, wide(a[o * a_out + at * a_step]), wide(b[o * b_out + at * b_step]));
#pragma unroll
        for (int far = 16; far > 0; far /= 2) sum = plus(sum, passed(sum, far));
        if (threadIdx.x % 32 == 0) warps[threadIdx.x / 32] = sum;
        __syncthreads();
        if (threadIdx.x == 0) {
            sum = plus(plus(warps[0], warps[1]), plus(warps[2], warps[3]));
            if (gridDim.y > 1)
                partial[blockIdx.y * (i64)count + o] = sum;
            else
                put(out + o * out_step, sum);
        }
        __syncthreads();
    }
}
