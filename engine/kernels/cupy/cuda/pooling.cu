// Poolings of images and volumes, and their gradients.
//
//   pooled    the maximum (and where it is, `places`) or mean of each window, a thread for each.
//   gathered  the gradient: each element of the image adds up the gradients of the windows that hold it. Of a
//             maximum that is the first element that equals it; of windows of NaN none, as NumPy's kernel has
//             it, but for ragged ones, where it is the first NaN.
//   picked    the elements of other values at the first maxima.
#include "pooling_windows.cuh"

// Whether the first of the elements of a window that equal `value` (NaN: that are NaN) is at a place.
__device__ __forceinline__ bool is_first(const T *x, A value, const window_t &d, const window_t &h,
                                         const window_t &w, int z, int y, int column, int x_d, int x_h,
                                         int x_w) {
    for (int a = d.from; a <= z; ++a)
        for (int b = h.from; b < (a < z ? h.to : y + 1); ++b)
            for (int c = w.from; c < (a < z || b < y ? w.to : column); ++c) {
                const A other = wide(x[INNER(x, a, b, c)]);
                if (other == value || (value != value && other != other)) return false;
            }
    return true;
}

extern "C" __global__ void __launch_bounds__(256) pooled(const T *__restrict__ x, T *__restrict__ made,
                                                         int *__restrict__ places, int mean, int marked, SIZES,
                                                         STRIDES(x)) {
    const i64 place = (i64)blockIdx.x * 256 + threadIdx.x;
    if (place >= (i64)samples * channels * made_d * made_h * made_w) return;
    const element_t at = element_of((int)place, channels, made_d, made_h, made_w, last);
    WINDOWS(at)
    const T *plane = PLANE(x, at);
    A found = mean ? (A)0 : -INFINITE;
    int where = -1;
    for (int a = d.from; a < d.to; ++a)
        for (int b = h.from; b < h.to; ++b)
            for (int c = w.from; c < w.to; ++c) {
                const A value = wide(plane[INNER(x, a, b, c)]);
                if (mean) {
                    found += value;
                } else if (where < 0 || value > found || (value != value && found == found)) {
                    found = value;
                    where = (a * size_h + b) * size_w + c;
                }
            }
    put(made + place, mean ? found / (A)(d.counted * h.counted * w.counted) : found);
    if (marked) places[place] = where < 0 ? 0 : where;
}

extern "C" __global__ void __launch_bounds__(256) gathered(const T *__restrict__ x, const T *__restrict__ y,
                                                           const T *__restrict__ g, T *__restrict__ made,
                                                           int mean, SIZES, STRIDES(x), STRIDES(y), STRIDES(g)) {
    const i64 place = (i64)blockIdx.x * 256 + threadIdx.x;
    if (place >= (i64)samples * channels * size_d * size_h * size_w) return;
    const element_t at = element_of((int)place, channels, size_d, size_h, size_w, last);
    const holding_t of_d = holding(at.d, size_d, made_d, kernel_d, stride_d, pad_d, ragged);
    const holding_t of_h = holding(at.h, size_h, made_h, kernel_h, stride_h, pad_h, ragged);
    const holding_t of_w = holding(at.w, size_w, made_w, kernel_w, stride_w, pad_w, ragged);
    const T *plane = PLANE(x, at), *of_y = PLANE(y, at), *of_g = PLANE(g, at);
    const A value = mean ? (A)0 : wide(plane[INNER(x, at.d, at.h, at.w)]);
    A sum = (A)0;
    element_t window = at;
    // From the last window to the first: the order in which NumPy's kernel adds.
    for (window.d = of_d.last; window.d >= of_d.first; --window.d)
        for (window.h = of_h.last; window.h >= of_h.first; --window.h)
            for (window.w = of_w.last; window.w >= of_w.first; --window.w) {
                WINDOWS(window)
                const A given = wide(of_g[INNER(g, window.d, window.h, window.w)]);
                if (mean) {
                    sum += given / (A)(d.counted * h.counted * w.counted);
                    continue;
                }
                const A most = wide(of_y[INNER(y, window.d, window.h, window.w)]);
                if ((value == most || (ragged && value != value)) && !LOST(value) &&
                    is_first(plane, value, d, h, w, at.d, at.h, at.w, x_d, x_h, x_w))
                    sum += given;
            }
    put(made + place, sum);
}

extern "C" __global__ void __launch_bounds__(256) picked(const T *__restrict__ x, const T *__restrict__ y,
                                                         const T *__restrict__ values, T *__restrict__ made,
                                                         SIZES, STRIDES(x), STRIDES(y), STRIDES(values)) {
    const i64 place = (i64)blockIdx.x * 256 + threadIdx.x;
    if (place >= (i64)samples * channels * made_d * made_h * made_w) return;
    const element_t at = element_of((int)place, channels, made_d, made_h, made_w, last);
    WINDOWS(at)
    const T *plane = PLANE(x, at), *from = PLANE(values, at);
    const A most = wide(PLANE(y, at)[INNER(y, at.d, at.h, at.w)]);
    A found = (A)0;
    bool looking = !LOST(most);
    for (int a = d.from; looking && a < d.to; ++a)
        for (int b = h.from; looking && b < h.to; ++b)
            for (int c = w.from; looking && c < w.to; ++c) {
                const A value = wide(plane[INNER(x, a, b, c)]);
                if (value == most || (ragged && value != value)) {
                    found = wide(from[INNER(values, a, b, c)]);
                    looking = false;
                }
            }
    put(made + place, found);
}
