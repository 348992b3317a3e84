// Shared by poolings and their gradients: the windows along each dimension, and offsets of elements.
//
// A window is a kernel's width at every stride, from the padding on; or, ragged, one of the parts that divide
// the image as evenly as integers do. Sizes of depth are 1 for images.
struct window_t {
    int start;     // where it begins, with the padding
    int from, to;  // the part of the image that it holds
    int counted;   // the divisor of the mean
};

__device__ __forceinline__ window_t window_of(int place, int size, int made, int kernel, int stride, int pad,
                                              int ragged, int exclusive) {
    window_t at;
    if (ragged) {
        at.start = at.from = (int)((i64)place * size / made);
        at.to = (int)(((i64)(place + 1) * size + made - 1) / made);
        at.counted = at.to - at.from;
        return at;
    }
    at.start = place * stride - pad;
    at.from = at.start > 0 ? at.start : 0;
    const int end = at.start + kernel, most = exclusive ? size : size + pad;
    at.to = end < size ? end : size;
    at.counted = (end < most ? end : most) - (exclusive ? at.from : at.start);
    return at;
}

// The windows that hold a place: from first to last.
struct holding_t { int first, last; };

__device__ __forceinline__ holding_t holding(int place, int size, int made, int kernel, int stride, int pad,
                                             int ragged) {
    holding_t at;
    if (ragged) {
        at.first = (int)((i64)place * made / size);
        at.last = (int)(((i64)(place + 1) * made - 1) / size);
        return at;
    }
    const int end = place + pad;
    at.first = end < kernel ? 0 : (end - kernel) / stride + 1;
    at.last = end / stride;
    if (at.last >= made) at.last = made - 1;
    return at;
}

// Sample, channel and place of an element of a contiguous array.
struct element_t { int n, c, d, h, w; };

__device__ __forceinline__ element_t element_of(int place, int channels, int d, int h, int w, int last) {
    element_t at;
    if (last) {
        at.c = place % channels;
        place /= channels;
    }
    const digits_t part = digits_of(place, d, h, w);
    at.d = part.d;
    at.h = part.h;
    at.w = part.w;
    at.n = last ? part.c : part.c / channels;
    if (!last) at.c = part.c % channels;
    return at;
}

#define STRIDES(x) i64 x##_n, int x##_c, int x##_d, int x##_h, int x##_w
#define PLANE(x, at) (x + at.n * x##_n + (i64)at.c * x##_c)
#define INNER(x, z, y, w) ((i64)(z) * x##_d + (i64)(y) * x##_h + (i64)(w) * x##_w)

#define SIZES                                                                                                 \
    int samples, int channels, int size_d, int size_h, int size_w, int made_d, int made_h, int made_w,        \
        int kernel_d, int kernel_h, int kernel_w, int stride_d, int stride_h, int stride_w, int pad_d,        \
        int pad_h, int pad_w, int ragged, int exclusive, int last

#define WINDOWS(at)                                                                                           \
    const window_t d = window_of(at.d, size_d, made_d, kernel_d, stride_d, pad_d, ragged, exclusive);         \
    const window_t h = window_of(at.h, size_h, made_h, kernel_h, stride_h, pad_h, ragged, exclusive);         \
    const window_t w = window_of(at.w, size_w, made_w, kernel_w, stride_w, pad_w, ragged, exclusive);

// If a window holds only the least value, padding before it counts as its first maximum.
#define LOST(value) (!ragged && (value) == -INFINITE && (d.start < 0 || h.start < 0 || w.start < 0))

#define INFINITE ((A)(1.0f / 0.0f))
