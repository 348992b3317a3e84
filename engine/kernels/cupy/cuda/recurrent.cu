// Recurrent layers: one launch for each step through time computes the product with the state and the cell.
//
// Arrays are those of engine/ops/sequences/rnn.py: gates [gates, T, N, H], y and cells [T, N, H], weights by
// rows. Sequences end at their ``lengths``: beyond, y is 0 and the state stays. A block computes 16 units of 16
// samples; the terms of a product are added in their order.
//
// Macros: T, A, MODE (0 LSTM, 1 GRU, 2 tanh, 3 relu), GIVEN (1: another kernel computed the product).

#include "faults.cuh"

#define TILE 16
#define DEPTH 32
#if MODE == 0
#define GATES 4
#elif MODE == 1
#define GATES 3
#else
#define GATES 1
#endif

__device__ __forceinline__ float hyperbolic(float x) { return tanhf(x); }
__device__ __forceinline__ double hyperbolic(double x) { return tanh(x); }
// By tanh, which neither overflows nor loses digits far from 0.
__device__ __forceinline__ A sigmoid(A x) { return hyperbolic(x * (A)0.5) * (A)0.5 + (A)0.5; }

// ``before`` is the time of the step before, -1: none; ``done`` how many steps are done, ``gate`` the elements
// of all steps of a gate.

// Forward. ``h0`` is the first state, ``state`` [2, N, H] the last two where there are lengths, ``product``
// [gates, N, H] the product of the state where that is given. ``biased``: 1 with b_ih, 2 with b_hh.
extern "C" __global__ void __launch_bounds__(TILE *TILE) step_forward(
    const T *__restrict__ w, const T *__restrict__ b_ih, const T *__restrict__ b_hh, const T *__restrict__ h0,
    const T *__restrict__ c0, const T *__restrict__ product, const i64 *__restrict__ lengths, T *gates, T *y,
    T *cells, T *state, i64 *record, int code, int steps, int biased, int masked, int time, int before, int done, int batch, int size, i64 gate) {
    const int unit = blockIdx.y * TILE + threadIdx.x % TILE, sample = blockIdx.x * TILE + threadIdx.x / TILE;
    const i64 all = (i64)batch * size, here = (i64)sample * size + unit, now = time * all + here;
    const T *h = before < 0 ? h0 : masked ? state + ((done + 1) % 2) * all : y + before * all;
    A of_h[GATES];
#pragma unroll
    for (int g = 0; g < GATES; g++) of_h[g] = 0;
#if !GIVEN
    __shared__ A states[TILE][DEPTH + 1];
    __shared__ A weights[GATES][TILE][DEPTH + 1];
    for (int first = 0; first < size; first += DEPTH) {
        for (int at = threadIdx.x; at < TILE * DEPTH; at += TILE * TILE) {
            const int row = at / DEPTH, k = first + at % DEPTH;
            const int own = blockIdx.x * TILE + row, to = blockIdx.y * TILE + row;
            states[row][at % DEPTH] = own < batch && k < size ? wide(h[(i64)own * size + k]) : (A)0;
#pragma unroll
            for (int g = 0; g < GATES; g++)
                weights[g][row][at % DEPTH] =
                    to < size && k < size ? wide(w[((i64)g * size + to) * size + k]) : (A)0;
        }
        __syncthreads();
#pragma unroll 8
        for (int k = 0; k < DEPTH; k++) {
            const A x = states[threadIdx.x / TILE][k];
#pragma unroll
            for (int g = 0; g < GATES; g++) of_h[g] += x * weights[g][threadIdx.x % TILE][k];
        }
        __syncthreads();
    }
#endif
    if (unit < size && sample < batch) {
        A of_x[GATES];
#pragma unroll
        for (int g = 0; g < GATES; g++) {
#if GIVEN
            of_h[g] = wide(product[g * all + here]);
#endif
#if MODE < 2
            of_x[g] = wide(gates[g * gate + now]);
#else
            of_x[g] = wide(y[now]);
#endif
            if (biased & 1) of_x[g] += wide(b_ih[g * size + unit]);
            if (biased & 2) of_h[g] += wide(b_hh[g * size + unit]);
        }
        const A old = wide(h[here]);
        const bool inside = !masked || time < lengths[sample];
        if (masked && done == 0 && unit == 0 && (lengths[sample] < 0 || lengths[sample] > steps))
            note(record, code, lengths[sample], sample, 0, steps);
#if MODE == 0
        const A c = wide(before < 0 ? c0[here] : cells[before * all + here]);
        const A i = sigmoid(of_x[0] + of_h[0]), f = sigmoid(of_x[1] + of_h[1]);
        const A u = hyperbolic(of_x[2] + of_h[2]), o = sigmoid(of_x[3] + of_h[3]);
        const A cell = f * c + i * u, made = o * hyperbolic(cell);
        put(gates + now, i);
        put(gates + gate + now, f);
        put(gates + 2 * gate + now, u);
        put(gates + 3 * gate + now, o);
        put(cells + now, inside ? cell : c);
#elif MODE == 1
        const A r = sigmoid(of_x[0] + of_h[0]), z = sigmoid(of_x[1] + of_h[1]);
        const A candidate = hyperbolic(of_x[2] + r * of_h[2]), made = (old - candidate) * z + candidate;
        put(gates + now, r);
        put(gates + gate + now, z);
        put(gates + 2 * gate + now, candidate);
        put(gates + 3 * gate + now, of_h[2]);
#elif MODE == 2
        const A made = hyperbolic(of_x[0] + of_h[0]);
#else
        const A sum = of_x[0] + of_h[0], made = sum > 0 || sum != sum ? sum : (A)0;
#endif
        put(y + now, inside ? made : (A)0);
        if (masked) put(state + (done % 2) * all + here, inside ? made : old);
    }
}

