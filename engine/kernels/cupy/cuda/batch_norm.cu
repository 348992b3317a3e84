// batch_norm and its gradients: a row is a channel, of NCHW and NHWC alike. P is the type of its numbers.
//
// Long channels are cut into parts. A part has its own mean and the squares about it, which are joined in their
// order (Chan, Golub, LeVeque: Updating formulae and a pairwise algorithm for computing sample variances).
#include "rows.cuh"

__device__ __forceinline__ void moments_of(const Row &row, const T *x, A *mean, A *squares) {
    A total = 0;
    for (u32 j = row.first; j < row.end; j += row.step) total += wide(x[row.at(j)]);
    A middle = row.over(total, Sum()) / (A)(row.end - row.begin);
    total = 0;
    for (u32 j = row.first; j < row.end; j += row.step) {
        A apart = wide(x[row.at(j)]) - middle;
        total += apart * apart;
    }
    *mean = middle;
    *squares = row.over(total, Sum());
}

// The parts' means and squares: [parts][2][channels].
extern "C" __global__ void __launch_bounds__(ROW_THREADS) moments(const T *x, A *parts, ROWS) {
    Row row(PASS_ROWS);
    A mean, squares;
    moments_of(row, x, &mean, &squares);
    if (!row.leads()) return;
    parts[2 * blockIdx.y * rows + row.number] = mean;
    parts[(2 * blockIdx.y + 1) * rows + row.number] = squares;
}

// y, the running statistics after this batch, the mean that was used and 1 / sqrt(variance + epsilon).
// `given`: normalize by the running statistics.
extern "C" __global__ void __launch_bounds__(ROW_THREADS) batch_norm(
    const T *x, const P *scale, const P *bias, const P *mean, const P *variance, const A *parts, T *y, P *mean_out,
    P *variance_out, P *saved_mean, P *saved_inverse, ROWS, A keep, A take, A epsilon, u32 given) {
    Row row(PASS_ROWS);
    i64 c = row.live ? row.number : 0;
    A middle, spread, running_mean = wide(mean[c]), running_variance = wide(variance[c]);
    if (given) {
        middle = running_mean;
        spread = running_variance;
    } else if (gridDim.y == 1) {
        moments_of(row, x, &middle, &spread);
        spread /= (A)r1 * (A)r2;
    } else {
        u64 size = (u64)r1 * r2;
        A count = (A)size;
        middle = spread = 0;
        for (u32 part = 0; part < gridDim.y; part++) {
            A share = (A)(size * (part + 1) / gridDim.y - size * part / gridDim.y);
            middle += parts[2 * part * rows + c] * (share / count);
        }
        for (u32 part = 0; part < gridDim.y; part++) {
            A share = (A)(size * (part + 1) / gridDim.y - size * part / gridDim.y);
            A apart = parts[2 * part * rows + c] - middle;
            spread += (parts[(2 * part + 1) * rows + c] + share * apart * apart) / count;
        }
    }
    A inverse = 1 / root(spread + epsilon), factor = inverse * wide(scale[c]), shift = wide(bias[c]);
    if (given) shift -= middle * factor;
    for (u32 j = row.first; j < row.end; j += row.step) {
        i64 at = row.at(j);
        A one = wide(x[at]);
        put(y + at, (given ? one : one - middle) * factor + shift);
    }
    if (blockIdx.y == 0 && row.leads()) {
        put(mean_out + c, given ? middle : running_mean * keep + middle * take);
        put(variance_out + c, given ? spread : running_variance * keep + spread * take);
        put(saved_mean + c, middle);
        put(saved_inverse + c, inverse);
    }
}

__device__ __forceinline__ void sums_of(const Row &row, const T *x, const T *g, A middle, A *along, A *across) {
    A products = 0, flows = 0;
    for (u32 j = row.first; j < row.end; j += row.step) {
        i64 at = row.at(j);
        A flow = wide(g[at]);
        products += flow * (wide(x[at]) - middle);
        flows += flow;
    }
    *along = row.over(products, Sum());
    *across = row.over(flows, Sum());
}

// The parts' sums of g * (x - mean) and of g: [parts][2][channels].
extern "C" __global__ void __launch_bounds__(ROW_THREADS) gradient_sums(
    const T *x, const T *g, const P *saved_mean, A *parts, ROWS) {
    Row row(PASS_ROWS);
    A along, across;
    sums_of(row, x, g, wide(saved_mean[row.live ? row.number : 0]), &along, &across);
    if (!row.leads()) return;
    parts[2 * blockIdx.y * rows + row.number] = along;
    parts[(2 * blockIdx.y + 1) * rows + row.number] = across;
}

extern "C" __global__ void __launch_bounds__(ROW_THREADS) batch_norm_grad(
    const T *x, const P *scale, const T *g, const P *saved_mean, const P *saved_inverse, const A *parts, T *x_grad,
    P *scale_grad, P *bias_grad, ROWS, u32 given) {
    Row row(PASS_ROWS);
    i64 c = row.live ? row.number : 0;
    A middle = wide(saved_mean[c]), inverse = wide(saved_inverse[c]), along = 0, across = 0;
    if (gridDim.y == 1) {
        sums_of(row, x, g, middle, &along, &across);
    } else {
        for (u32 part = 0; part < gridDim.y; part++) {
            along += parts[2 * part * rows + c];
            across += parts[(2 * part + 1) * rows + c];
        }
    }
    along *= inverse;
    A count = (A)r1 * (A)r2, factor = wide(scale[c]) * inverse;
    A slope = given ? 0 : inverse * along / count, shift = given ? 0 : across / count;
    for (u32 j = row.first; j < row.end; j += row.step) {
        i64 at = row.at(j);
        A flow = wide(g[at]);
        if (!given) flow -= (wide(x[at]) - middle) * slope + shift;
        put(x_grad + at, flow * factor);
    }
    if (blockIdx.y == 0 && row.leads()) {
        put(scale_grad + c, along);
        put(bias_grad + c, across);
    }
}
