// The mean of losses over the labels that are not ignored, and its gradient: one block each.
//
// L is the type of labels. Partial sums are added up in a tree that depends on the block alone.
#define THREADS 256

// The sum over all threads, in each of them.
template <typename N> __device__ __forceinline__ N together(N *parts, N mine) {
    parts[threadIdx.x] = mine;
    __syncthreads();
    for (int half = THREADS / 2; half > 0; half /= 2) {
        if (threadIdx.x < half) parts[threadIdx.x] += parts[threadIdx.x + half];
        __syncthreads();
    }
    return parts[0];
}

// How many labels are not ignored, at least 1.
__device__ __forceinline__ A counted(i64 *counts, const L *label, i64 labels, i64 ignored) {
    i64 count = 0;
    for (i64 i = threadIdx.x; i < labels; i += THREADS) count += (i64)label[i] != ignored;
    count = together(counts, count);
    return (A)(count < 1 ? 1 : count);
}

extern "C" __global__ void __launch_bounds__(THREADS) kept_mean(
    const T *__restrict__ x, i64 n, const L *__restrict__ label, i64 labels, i64 ignored, T *__restrict__ out) {
    __shared__ i64 counts[THREADS];
    __shared__ A sums[THREADS];
    A count = counted(counts, label, labels, ignored), sum = 0;
    for (i64 i = threadIdx.x; i < n; i += THREADS) sum += wide(x[i]);
    sum = together(sums, sum);
    if (threadIdx.x == 0) put(out, sum / count);
}

extern "C" __global__ void __launch_bounds__(THREADS) kept_mean_grad(
    const T *__restrict__ g, const L *__restrict__ label, i64 labels, i64 ignored, T *__restrict__ out, i64 n) {
    __shared__ i64 counts[THREADS];
    A each = wide(g[0]) / counted(counts, label, labels, ignored);
    for (i64 i = threadIdx.x; i < n; i += THREADS) put(out + i, each);
}
