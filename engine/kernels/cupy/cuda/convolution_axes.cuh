// Shared by kernels that gather: which places a block computes, and which entries of the filter reach them.
//
// Forwards the source is the image; backwards (BACKWARD = 1) it is the gradient of the result, and the result
// is the gradient of the image: each of its places gathers from the windows that read it, so nothing is
// added in memory. With strides only every n-th entry of the filter reaches a place: places that the
// same entries reach are one phase, and a phase is a convolution without strides.
//
// Places are counted over samples, entries of the filter over channels, each in reading order.
#define FLAT(limit) (DEEP ? (limit) : 1) /* DEEP = 1: volumes; else sizes of depth are 1 */

struct axis_t {
    int count;          // places along it, in this phase
    int first, step;    // place i is first + i * step of the result
    int start, stride;  // it reads the source at start + i * stride
    int reach;          // and reach further for each entry of the filter
    int taps;           // entries that reach it
    int tap, skip;      // the first of them, and how far it is to the next
    int size;           // of the source
};

__device__ __forceinline__ axis_t axis_of(int made, int size, int kernel, int stride, int pad, int dilation,
                                          int phase) {
    axis_t a;
    a.size = size;
#if BACKWARD
    // Entry r of the filter leads from place y to (y + pad - r * dilation) / stride, where that is whole.
    a.first = (phase + stride - pad % stride) % stride;
    a.step = stride;
    a.count = a.first < made ? (made - a.first + stride - 1) / stride : 0;
    a.tap = phase;
    a.skip = stride;
    if (dilation != 1) {
        a.skip = 1;
        while (a.skip * dilation % stride) ++a.skip;
        a.tap = 0;
        while (a.tap < a.skip && (phase - a.tap * dilation) % stride) ++a.tap;
        if (a.tap == a.skip) a.tap = kernel;
    }
    a.taps = a.tap < kernel ? (kernel - a.tap + a.skip - 1) / a.skip : 0;
    a.start = (a.first + pad - a.tap * dilation) / stride;
    a.stride = 1;
    a.reach = -(a.skip * dilation / stride);
#else
    a.count = made;
    a.first = 0;
    a.step = 1;
    a.start = -pad;
    a.stride = stride;
    a.reach = dilation;
    a.taps = kernel;
    a.tap = 0;
    a.skip = 1;
#endif
    return a;
}

#define PROBLEM                                                                                               \
    const T *__restrict__ source, const T *__restrict__ weight, const T *__restrict__ bias,                   \
        T *__restrict__ made, A *__restrict__ stretches, int samples, int rows, int channels, int made_d,     \
        int made_h, int made_w, int size_d, int size_h, int size_w, int kernel_d, int kernel_h, int kernel_w, \
        int stride_d, int stride_h, int stride_w, int pad_d, int pad_h, int pad_w, int dilation_d,            \
        int dilation_h, int dilation_w, i64 source_n, int source_c, int source_d, int source_h, int source_w, \
        i64 made_n, i64 made_c, i64 made_sd, i64 made_sh, i64 made_sw, int weight_group, int weight_row,      \
        int weight_channel, int biased, int rectified, i64 size, int shares

// The convolution of a block: its group, and the axes in its phase.
#define AXES(number)                                                                                          \
    int phase = BACKWARD ? (number) % (stride_d * stride_h * stride_w) : 0;                                   \
    const int group = BACKWARD ? (number) / (stride_d * stride_h * stride_w) : (number);                      \
    const axis_t w = axis_of(made_w, size_w, kernel_w, stride_w, pad_w, dilation_w, phase % stride_w);        \
    phase /= stride_w;                                                                                        \
    const axis_t h = axis_of(made_h, size_h, kernel_h, stride_h, pad_h, dilation_h, phase % stride_h);        \
    const axis_t d = axis_of(made_d, size_d, kernel_d, stride_d, pad_d, dilation_d, phase / stride_h);        \
    const int positions = samples * d.count * h.count * w.count;

// The offset of a place in the result, and of its windows in the source.
struct place_t { i64 made, source; int d, h, w; };

#define FAR (-(1 << 30)) /* outside every source */

__device__ __forceinline__ place_t place_of(int position, int positions, const axis_t &d, const axis_t &h,
                                            const axis_t &w, i64 source_n, i64 made_n, i64 made_sd,
                                            i64 made_sh, i64 made_sw) {
    place_t at = {-1, 0, FAR, FAR, FAR};
    if (position < positions) {
        digits_t part = digits_of(position, FLAT(d.count), h.count, w.count);
        at.made = part.c * made_n + (d.first + part.d * d.step) * made_sd +
                  (h.first + part.h * h.step) * made_sh + (w.first + part.w * w.step) * made_sw;
        at.source = part.c * source_n;
        at.d = d.start + part.d * d.stride;
        at.h = h.start + part.h * h.stride;
        at.w = w.start + part.w * w.stride;
    }
    return at;
}

// The source's value of one channel at an entry of the filter: zero outside it.
#define GATHERED(from, at, k)                                                                                 \
    gathered(from, at.d + k.d * d.reach, at.h + k.h * h.reach, at.w + k.w * w.reach, size_d, size_h, size_w,  \
             k.c * source_c, source_d, source_h, source_w)

__device__ __forceinline__ A gathered(const T *from, int z, int y, int x, int size_d, int size_h, int size_w,
                                      int channel, int source_d, int source_h, int source_w) {
#if DEEP
    if ((u32)z >= (u32)size_d) return (A)0;
    channel += z * source_d;
#endif
    if ((u32)y >= (u32)size_h || (u32)x >= (u32)size_w) return (A)0;
    return wide(from[channel + y * source_h + x * source_w]);
}

__device__ __forceinline__ A finished(A sum, const T *bias, int biased, int rectified, int channel) {
    if (biased) sum += wide(bias[channel]);
    return rectified && sum < (A)0 ? (A)0 : sum;
}

// The offset of a weight from the first of its row and group.
#define WEIGHT(k)                                                                                             \
    (k.c * weight_channel +                                                                                   \
     ((d.tap + k.d * d.skip) * kernel_h + h.tap + k.h * h.skip) * kernel_w + w.tap + k.w * w.skip)
