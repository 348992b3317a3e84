// CUDA's keywords, types and functions for a CUDA source that a C++ compiler of the host compiles.
//
// It includes nothing, so that a source compiles in a fraction of a second. Names that are missing here are
// not used by the sources yet: add them as CUDA's documentation defines them. Barriers and shuffles are in
// runtime.cpp.
#pragma once

#define __global__
#define __device__
#define __host__
#define __constant__ static
#define __forceinline__ inline
#define __noinline__ __attribute__((noinline))
#define __launch_bounds__(...)
#define __align__(n) alignas(n)
// A block has the memory for itself: blocks run one after the other, and it is spoiled before each.
#define __shared__ static __attribute__((section("shim_shared")))

typedef __SIZE_TYPE__ size_t;
struct uint3 { unsigned x, y, z; };
typedef uint3 dim3;

extern "C" {
extern uint3 threadIdx, blockIdx, blockDim, gridDim;
extern char shim_dynamic[];
void shim_block_barrier(int line);
void shim_warp_barrier(unsigned mask, int line);
unsigned char *shim_offer(unsigned mask, const void *value, int bytes, int line);
unsigned shim_lane(void);
void shim_refuse(const char *what, int line);
void *memcpy(void *, const void *, size_t);
void *memset(void *, int, size_t);
}
static const int warpSize = 32;

#define __syncthreads() shim_block_barrier(__LINE__)
#define __syncwarp(...) shim_warp_barrier(0xFFFFFFFFu, __LINE__)
static inline void __threadfence() {}
static inline void __threadfence_block() {}

// ----- shuffles: every lane of the warp offers its number, then takes that of another ---------------------
template <class V> V shim_taken(unsigned mask, V value, unsigned from, int line) {
    unsigned char *offered = shim_offer(mask, &value, sizeof(V), line);
    V found;
    memcpy(&found, offered + 16 * from, sizeof(V));
    return found;
}
template <class V> V shim_xor(int line, unsigned mask, V value, int lanes, int width = 32) {
    unsigned mine = shim_lane(), from = mine ^ lanes;
    return shim_taken(mask, value, from / width <= mine / width ? from : mine, line);
}
template <class V> V shim_down(int line, unsigned mask, V value, unsigned lanes, int width = 32) {
    unsigned mine = shim_lane(), from = mine + lanes;
    return shim_taken(mask, value, from / width == mine / width ? from : mine, line);
}
template <class V> V shim_up(int line, unsigned mask, V value, unsigned lanes, int width = 32) {
    unsigned mine = shim_lane();
    return shim_taken(mask, value, mine % width >= lanes ? mine - lanes : mine, line);
}
template <class V> V shim_from(int line, unsigned mask, V value, int lane, int width = 32) {
    unsigned mine = shim_lane();
    return shim_taken(mask, value, mine / width * width + (unsigned)lane % width, line);
}
static inline unsigned shim_ballot(int line, unsigned mask, int predicate) {
    int mine = predicate != 0;
    unsigned char *offered = shim_offer(mask, &mine, sizeof(int), line);
    unsigned found = 0;
    for (int lane = 0; lane < 32; lane++) {
        int value;
        memcpy(&value, offered + 16 * lane, sizeof(int));
        found |= value == 1 ? 1u << lane : 0;
    }
    return found;
}
#define __shfl_xor_sync(...) shim_xor(__LINE__, __VA_ARGS__)
#define __shfl_down_sync(...) shim_down(__LINE__, __VA_ARGS__)
#define __shfl_up_sync(...) shim_up(__LINE__, __VA_ARGS__)
#define __shfl_sync(...) shim_from(__LINE__, __VA_ARGS__)
#define __ballot_sync(...) shim_ballot(__LINE__, __VA_ARGS__)
#define __any_sync(...) (shim_ballot(__LINE__, __VA_ARGS__) != 0)

// ----- atomics: threads take turns, so plain statements do; numbers with a point are refused ----------------
// (a sum of them in the order of arrival differs from run to run on a GPU).
#define SHIM_ATOMICS(I)                                                                                      \
    static inline I atomicAdd(I *place, I x) { I old = *place; *place = old + x; return old; }               \
    static inline I atomicMax(I *place, I x) { I old = *place; *place = old > x ? old : x; return old; }     \
    static inline I atomicMin(I *place, I x) { I old = *place; *place = old < x ? old : x; return old; }     \
    static inline I atomicOr(I *place, I x) { I old = *place; *place = old | x; return old; }                \
    static inline I atomicAnd(I *place, I x) { I old = *place; *place = old & x; return old; }               \
    static inline I atomicExch(I *place, I x) { I old = *place; *place = x; return old; }                    \
    static inline I atomicCAS(I *place, I was, I x) { I old = *place; if (old == was) *place = x; return old; }
