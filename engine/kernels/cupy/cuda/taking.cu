// Elements taken at positions; nothing is computed, so that T is any type of their width and I that of positions.
//
// x is [outer][size][inner], the result as [outer][count][inner]. A position that does not exist is noted
// and gives 0.
#include "faults.cuh"

// `along`: every element of the result has its own position; else there is one for each of `count`.
// `wraps`: negative positions count from the end. `left_out` gives 0. `code` 0: negative positions are known to
// be wrong already, and give 0.
extern "C" __global__ void take(
    const T *x, const I *index, T *made, i64 elements, i64 count, i64 size, i64 inner, u32 along, u32 wraps, i64 left_out,
    int code, i64 *record) {
    i64 e = (i64)blockIdx.x * blockDim.x + threadIdx.x;
    if (e >= elements) return;
    i64 of = e / inner, place = along ? e : of % count, from = (i64)index[place];
    i64 low = wraps ? -size : 0;
    bool exists = from >= low && from < size;
    if (!exists && code && (along || (e % inner == 0 && of < count))) note(record, code, from, place, low, size - 1);
    if (exists && from < 0) from += size;
    T found = 0;
    if (exists && from != left_out) found = x[(of / count * size + from) * inner + e % inner];
    made[e] = found;
}

// Rows of zeros with a one at the class.
extern "C" __global__ void one_hot(const I *index, float *made, i64 elements, i64 depth, int code, i64 *record) {
    i64 e = (i64)blockIdx.x * blockDim.x + threadIdx.x;
    if (e >= elements) return;
    i64 place = e / depth, of = e % depth, found = (i64)index[place];
    if (of == 0 && (found < 0 || found >= depth)) note(record, code, found, place, 0, depth - 1);
    made[e] = found == of ? 1.0f : 0.0f;
}
