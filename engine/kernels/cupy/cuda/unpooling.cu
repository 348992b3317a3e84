// Elements put to places of their plane: unpooling, and the gradient of maxima that come with their places.
//
// A block computes a plane. Where several elements have one place, integers decide who is next, in the order of
// the elements: the bits are the same each time. Places that do not exist are noted and skipped.
//
//   unpooled   the last of several stays.
//   added_up   all of them are added: in rounds, of which each adds the first element of a place that is left.
#include "faults.cuh"

#define THREADS 256

__device__ __forceinline__ bool is_place(i64 place, int size, i64 element, i64 *record, int code, bool reports) {
    if (place >= 0 && place < size) return true;
    if (reports) note(record, code, place, element, 0, size - 1);
    return false;
}

extern "C" __global__ void __launch_bounds__(THREADS) unpooled(const T *__restrict__ x,
                                                               const L *__restrict__ places,
                                                               T *__restrict__ made, int *owners, int size,
                                                               int count, int code, i64 *record) {
    const i64 plane = blockIdx.x;
    x += plane * count;
    places += plane * count;
    made += plane * size;
    owners += plane * size;
    for (int i = threadIdx.x; i < size; i += THREADS) owners[i] = -1;
    __syncthreads();
    for (int i = threadIdx.x; i < count; i += THREADS)
        if (is_place(places[i], size, plane * count + i, record, code, true)) atomicMax(&owners[places[i]], i);
    __syncthreads();
    for (int i = threadIdx.x; i < size; i += THREADS) put(made + i, owners[i] < 0 ? (A)0 : wide(x[owners[i]]));
}

extern "C" __global__ void __launch_bounds__(THREADS) added_up(const T *__restrict__ g,
                                                               const L *__restrict__ places, T *made,
                                                               int *owners, int *done, int size, int count,
                                                               int code, i64 *record) {
    __shared__ int left;
    const i64 plane = blockIdx.x;
    g += plane * count;
    places += plane * count;
    made += plane * size;
    owners += plane * size;
    done += plane * size;
    for (int i = threadIdx.x; i < size; i += THREADS) {
        put(made + i, (A)0);
        done[i] = -1;  // the last element that was added there
    }
    __syncthreads();
    for (bool first = true, more = true; more; first = false) {
        if (threadIdx.x == 0) left = 0;
        for (int i = threadIdx.x; i < count; i += THREADS)
            if (is_place(places[i], size, plane * count + i, record, code, first) && i > done[places[i]])
                owners[places[i]] = count;
        __syncthreads();
        for (int i = threadIdx.x; i < count; i += THREADS)
            if (is_place(places[i], size, 0, record, code, false) && i > done[places[i]])
                atomicMin(&owners[places[i]], i);
        __syncthreads();
        for (int i = threadIdx.x; i < count; i += THREADS) {
            if (!is_place(places[i], size, 0, record, code, false)) continue;
            const i64 place = places[i];
            if (owners[place] < i) left = 1;
            // Only the element that is next reads and writes the state of its place.
            if (owners[place] == i && done[place] < i) {
                put(made + place, wide(made[place]) + wide(g[i]));
                done[place] = i;
            }
        }
        __syncthreads();
        more = left != 0;
        __syncthreads();
    }
}
