// softmax and log_softmax of rows, and the gradient of softmax. Results may be in the memory of an input.
#include "rows.cuh"
#include "exponentials.cuh"

extern "C" __global__ void __launch_bounds__(ROW_THREADS) softmax(const T *x, T *y, ROWS) {
    Row row(PASS_ROWS);
    A most, total;
    exponentials(row, x, &most, &total);
    for (u32 j = row.first; j < row.end; j += row.step) {
        i64 at = row.at(j);
        put(y + at, e_to(wide(x[at]) - most) / total);
    }
}

extern "C" __global__ void __launch_bounds__(ROW_THREADS) log_softmax(const T *x, T *y, ROWS) {
    Row row(PASS_ROWS);
    A most, total;
    exponentials(row, x, &most, &total);
    total = ln(total);
    for (u32 j = row.first; j < row.end; j += row.step) {
        i64 at = row.at(j);
        put(y + at, wide(x[at]) - most - total);
    }
}

// The gradient of x where flow is that of soft = softmax(x): flow * soft - soft * sum(flow * soft).
extern "C" __global__ void __launch_bounds__(ROW_THREADS) softmax_grad(
    const T *flow, const T *soft, T *made, ROWS) {
    Row row(PASS_ROWS);
    A total = 0;
    for (u32 j = row.first; j < row.end; j += row.step) {
        i64 at = row.at(j);
        total += wide(flow[at]) * wide(soft[at]);
    }
    total = row.over(total, Sum());
    for (u32 j = row.first; j < row.end; j += row.step) {
        i64 at = row.at(j);
        A one = wide(soft[at]);
        put(made + at, wide(flow[at]) * one - one * total);
    }
}
