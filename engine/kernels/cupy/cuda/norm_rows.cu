// Rows normalized by their own mean and variance: layer_norm, group_norm, instance_norm; their gradients.
//
// A row is a sample, or a group of channels of one. Numbers of channels belong to elements: element j of a row
// has channel (row % groups) * per + (j / spread) % per. Flags mark the given arrays: 1 scale, 2 bias, 4 that
// the second statistic is 1 / sqrt(variance + epsilon) instead of the variance.
#include "rows.cuh"

#define CHANNELS u32 groups, u32 per, u32 spread
enum { HAS_SCALE = 1, HAS_BIAS = 2, INVERTED = 4 };

__device__ __forceinline__ u32 channel_of(const Row &row, u32 j, CHANNELS) {
    if (groups == 1 && spread == 1) return j < per ? j : j % per;
    return (u32)(row.number % groups) * per + j / spread % per;
}

extern "C" __global__ void __launch_bounds__(ROW_THREADS) normalize(
    const T *x, const T *scale, const T *bias, T *y, T *mean, T *second, ROWS, CHANNELS, A epsilon, u32 flags) {
    Row row(PASS_ROWS);
    A count = (A)r1 * (A)r2, total = 0;
    for (u32 j = row.first; j < row.end; j += row.step) total += wide(x[row.at(j)]);
    A middle = row.over(total, Sum()) / count;
    total = 0;
    for (u32 j = row.first; j < row.end; j += row.step) {
        A apart = wide(x[row.at(j)]) - middle;
        total += apart * apart;
    }
    A variance = row.over(total, Sum()) / count;
    A inverse = 1 / root(variance + epsilon);
    for (u32 j = row.first; j < row.end; j += row.step) {
        i64 at = row.at(j);
        u32 channel = channel_of(row, j, groups, per, spread);
        A one = (wide(x[at]) - middle) * inverse;
        if (flags & HAS_SCALE) one *= wide(scale[channel]);
        if (flags & HAS_BIAS) one += wide(bias[channel]);
        put(y + at, one);
    }
    if (row.leads()) {
        put(mean + row.number, middle);
        put(second + row.number, flags & INVERTED ? inverse : variance);
    }
}

// The gradient of x, and 1 / sqrt(variance + epsilon) of each row for the sums over channels.
extern "C" __global__ void __launch_bounds__(ROW_THREADS) normalize_grad(
    const T *x, const T *g, const T *scale, const T *mean, const T *second, T *made, A *inverses, ROWS, CHANNELS,
    A epsilon, u32 flags) {
    Row row(PASS_ROWS);
    A count = (A)r1 * (A)r2, middle = 0, inverse = 0, along = 0, across = 0;
    if (row.live) {
        middle = wide(mean[row.number]);
        inverse = wide(second[row.number]);
        if (!(flags & INVERTED)) inverse = 1 / root(inverse + epsilon);
    }
    for (u32 j = row.first; j < row.end; j += row.step) {
        i64 at = row.at(j);
        A flow = wide(g[at]);
        if (flags & HAS_SCALE) flow *= wide(scale[channel_of(row, j, groups, per, spread)]);
        along += flow * (wide(x[at]) - middle) * inverse;
        across += flow;
    }
    along = row.over(along, Sum()) / count;
    across = row.over(across, Sum()) / count;
    for (u32 j = row.first; j < row.end; j += row.step) {
        i64 at = row.at(j);
        A flow = wide(g[at]);
        if (flags & HAS_SCALE) flow *= wide(scale[channel_of(row, j, groups, per, spread)]);
        put(made + at, (flow - ((wide(x[at]) - middle) * inverse * along + across)) * inverse);
    }
    if (row.leads()) inverses[row.number] = inverse;
}

// Here the rows are channels: the gradients of scale and bias, or their parts [parts][2][channels]. The
// statistics of an element are those of row (r1 / points) * groups + channel / per.
extern "C" __global__ void __launch_bounds__(ROW_THREADS) channel_sums(
    const T *x, const T *g, const T *mean, const A *inverses, A *parts, T *scale_grad, T *bias_grad, ROWS,
    u32 points, u32 groups, u32 per) {
    Row row(PASS_ROWS);
    A along = 0, across = 0;
    i64 group = row.number / per;
    for (u32 j = row.first; j < row.end; j += row.step) {
        i64 at = row.at(j), of = (i64)(j / r2 / points) * groups + group;
        A flow = wide(g[at]);
        along += flow * (wide(x[at]) - wide(mean[of])) * inverses[of];
        across += flow;
    }
    along = row.over(along, Sum());
    across = row.over(across, Sum());
    if (!row.leads()) return;
    if (gridDim.y == 1) {
        put(scale_grad + row.number, along);
        put(bias_grad + row.number, across);
    } else {
        parts[2 * blockIdx.y * rows + row.number] = along;
        parts[(2 * blockIdx.y + 1) * rows + row.number] = across;
    }
}

extern "C" __global__ void join_channel_sums(const A *parts, T *scale_grad, T *bias_grad, i64 channels, u32 count) {
    i64 n = (i64)blockIdx.x * blockDim.x + threadIdx.x;
    if (n >= channels) return;
    A along = 0, across = 0;
    for (u32 part = 0; part < count; part++) {
        along += parts[2 * part * channels + n];
        across += parts[(2 * part + 1) * channels + n];
    }
    put(scale_grad + n, along);
    put(bias_grad + n, across);
}
