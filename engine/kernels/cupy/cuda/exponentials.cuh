// The largest element of a row, and the sum of exp(x - largest).
__device__ __forceinline__ void exponentials(
    const Row &row, const T *x, A *largest, A *sum) {
    A most = -infinite<A>(), total = 0;
    for (u32 j = row.first; j < row.end; j += row.step) most = Most()(most, (A)wide(x[row.at(j)]));
    most = row.over(most, Most());
    for (u32 j = row.first; j < row.end; j += row.step) total += e_to(wide(x[row.at(j)]) - most);
    *largest = most;
    *sum = row.over(total, Sum());
}
