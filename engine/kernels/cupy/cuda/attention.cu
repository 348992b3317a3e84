// Attention and its gradients in tiles of 32 rows and 32 columns of the scores, which never leave the chip.
//
//     out = softmax(x @ y.T * factor + mask) @ v
//
// Forward walks over the columns once with the softmax rescaled as larger scores come (Milakov and
// Gimelshein, 2018), and once more if the weights are requested. Backward has two passes, by rows and by
// columns, each with one writer for each result: no sum depends on which block comes first.
//
// A block is 256 threads, eight for each row; a thread has four columns of a tile, and every eighth column of
// up to 64 results of its row. Wider results are the blocks along z, which compute the scores again.
//
// Macros: T and A as in the prelude; MASK, VALUES and WEIGHTS (forward), DROPPED and KEPT (backward): 0 or 1.

#define TILE 32
#define EACH (TILE / 8)
#define WIDE 64
#define MINE (WIDE / 8)

// The layout of an array: the steps of the places before rows and columns, of rows, of columns, in elements.
#define LIES(name) i64 name##_outer, i64 name##_inner, i64 name##_row, i64 name##_col
#define AT(name, place) (name + (place) / inner * name##_outer + (place) % inner * name##_inner)

__device__ __forceinline__ float e_to(float x) { return expf(x); }
__device__ __forceinline__ double e_to(double x) { return exp(x); }
__device__ __forceinline__ A lowest() { return (A)float_of(0xFF800000u); }  // -inf

// The sum, or the largest, over the eight threads of a row.
__device__ __forceinline__ A over_row(A x) {
#pragma unroll
    for (int far = 4; far > 0; far /= 2) x += __shfl_xor_sync(0xffffffffu, x, far);
    return x;
}
__device__ __forceinline__ A most_of_row(A x) {
#pragma unroll
    for (int far = 4; far > 0; far /= 2) {
        const A other = __shfl_xor_sync(0xffffffffu, x, far);
        x = other > x ? other : x;
    }
    return x;
}

// A tile of 32 rows and N columns of a matrix, 0 beyond its ends; neighbours in memory by neighbours.
template <int N>
__device__ __forceinline__ void load(
    A (*tile)[N + 1], const T *from, int first_row, int rows, int first_col, int columns, i64 row, i64 col) {
    const bool turned = row == 1 && col != 1;
#pragma unroll
    for (int at = threadIdx.x; at < TILE * N; at += 256) {
        const int r = turned ? at % TILE : at / N, c = turned ? at / TILE : at % N;
        tile[r][c] = first_row + r < rows && first_col + c < columns
                         ? wide(from[(first_row + r) * row + (first_col + c) * col])
                         : (A)0;
    }
}

// sums[j] = row r of a times row c + 8 j of b, where thread 8 r + c of the block asks. Ends with a barrier.
__device__ __forceinline__ void products(
    A *sums, A (*left)[TILE + 1], A (*right)[TILE + 1], const T *a, int first_a, int rows_a, i64 a_row, i64 a_col,
    const T *b, int first_b, int rows_b, i64 b_row, i64 b_col, int depth) {
    const int r = threadIdx.x / 8, c = threadIdx.x % 8;
#pragma unroll
    for (int j = 0; j < EACH; j++) sums[j] = 0;
    for (int begin = 0; begin < depth; begin += TILE) {
        load<TILE>(left, a, first_a, rows_a, begin, depth, a_row, a_col);
        load<TILE>(right, b, first_b, rows_b, begin, depth, b_row, b_col);
        __syncthreads();
#pragma unroll 8
        for (int k = 0; k < TILE; k++) {
            const A x = left[r][k];
#pragma unroll
            for (int j = 0; j < EACH; j++) sums[j] += x * right[c + 8 * j][k];
        }
        __syncthreads();
    }
}

