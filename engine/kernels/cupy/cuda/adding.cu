// Elements put or added at positions, those of one place in their order: NumPy's sums, the same bits each time.
//
// I is the type of positions. A position that does not exist is noted and skipped.
#include "rows.cuh"
#include "faults.cuh"

// Numbers of rows from positions in up to five dimensions; -1 for skipped ones. `wraps`: negative positions
// count from the end.
extern "C" __global__ void keys(
    const I *index, i64 *made, i64 count, u32 depth, i64 n0, i64 n1, i64 n2, i64 n3, i64 n4, u32 wraps, i64 left_out,
    int code, i64 *record) {
    i64 j = (i64)blockIdx.x * blockDim.x + threadIdx.x;
    if (j >= count) return;
    i64 key = 0;
    for (u32 d = 0; d < depth; d++) {
        i64 size = d == 0 ? n0 : d == 1 ? n1 : d == 2 ? n2 : d == 3 ? n3 : n4, at = (i64)index[j * depth + d];
        i64 low = wraps ? -size : 0;
        if (at < low || at >= size) {
            note(record, code, at, j * depth + d, low, size - 1);
            key = -1;
            break;
        }
        if (at < 0) at += size;
        key = key * size + at;
    }
    made[j] = key == left_out ? -1 : key;
}

// order[n] is the place of the n-th smallest key, equal ones in their order: each thread counts how many come
// before its own, tile by tile.
extern "C" __global__ void ranks(const i64 *keys, i64 *order, i64 count) {
    __shared__ i64 tile[256];
    i64 j = (i64)blockIdx.x * 256 + threadIdx.x, rank = 0, mine = j < count ? keys[j] : 0;
    for (i64 begin = 0; begin < count; begin += 256) {
        i64 at = begin + threadIdx.x;
        tile[threadIdx.x] = at < count ? keys[at] : 0x7FFFFFFFFFFFFFFFll;
        __syncthreads();
        for (int k = 0; k < 256; k++) rank += tile[k] < mine || (tile[k] == mine && begin + k < j);
        __syncthreads();
    }
    if (j < count) order[rank] = j;
}

enum { ADDED, SUMMED, LAST };

// from [outer][count][inner] into to [outer][size][inner] at keys, whose order is known. ADDED: to the
// present values; SUMMED: in its place; LAST: the last of each place. The thread rows where a key begins do
// all of its.
extern "C" __global__ void add_runs(
    const i64 *keys, const i64 *order, const T *from, T *to, i64 count, i64 size, i64 outer, i64 inner, u32 how) {
    i64 begin = (i64)blockIdx.x * blockDim.y + threadIdx.y;
    if (begin >= count) return;
    i64 key = keys[order[begin]];
    if (key < 0 || (begin > 0 && keys[order[begin - 1]] == key)) return;
    for (i64 e = (i64)blockIdx.y * blockDim.x + threadIdx.x; e < outer * inner; e += (i64)gridDim.y * blockDim.x) {
        i64 of = e / inner, at = e % inner;
        T *place = to + (of * size + key) * inner + at;
        A total = how == ADDED ? (A)wide(*place) : (A)0;
        for (i64 n = begin; n < count; n++) {
            i64 j = order[n];
            if (keys[j] != key) break;
            A one = wide(from[(of * count + j) * inner + at]);
            total = how == LAST ? one : (A)(total + one);
        }
        put(place, total);
    }
}

enum { ASSIGN, ADD, MULTIPLY, LEAST, MOST };

// values [outer][count][inner] put at positions of their own along the middle axis of made [outer][size][inner].
// A thread does one column from its first to its last. `anew`: starts from `neutral` instead of the present
// values.
extern "C" __global__ void put_along(
    const I *index, const T *values, T *made, i64 columns, i64 count, i64 size, i64 inner, u32 how, u32 anew,
    A neutral, int code, i64 *record) {
    i64 column = (i64)blockIdx.x * blockDim.x + threadIdx.x;
    if (column >= columns) return;
    i64 first = column / inner * count * inner + column % inner, to = column / inner * size * inner + column % inner;
    for (u32 turn = anew ? 0 : 1; turn < 2; turn++) {
        for (i64 j = 0; j < count; j++) {
            i64 from = first + j * inner, at = (i64)index[from];
            if (at < 0 || at >= size) {
                note(record, code, at, from, 0, size - 1);
                continue;
            }
            T *place = made + to + at * inner;
            A was = wide(*place), one = wide(values[from]);
            if (turn == 0) was = neutral;
            else if (how == ASSIGN) was = one;
            else if (how == ADD) was = (A)(was + one);
            else if (how == MULTIPLY) was = (A)(was * one);
            else if (how == LEAST) was = Least()(was, one);
            else was = Most()(was, one);
            put(place, was);
        }
    }
}
