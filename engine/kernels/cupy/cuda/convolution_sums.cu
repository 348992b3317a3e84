// The parts of a convolution's gradient by its filters, added in their order.
#define LANES 32 /* sums of a block; DOWN threads share each */
#define DOWN 8

extern "C" __global__ void __launch_bounds__(LANES *DOWN) sums(const A *__restrict__ parts,
                                                                T *__restrict__ made, i64 size, int count) {
    __shared__ A kept[DOWN][LANES];
    const int lane = threadIdx.x % LANES, down = threadIdx.x / LANES;
    const i64 place = (i64)blockIdx.x * LANES + lane;
    A sum = (A)0;
    if (place < size)
        for (int n = down; n < count; n += DOWN) sum += parts[n * size + place];
    kept[down][lane] = sum;
    __syncthreads();
    if (down == 0 && place < size) {
#pragma unroll
        for (int n = 1; n < DOWN; ++n) sum += kept[n][lane];
        put(made + place, sum);
    }
}