extern "C" __global__ void __launch_bounds__(256) attention(
    const T *__restrict__ x, const T *__restrict__ y, const T *__restrict__ v, const T *__restrict__ mask,
    T *__restrict__ out, T *__restrict__ weights, int places, int inner, int rows, int columns, int size,
    int width, LIES(x), LIES(y), LIES(v), LIES(mask), LIES(out), A factor) {
    __shared__ A left[TILE][TILE + 1];
    __shared__ A right[TILE][TILE + 1];
#if VALUES
    __shared__ A values[TILE][WIDE + 1];
#endif
    const int r = threadIdx.x / 8, c = threadIdx.x % 8, first = blockIdx.x * TILE, row = first + r;
    for (int place = blockIdx.y; place < places; place += gridDim.y) {
        const T *xs = AT(x, place), *ys = AT(y, place);
#if VALUES
        const int first_wide = blockIdx.z * WIDE;
        const T *vs = AT(v, place);
        A made[MINE];
#pragma unroll
        for (int j = 0; j < MINE; j++) made[j] = 0;
#endif
#if MASK
        const T *masks = AT(mask, place);
#endif
        A most = lowest(), total = 0, scores[EACH];
        for (int begin = 0; begin < columns; begin += TILE) {
            products(scores, left, right, xs, first, rows, x_row, x_col, ys, begin, columns, y_row, y_col, size);
            A top = most;
#pragma unroll
            for (int j = 0; j < EACH; j++) {
                const int col = begin + c + 8 * j;
                scores[j] *= factor;
#if MASK
                if (row < rows && col < columns) scores[j] += wide(masks[row * mask_row + col * mask_col]);
#endif
                if (col < columns && scores[j] > top) top = scores[j];
            }
            top = most_of_row(top);
            // Until a score is more than -inf there is nothing to be sure of; one that is NaN stays NaN.
            const A fade = top == lowest() ? (A)1 : e_to(most - top);
            total *= fade;
#pragma unroll
            for (int j = 0; j < EACH; j++) {
                const bool none = begin + c + 8 * j >= columns || (top == lowest() && scores[j] == scores[j]);
                const A share = none ? (A)0 : e_to(scores[j] - top);
                total += share;
                left[r][c + 8 * j] = share;
            }
            most = top;
#if VALUES
            load<WIDE>(values, vs, begin, columns, first_wide, width, v_row, v_col);
            __syncthreads();
#pragma unroll
            for (int j = 0; j < MINE; j++) made[j] *= fade;
#pragma unroll 4
            for (int k = 0; k < TILE; k++) {
                const A share = left[r][k];
#pragma unroll
                for (int j = 0; j < MINE; j++) made[j] += share * values[k][c + 8 * j];
            }
#endif
            __syncthreads();
        }
        total = over_row(total);
#if VALUES
        T *outs = AT(out, place);
#pragma unroll
        for (int j = 0; j < MINE; j++) {
            const int col = first_wide + c + 8 * j;
            if (row < rows && col < width) put(outs + row * out_row + col * out_col, made[j] / total);
        }
#endif
#if WEIGHTS
        if (blockIdx.z == 0) {
            T *to = weights + ((i64)place * rows + row) * columns;
            for (int begin = 0; begin < columns; begin += TILE) {
                products(
                    scores, left, right, xs, first, rows, x_row, x_col, ys, begin, columns, y_row, y_col, size);
#pragma unroll
                for (int j = 0; j < EACH; j++) {
                    const int col = begin + c + 8 * j;
                    if (row < rows && col < columns) {
                        A score = scores[j] * factor;
#if MASK
                        score += wide(masks[row * mask_row + col * mask_col]);
#endif
                        put(to + col, e_to(score - most) / total);
                    }
                }
            }
        }
#endif
    }
}

// The gradient of x, and for each row the sum of weights times their gradients, which by_columns needs.
// flow [rows, width] is the gradient of the result; ``kept`` the factors that dropout multiplied the weights
// with.
extern "C" __global__ void __launch_bounds__(256) by_rows(
    const T *__restrict__ flow, const T *__restrict__ weights, const T *__restrict__ y, const T *__restrict__ v,
    const T *__restrict__ kept, T *__restrict__ to_x, A *__restrict__ sums, int places, int inner, int rows,
    int columns, int size, int width, LIES(flow), LIES(y), LIES(v), LIES(to_x), A factor, int wants_x) {
    __shared__ A left[TILE][TILE + 1];
    __shared__ A right[TILE][TILE + 1];
    __shared__ A others[TILE][WIDE + 1];
    const int r = threadIdx.x / 8, c = threadIdx.x % 8, first = blockIdx.x * TILE, row = first + r;
    const int first_wide = blockIdx.z * WIDE;
    for (int place = blockIdx.y; place < places; place += gridDim.y) {
        const T *flows = AT(flow, place), *ys = AT(y, place), *vs = AT(v, place);
        const i64 here = ((i64)place * rows + row) * columns;
        A slopes[EACH], sum = 0, made[MINE];
#pragma unroll
        for (int j = 0; j < MINE; j++) made[j] = 0;
        for (int round = 0; round < (wants_x ? 2 : 1); round++) {
            for (int begin = 0; begin < columns; begin += TILE) {
                products(
                    slopes, left, right, flows, first, rows, flow_row, flow_col, vs, begin, columns, v_row, v_col,
                    width);
#pragma unroll
                for (int j = 0; j < EACH; j++) {
                    const int col = begin + c + 8 * j;
                    A weight = 0;
                    if (row < rows && col < columns) {
                        weight = wide(weights[here + col]);
#if KEPT
                        slopes[j] *= wide(kept[here + col]);
#endif
                    }
                    if (round == 0)
                        sum += weight * slopes[j];
                    else
                        left[r][c + 8 * j] = weight * (slopes[j] - sum);
                }
                if (round == 1) {
                    load<WIDE>(others, ys, begin, columns, first_wide, size, y_row, y_col);
                    __syncthreads();
#pragma unroll 4
                    for (int k = 0; k < TILE; k++) {
                        const A slope = left[r][k];
#pragma unroll
                        for (int j = 0; j < MINE; j++) made[j] += slope * others[k][c + 8 * j];
                    }
                    __syncthreads();
                }
            }
            if (round == 0) {
                sum = over_row(sum);
                if (blockIdx.z == 0 && c == 0 && row < rows) sums[(i64)place * rows + row] = sum;
            }
        }
        if (wants_x) {
            T *to = AT(to_x, place);
#pragma unroll
            for (int j = 0; j < MINE; j++) {
                const int col = first_wide + c + 8 * j;
                if (row < rows && col < size) put(to + row * to_x_row + col * to_x_col, made[j] * factor);
            }
        }
    }
}