SHIM_ATOMICS(int)
SHIM_ATOMICS(unsigned)
SHIM_ATOMICS(unsigned long long)
float atomicAdd(float *, float) = delete;
double atomicAdd(double *, double) = delete;

// ----- bits -----------------------------------------------------------------------------------------------
template <class To, class From> static inline To shim_bits(From x) {
    static_assert(sizeof(To) == sizeof(From), "as many bits");
    To y;
    __builtin_memcpy(&y, &x, sizeof(To));
    return y;
}
static inline int __float_as_int(float x) { return shim_bits<int>(x); }
static inline unsigned __float_as_uint(float x) { return shim_bits<unsigned>(x); }
static inline float __int_as_float(int x) { return shim_bits<float>(x); }
static inline float __uint_as_float(unsigned x) { return shim_bits<float>(x); }
static inline long long __double_as_longlong(double x) { return shim_bits<long long>(x); }
static inline double __longlong_as_double(long long x) { return shim_bits<double>(x); }
static inline int __popc(unsigned x) { return __builtin_popcount(x); }
static inline int __popcll(unsigned long long x) { return __builtin_popcountll(x); }
static inline int __clz(int x) { return x ? __builtin_clz(x) : 32; }
static inline int __clzll(long long x) { return x ? __builtin_clzll(x) : 64; }
static inline int __ffs(int x) { return __builtin_ffs(x); }
static inline unsigned __umulhi(unsigned a, unsigned b) { return (unsigned)((unsigned long long)a * b >> 32); }
static inline unsigned long long __umul64hi(unsigned long long a, unsigned long long b) {
    return (unsigned long long)((unsigned __int128)a * b >> 64);
}
static inline int __mulhi(int a, int b) { return (int)((long long)a * b >> 32); }
template <class V> static inline V __ldg(const V *place) { return *place; }

static inline unsigned bits_of(float x) { return __float_as_uint(x); }
static inline float float_of(unsigned bits) { return __uint_as_float(bits); }
static inline float half_widened(unsigned short bits) {
    unsigned sign = (bits & 0x8000u) << 16, exponent = bits >> 10 & 31, fraction = bits & 1023;
    if (exponent == 31) return float_of(sign | 0x7F800000u | fraction << 13);
    if (exponent) return float_of(sign | (exponent + 112) << 23 | fraction << 13);
    float x = (float)fraction * 0x1p-24f;
    return sign ? -x : x;
}
// Rounded to nearest even as PTX's cvt.rn.f16.f32 does; every NaN becomes 0x7FFF there.
static inline unsigned short half_rounded(float x) {
    unsigned bits = bits_of(x), sign = bits >> 16 & 0x8000u, size = bits & 0x7FFFFFFFu;
    if (size > 0x7F800000u) return 0x7FFF;
    if (size >= 0x477FF000u) return (unsigned short)(sign | 0x7C00u);
    if (size < 0x38800000u) { // below the smallest normal number: adding 0.5 rounds at 2^-24
        float sum = float_of(size) + 0.5f;
        return (unsigned short)(sign | (bits_of(sum) - 0x3F000000u));
    }
    return (unsigned short)(sign | (size - 0x38000000u + 0xFFFu + (size >> 13 & 1u)) >> 13);
}

