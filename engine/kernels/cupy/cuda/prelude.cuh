// The beginning of every source: number types, loads and stores that widen, indices.
//
// Sources include nothing, so that NVRTC needs no folder of headers. float16 and bfloat16 are stored as their
// bits and computed in float. A source is compiled once for each set of its macros:
//   T      the type of elements in memory: float, double, half_t, bfloat_t, or an integer
//   A      the type that is computed in: float for the 16-bit types, else T itself
typedef long long i64;
typedef unsigned long long u64;
typedef unsigned int u32;
typedef unsigned short u16;
typedef unsigned char u8;

struct half_t { u16 bits; };
struct bfloat_t { u16 bits; };

#ifdef __CUDACC_RTC__
__device__ __forceinline__ u32 bits_of(float x) { return __float_as_uint(x); }
__device__ __forceinline__ float float_of(u32 bits) { return __uint_as_float(bits); }
__device__ __forceinline__ float half_widened(u16 bits) {
    float x;
    asm("cvt.f32.f16 %0, %1;" : "=f"(x) : "h"(bits));
    return x;
}
__device__ __forceinline__ u16 half_rounded(float x) {
    u16 bits;
    asm("cvt.rn.f16.f32 %0, %1;" : "=h"(bits) : "f"(x));
    return bits;
}
#endif

// The number at a place, in the type that is computed in.
__device__ __forceinline__ float wide(half_t x) { return half_widened(x.bits); }
__device__ __forceinline__ float wide(bfloat_t x) { return float_of((u32)x.bits << 16); }
template <typename N> __device__ __forceinline__ N wide(N x) { return x; }

// A computed number in the type of the place, rounded to nearest even.
__device__ __forceinline__ void put(half_t *place, float x) { place->bits = half_rounded(x); }
__device__ __forceinline__ void put(bfloat_t *place, float x) {
    u32 bits = bits_of(x);
    place->bits = (x != x) ? (u16)0x7FC0 : (u16)((bits + 0x7FFFu + ((bits >> 16) & 1u)) >> 16);
}
template <typename N, typename M> __device__ __forceinline__ void put(N *place, M x) { *place = (N)x; }

// A place in c blocks of d x h x w, by its digits in reading order; c has no limit.
struct digits_t { int c, d, h, w; };

__device__ __forceinline__ digits_t digits_of(int place, int d, int h, int w) {
    digits_t at;
    at.w = place % w;
    place /= w;
    at.h = place % h;
    place /= h;
    at.d = place % d;
    at.c = place / d;
    return at;
}

// As many places further: with carries, which cost less than division.
__device__ __forceinline__ void advance(digits_t &at, const digits_t &by, int d, int h, int w) {
    at.w += by.w;
    int over = at.w >= w;
    at.w -= over ? w : 0;
    at.h += by.h + over;
    over = at.h >= h;
    at.h -= over ? h : 0;
    at.d += by.d + over;
    over = at.d >= d;
    at.d -= over ? d : 0;
    at.c += by.c + over;
}