// Backward: from the gradients of the gates of the step that was walked last (``after``, -1: none) that of
// the state, and from it those of this step's gates. ``carry`` and ``dc`` [N, H] are the gradients that flow
// past the product. With ``last`` the state's gradient is the result, in ``first`` [N, H].
extern "C" __global__ void __launch_bounds__(TILE *TILE) step_backward(
    const T *__restrict__ w, const T *__restrict__ gates, const T *__restrict__ y, const T *__restrict__ cells,
    const T *__restrict__ h0, const T *__restrict__ c0, const T *__restrict__ g_y,
    const T *__restrict__ product, const i64 *__restrict__ lengths, A *carry, A *dc, T *to_x, T *to_h, T *first,
    int flows, int masked, int reverse, int last, int time, int before, int after, int batch, int size,
    i64 gate) {
    const int unit = blockIdx.y * TILE + threadIdx.x % TILE, sample = blockIdx.x * TILE + threadIdx.x / TILE;
    const i64 all = (i64)batch * size, here = (i64)sample * size + unit, now = time * all + here;
    A sum = 0;
#if !GIVEN
    __shared__ A slopes[TILE][DEPTH + 1];
    __shared__ A weights[DEPTH][TILE + 1];
    const int depth = after < 0 ? 0 : GATES * size;
    for (int begin = 0; begin < depth; begin += DEPTH) {
        for (int at = threadIdx.x; at < TILE * DEPTH; at += TILE * TILE) {
            const int own = blockIdx.x * TILE + at / DEPTH, k = begin + at % DEPTH;
            slopes[at / DEPTH][at % DEPTH] =
                own < batch && k < depth
                    ? wide(to_h[k / size * gate + after * all + (i64)own * size + k % size])
                    : (A)0;
            const int row = begin + at / TILE, to = blockIdx.y * TILE + at % TILE;
            weights[at / TILE][at % TILE] =
                row < depth && to < size ? wide(w[(i64)row * size + to]) : (A)0;
        }
        __syncthreads();
#pragma unroll 8
        for (int k = 0; k < DEPTH; k++) sum += slopes[threadIdx.x / TILE][k] * weights[k][threadIdx.x % TILE];
        __syncthreads();
    }
#endif
    if (unit < size && sample < batch) {
#if GIVEN
        if (after >= 0)
            for (int g = 0; g < GATES; g++) sum += wide(product[g * all + here]);
#endif
        A dh = sum + carry[here];
        const bool inside = !masked || time < lengths[sample];
        if (last) {
            put(first + here, dh);
        } else if (!inside) {
            carry[here] = dh;
            for (int g = 0; g < GATES; g++) {
                put(to_h + g * gate + now, (A)0);
                if (MODE == 1) put(to_x + g * gate + now, (A)0);
            }
        } else {
            if (flows) dh += wide(g_y[now]);
#if MODE == 0
            const A i = wide(gates[now]), f = wide(gates[gate + now]), u = wide(gates[2 * gate + now]);
            const A o = wide(gates[3 * gate + now]), bent = hyperbolic(wide(cells[now]));
            const A c = wide(before < 0 ? c0[here] : cells[before * all + here]);
            const A flow = dc[here] + dh * o * (1 - bent * bent);
            put(to_h + now, flow * (1 - i) * i * u);
            put(to_h + gate + now, flow * (1 - f) * f * c);
            put(to_h + 2 * gate + now, flow * (1 - u * u) * i);
            put(to_h + 3 * gate + now, dh * (1 - o) * o * bent);
            dc[here] = flow * f;
            carry[here] = 0;
#elif MODE == 1
            const A r = wide(gates[now]), z = wide(gates[gate + now]), c = wide(gates[2 * gate + now]);
            // In reverse, the first state comes before the last step of a sequence.
            const bool begins = before < 0 || (reverse && masked && before >= lengths[sample]);
            const A old = wide(begins ? h0[here] : y[before * all + here]);
            const A to_c = dh * (1 - c * c) * (1 - z), to_r = (1 - r) * r * wide(gates[3 * gate + now]) * to_c;
            const A to_z = dh * (1 - z) * z * (old - c);
            put(to_x + now, to_r);
            put(to_x + gate + now, to_z);
            put(to_x + 2 * gate + now, to_c);
            put(to_h + now, to_r);
            put(to_h + gate + now, to_z);
            put(to_h + 2 * gate + now, to_c * r);
            carry[here] = dh * z;
#else
            const A out = wide(y[now]);
            put(to_h + now, MODE == 2 ? dh * (1 - out * out) : out > 0 ? dh : dh * 0);
            carry[here] = 0;
#endif
        }
    }
}