// ----- mathematics ----------------------------------------------------------------------------------------
#define SHIM_MATH_1(name)                                                                                    \
    extern "C" double name(double) noexcept;                                                                 \
    extern "C" float name##f(float) noexcept;                                                                \
    static inline float name(float x) { return name##f(x); }
#define SHIM_MATH_2(name)                                                                                    \
    extern "C" double name(double, double) noexcept;                                                         \
    extern "C" float name##f(float, float) noexcept;                                                         \
    static inline float name(float x, float y) { return name##f(x, y); }
SHIM_MATH_1(exp) SHIM_MATH_1(exp2) SHIM_MATH_1(expm1) SHIM_MATH_1(log) SHIM_MATH_1(log2) SHIM_MATH_1(log10)
SHIM_MATH_1(log1p) SHIM_MATH_1(sqrt) SHIM_MATH_1(cbrt) SHIM_MATH_1(sin) SHIM_MATH_1(cos) SHIM_MATH_1(tan)
SHIM_MATH_1(asin) SHIM_MATH_1(acos) SHIM_MATH_1(atan) SHIM_MATH_1(sinh) SHIM_MATH_1(cosh) SHIM_MATH_1(tanh)
SHIM_MATH_1(asinh) SHIM_MATH_1(acosh) SHIM_MATH_1(atanh) SHIM_MATH_1(erf) SHIM_MATH_1(erfc)
SHIM_MATH_1(floor) SHIM_MATH_1(ceil) SHIM_MATH_1(trunc) SHIM_MATH_1(round) SHIM_MATH_1(rint)
SHIM_MATH_1(nearbyint) SHIM_MATH_1(fabs) SHIM_MATH_1(lgamma) SHIM_MATH_1(tgamma)
SHIM_MATH_2(pow) SHIM_MATH_2(fmod) SHIM_MATH_2(atan2) SHIM_MATH_2(fmax) SHIM_MATH_2(fmin) SHIM_MATH_2(hypot)
SHIM_MATH_2(copysign) SHIM_MATH_2(remainder) SHIM_MATH_2(nextafter) SHIM_MATH_2(fdim)
extern "C" double fma(double, double, double) noexcept;
extern "C" float fmaf(float, float, float) noexcept;
static inline float fma(float x, float y, float z) { return fmaf(x, y, z); }
extern "C" double ldexp(double, int) noexcept;
extern "C" float ldexpf(float, int) noexcept;
extern "C" double frexp(double, int *) noexcept;
extern "C" float frexpf(float, int *) noexcept;
static inline float rsqrtf(float x) { return 1.0f / sqrtf(x); }
static inline double rsqrt(double x) { return 1.0 / sqrt(x); }
static inline float rsqrt(float x) { return rsqrtf(x); }
static inline float __expf(float x) { return expf(x); }
static inline float __logf(float x) { return logf(x); }
static inline float __fdividef(float x, float y) { return x / y; }
static inline float __frcp_rn(float x) { return 1.0f / x; }
static inline float __fmul_rn(float x, float y) { return x * y; }
static inline float __fadd_rn(float x, float y) { return x + y; }
static inline float __fsub_rn(float x, float y) { return x - y; }
static inline float __fdiv_rn(float x, float y) { return x / y; }
static inline float __fsqrt_rn(float x) { return sqrtf(x); }
static inline float __fmaf_rn(float x, float y, float z) { return fmaf(x, y, z); }
static inline double __dmul_rn(double x, double y) { return x * y; }
static inline double __dadd_rn(double x, double y) { return x + y; }
static inline double __dsub_rn(double x, double y) { return x - y; }
static inline double __ddiv_rn(double x, double y) { return x / y; }
static inline double __fma_rn(double x, double y, double z) { return fma(x, y, z); }
static inline float fdividef(float x, float y) { return x / y; }
static inline void sincosf(float x, float *s, float *c) { *s = sinf(x); *c = cosf(x); }
static inline void sincos(double x, double *s, double *c) { *s = sin(x); *c = cos(x); }
static inline double sinpi(double x) { return sin(3.14159265358979323846 * fmod(x, 2.0)); }
static inline double cospi(double x) { return cos(3.14159265358979323846 * fmod(x, 2.0)); }
static inline float sinpif(float x) { return (float)sinpi((double)x); }
static inline float cospif(float x) { return (float)cospi((double)x); }
template <class F> static inline bool isnan(F x) { return __builtin_isnan(x); }
template <class F> static inline bool isinf(F x) { return __builtin_isinf(x); }
template <class F> static inline bool isfinite(F x) { return __builtin_isfinite(x); }
template <class F> static inline bool signbit(F x) { return __builtin_signbit(x); }
static inline int abs(int x) { return x < 0 ? -x : x; }
static inline long long abs(long long x) { return x < 0 ? -x : x; }
static inline long long llabs(long long x) { return x < 0 ? -x : x; }
static inline float abs(float x) { return fabsf(x); }
static inline double abs(double x) { return fabs(x); }
template <class X, class Y> static inline auto max(X x, Y y) -> decltype(x + y) { return x > y ? x : y; }
template <class X, class Y> static inline auto min(X x, Y y) -> decltype(x + y) { return x < y ? x : y; }
static inline float max(float x, float y) { return fmaxf(x, y); }
static inline float min(float x, float y) { return fminf(x, y); }
static inline double max(double x, double y) { return fmax(x, y); }
static inline double min(double x, double y) { return fmin(x, y); }

// ----- vectors --------------------------------------------------------------------------------------------
struct alignas(8) float2 { float x, y; };
struct alignas(16) float4 { float x, y, z, w; };
struct alignas(16) double2 { double x, y; };
struct alignas(8) int2 { int x, y; };
struct alignas(16) int4 { int x, y, z, w; };
struct alignas(8) uint2 { unsigned x, y; };
struct alignas(16) uint4 { unsigned x, y, z, w; };
static inline float2 make_float2(float x, float y) { return {x, y}; }
static inline float4 make_float4(float x, float y, float z, float w) { return {x, y, z, w}; }
static inline double2 make_double2(double x, double y) { return {x, y}; }
static inline int2 make_int2(int x, int y) { return {x, y}; }
static inline int4 make_int4(int x, int y, int z, int w) { return {x, y, z, w}; }
static inline uint2 make_uint2(unsigned x, unsigned y) { return {x, y}; }
static inline uint4 make_uint4(unsigned x, unsigned y, unsigned z, unsigned w) { return {x, y, z, w}; }

// ----- queries of raw.py about a kernel
// ----------------------------------------------------------------------- A parameter as text: its kind (p:
// pointer), the kind of number and its bytes.
template <class V> struct shim_kind { static const char name = 's'; };
template <> struct shim_kind<void> { static const char name = 'v'; };
template <> struct shim_kind<bool> { static const char name = 'b'; };
template <> struct shim_kind<float> { static const char name = 'f'; };
template <> struct shim_kind<double> { static const char name = 'f'; };
#define SHIM_KIND(I, letter) template <> struct shim_kind<I> { static const char name = letter; };
SHIM_KIND(char, 'i') SHIM_KIND(signed char, 'i') SHIM_KIND(short, 'i') SHIM_KIND(int, 'i')
SHIM_KIND(long, 'i') SHIM_KIND(long long, 'i')
SHIM_KIND(unsigned char, 'u') SHIM_KIND(unsigned short, 'u') SHIM_KIND(unsigned, 'u')
SHIM_KIND(unsigned long, 'u') SHIM_KIND(unsigned long long, 'u')

struct shim_parameter { int pointer, kind, bytes; };
template <class V> struct shim_size { static const int bytes = sizeof(V); };
template <> struct shim_size<void> { static const int bytes = 1; };
template <class V> struct shim_bare { typedef V type; };
template <class V> struct shim_bare<const V> { typedef V type; };
template <class P> struct shim_describe {
    static shim_parameter of() {
        typedef typename shim_bare<P>::type bare;
        return {0, shim_kind<bare>::name, (int)sizeof(bare)};
    }
};
template <class V> struct shim_describe<V *> {
    static shim_parameter of() {
        typedef typename shim_bare<V>::type bare;
        return {1, shim_kind<bare>::name, shim_size<bare>::bytes};
    }
};
template <int... N> struct shim_numbers {};
template <int N, int... M> struct shim_count : shim_count<N - 1, N - 1, M...> {};
template <int... M> struct shim_count<0, M...> { typedef shim_numbers<M...> type; };
template <class... P> static inline int shim_signature(void (*)(P...), shim_parameter *to) {
    shim_parameter all[sizeof...(P) + 1] = {shim_describe<P>::of()...};
    for (unsigned n = 0; to && n < sizeof...(P); n++) to[n] = all[n];
    return sizeof...(P);
}
template <class... P, int... N> static inline void shim_unpack(void (*f)(P...), void **a, shim_numbers<N...>) {
    f(*(P *)a[N]...);
}
template <class... P> static inline void shim_call(void (*f)(P...), void **a) {
    shim_unpack(f, a, typename shim_count<sizeof...(P)>::type());
}
extern "C" char __start_shim_shared[] __attribute__((weak, visibility("hidden")));
extern "C" char __stop_shim_shared[] __attribute__((weak, visibility("hidden")));
extern "C" int shim_run(void (*)(void **), void **, const unsigned *, const unsigned *, unsigned, char *, char *);
#define SHIM_FIRST(first, ...) (first)
#define SHIM_KERNEL(name, most)                                                                              \
    static void shim_thread_##name(void **a) { shim_call(name, a); }                                         \
    extern "C" int shim_signature_##name(shim_parameter *to) { return shim_signature(name, to); }                 \
    extern "C" int shim_bounds_##name() { return most; }                                                     \
    extern "C" int shim_static_##name() { return __stop_shim_shared - __start_shim_shared; }                 \
    extern "C" int shim_launch_##name(void **a, const unsigned *grid, const unsigned *block, unsigned bytes) { \
        return shim_run(shim_thread_##name, a, grid, block, bytes, __start_shim_shared, __stop_shim_shared); \
    }
