// Partial sums of several blocks, added in their order: of the gradient by the filters, and of a result
// whose tiles are shared. That one may have a bias for each of its channels, which lie `apart`.
#define LANES 32 /* sums of a block; DOWN threads share each */
#define DOWN 8

extern "C" __global__ void __launch_bounds__(LANES *DOWN) sums(const A *__restrict__ parts,
                                                                const T *__restrict__ bias,
                                                                T *__restrict__ made, i64 size, int count,
                                                                int channels, i64 apart, int biased,
                                                                int rectified) {
    __shared__ A partial[DOWN][LANES];
    const int lane = threadIdx.x % LANES, down = threadIdx.x / LANES;
    const i64 place = (i64)blockIdx.x * LANES + lane;
    A sum = (A)0;
    if (place < size)
        for (int n = down; n < count; n += DOWN) sum += parts[n * size + place];
    partial[down][lane] = sum;
    __syncthreads();
    if (down == 0 && place < size) {
#pragma unroll
        for (int n = 1; n < DOWN; ++n) sum += partial[n][lane];
        if (biased) sum += wide(bias[place / apart % channels]);
        put(made + place, rectified && sum < (A)0 ? (A)0 : sum);
    }
}
