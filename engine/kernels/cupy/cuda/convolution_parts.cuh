// Shared by both ways to the gradient of a convolution by its filters: that of the result times the element
// that each entry of a filter reads, added up over all places.
//
// The places are cut into parts, whose number depends on the sizes only; `sums` adds their results, in their
// order, so the bits are the same each time. Places are counted over samples, entries over channels of the
// group, each in reading order.
#define FLAT(limit) (DEEP ? (limit) : 1) /* DEEP = 1: volumes; else sizes of depth are 1 */

#define PROBLEM                                                                                               \
    const T *__restrict__ source, const T *__restrict__ gradient, A *__restrict__ parts, T *__restrict__ made, \
        int samples, int rows, int channels, int made_d, int made_h, int made_w, int size_d, int size_h,      \
        int size_w, int kernel_d, int kernel_h, int kernel_w, int stride_d, int stride_h, int stride_w,       \
        int pad_d, int pad_h, int pad_w, int dilation_d, int dilation_h, int dilation_w, i64 source_n,        \
        int source_c, int source_d, int source_h, int source_w, i64 gradient_n, int gradient_c,               \
        int gradient_d, int gradient_h, int gradient_w, int groups, int length

// The begin and end of a block's part of the places.
#define PART                                                                                                  \
    const int positions = samples * made_d * made_h * made_w, group = (int)blockIdx.z % groups;               \
    const int first = (int)blockIdx.z / groups * length;                                                      \
    const int count = positions - first < length ? positions - first : length;

// The offset of a place in the gradient of the result, and of its window in the image.
struct place_t { i64 gradient, source; int d, h, w; };

__device__ __forceinline__ place_t place_of(const digits_t &at, int stride_d, int stride_h, int stride_w,
                                            int pad_d, int pad_h, int pad_w, i64 source_n, int source_d,
                                            int source_h, int source_w, i64 gradient_n, int gradient_d,
                                            int gradient_h, int gradient_w) {
    place_t place;
    place.d = at.d * stride_d - pad_d;
    place.h = at.h * stride_h - pad_h;
    place.w = at.w * stride_w - pad_w;
    place.gradient = at.c * gradient_n + (at.d * gradient_d + at.h * gradient_h + at.w * gradient_w);
    place.source = at.c * source_n + (place.d * source_d + place.h * source_h + place.w * source_w);
    return place;
}

#define PLACE(at)                                                                                             \
    place_of(at, stride_d, stride_h, stride_w, pad_d, pad_h, pad_w, source_n, source_d, source_h, source_w,   \
             gradient_n, gradient_d, gradient_h, gradient_w)

// The offset of an entry of the filter from the beginning of its window.
struct entry_t { int place, d, h, w; };

__device__ __forceinline__ entry_t entry_of(int k, int kernel_d, int kernel_h, int kernel_w, int dilation_d,
                                            int dilation_h, int dilation_w, int source_c, int source_d,
                                            int source_h, int source_w) {
    const digits_t at = digits_of(k, FLAT(kernel_d), kernel_h, kernel_w);
    entry_t entry = {0, at.d * dilation_d, at.h * dilation_h, at.w * dilation_w};
    entry.place = at.c * source_c + entry.d * source_d + entry.h * source_h + entry.w * source_w;
    return entry;
}

#define ENTRY(k)                                                                                              \
    entry_of(k, kernel_d, kernel_h, kernel_w, dilation_d, dilation_h, dilation_w, source_c, source_d,         \
             source_h, source_w)

__device__ __forceinline__ A read(const T *from, const place_t &place, const entry_t &entry, int size_d,
                                  int size_h, int size_w) {
    const bool inside = (!DEEP || (u32)(place.d + entry.d) < (u32)size_d) &&
                        (u32)(place.h + entry.h) < (u32)size_h && (u32)(place.w + entry.w) < (u32)size_w;
    return inside ? wide(from[place.source + entry.place]) : (A)0;
}

// One sum: to the gradient itself where there is one part only.
__device__ __forceinline__ void give(A sum, T *made, A *parts, int part, int filters, int entries, int filter,
                                     int entry, bool only) {
    const i64 place = (i64)filter * entries + entry;
    if (only) put(made + place, sum);
    else parts[(i64)part * filters * entries + place] = sum;
}