// The gradients of y and of v: a block has 32 columns of the scores and walks over the rows.
extern "C" __global__ void __launch_bounds__(256) by_columns(
    const T *__restrict__ flow, const T *__restrict__ weights, const T *__restrict__ x, const T *__restrict__ v,
    const T *__restrict__ dropped, const T *__restrict__ kept, const A *__restrict__ sums, T *__restrict__ to_y,
    T *__restrict__ to_v, int places, int inner, int rows, int columns, int size, int width, LIES(flow), LIES(x),
    LIES(v), LIES(to_y), LIES(to_v), A factor, int wants_y, int wants_v) {
    __shared__ A left[TILE][TILE + 1];
    __shared__ A right[TILE][TILE + 1];
    __shared__ A others[TILE][WIDE + 1];
    const int r = threadIdx.x / 8, c = threadIdx.x % 8, first = blockIdx.x * TILE, first_wide = blockIdx.z * WIDE;
    for (int place = blockIdx.y; place < places; place += gridDim.y) {
        const T *flows = AT(flow, place), *xs = AT(x, place), *vs = AT(v, place);
        A slopes[EACH], of_y[MINE], of_v[MINE];
#pragma unroll
        for (int j = 0; j < MINE; j++) of_y[j] = of_v[j] = 0;
        for (int begin = 0; begin < rows; begin += TILE) {
            const int row = begin + r;
            const i64 here = ((i64)place * rows + row) * columns;
            if (wants_y)
                products(
                    slopes, left, right, flows, begin, rows, flow_row, flow_col, vs, first, columns, v_row, v_col,
                    width);
#pragma unroll
            for (int j = 0; j < EACH; j++) {
                const int col = first + c + 8 * j;
                A weight = 0, met = 0, slope = 0;
                if (row < rows && col < columns) {
                    met = weight = wide(weights[here + col]);
#if DROPPED
                    met = wide(dropped[here + col]);
#endif
                    if (wants_y) {
                        slope = slopes[j];
#if KEPT
                        slope *= wide(kept[here + col]);
#endif
                        slope = weight * (slope - sums[(i64)place * rows + row]);
                    }
                }
                left[r][c + 8 * j] = slope;
                right[r][c + 8 * j] = met;
            }
            if (wants_y) {
                load<WIDE>(others, xs, begin, rows, first_wide, size, x_row, x_col);
                __syncthreads();
#pragma unroll 4
                for (int k = 0; k < TILE; k++) {
                    const A slope = left[k][r];
#pragma unroll
                    for (int j = 0; j < MINE; j++) of_y[j] += slope * others[k][c + 8 * j];
                }
                __syncthreads();
            }
            if (wants_v) load<WIDE>(others, flows, begin, rows, first_wide, width, flow_row, flow_col);
            __syncthreads();
            if (wants_v) {
#pragma unroll 4
                for (int k = 0; k < TILE; k++) {
                    const A met = right[k][r];
#pragma unroll
                    for (int j = 0; j < MINE; j++) of_v[j] += met * others[k][c + 8 * j];
                }
            }
            __syncthreads();
        }
        const int col = first + r;
        T *to_ys = AT(to_y, place), *to_vs = AT(to_v, place);
#pragma unroll
        for (int j = 0; j < MINE; j++) {
            const int far = first_wide + c + 8 * j;
            if (wants_y && col < columns && far < size) put(to_ys + col * to_y_row + far * to_y_col, of_y[j] * factor);
            if (wants_v && col < columns && far < width) put(to_vs + col * to_v_row + far * to_v_col, of_v[j]);
        }
    }
}
