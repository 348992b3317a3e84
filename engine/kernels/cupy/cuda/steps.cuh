// Functions that generated chains and updates call besides those of C: NaN as NumPy has it, rounding of a
// step.
template <typename N> __device__ __forceinline__ N larger_of(N a, N b) { return a != a ? a : a > b ? a : b; }
template <typename N> __device__ __forceinline__ N smaller_of(N a, N b) { return a != a ? a : a < b ? a : b; }
__device__ __forceinline__ float sigmoid_of(float x) {
    float e = expf(-fabsf(x));
    return (x < 0.0f ? e : 1.0f) / (1.0f + e);
}
__device__ __forceinline__ double sigmoid_of(double x) {
    double e = exp(-fabs(x));
    return (x < 0.0 ? e : 1.0) / (1.0 + e);
}
// A number as memory of 16 bits would hold it between two operators.
template <typename K> __device__ __forceinline__ float as_stored(float x) {
    K place;
    put(&place, x);
    return wide(place);
}
