// Random numbers of NumPy's Philox 4x64, ten rounds: each thread computes the words n of the stream (seed,
// offset) that it needs, so threads share no state.
//
// J. K. Salmon, M. A. Moraes, R. O. Dror, D. E. Shaw: Parallel random numbers, as easy as 1, 2, 3 (2011). The
// key is (seed, 0), the counter (1 + n / 4, 0, offset, 0), the word lane n % 4. The conversion of words is
// described in NumPy in engine/core/random/draws.py, CounterDraws, and tests compare the two.
//
// Each thread computes one block of four words. Parameters of all kernels: `stored`, where not null, holds seed
// and offset in memory and comes before the two that are given, so that a captured graph draws anew at each
// replay; `start` is the first word that is used, `n` how many elements there are.

#ifdef __CUDACC_RTC__
// Never contracted to a product and sum in one rounding, which NumPy does not do.
__device__ __forceinline__ float times(float x, float y) { return __fmul_rn(x, y); }
__device__ __forceinline__ double times(double x, double y) { return __dmul_rn(x, y); }
#else
__device__ __forceinline__ float times(float x, float y) { volatile float z = x * y; return z; }
__device__ __forceinline__ double times(double x, double y) { volatile double z = x * y; return z; }
#endif

__device__ __forceinline__ float natural_log(float x) { return logf(x); }
__device__ __forceinline__ double natural_log(double x) { return log(x); }
__device__ __forceinline__ float root(float x) { return sqrtf(x); }
__device__ __forceinline__ double root(double x) { return sqrt(x); }
__device__ __forceinline__ float cosine(float x) { return cosf(x); }
__device__ __forceinline__ double cosine(double x) { return cos(x); }
__device__ __forceinline__ float sine(float x) { return sinf(x); }
__device__ __forceinline__ double sine(double x) { return sin(x); }

struct words_t { u64 word[4]; };

__device__ __forceinline__ words_t philox(const u64 *stored, u64 seed, u64 offset, u64 block) {
    u64 key0 = stored ? stored[0] : seed, key1 = 0;
    u64 c0 = block + 1, c1 = 0, c2 = stored ? stored[1] : offset, c3 = 0;
#pragma unroll
    for (int round = 0; round < 10; ++round) {
        const u64 m0 = 0xD2E7470EE14C6C93ull, m1 = 0xCA5A826395121157ull;
        u64 high0 = __umul64hi(m0, c0), low0 = m0 * c0;
        u64 high1 = __umul64hi(m1, c2), low1 = m1 * c2;
        c0 = high1 ^ c1 ^ key0;
        c2 = high0 ^ c3 ^ key1;
        c1 = low1;
        c3 = low0;
        key0 += 0x9E3779B97F4A7C15ull;
        key1 += 0xBB67AE8584CAA73Bull;
    }
    words_t made = {{c0, c1, c2, c3}};
    return made;
}

// From 0, below 1: the upper 53 bits.
__device__ __forceinline__ double unit(u64 word) { return (double)(word >> 11) * (1.0 / 9007199254740992.0); }

// Two normal numbers of two words.
__device__ __forceinline__ void normal_pair(u64 first, u64 second, A *x, A *y) {
    A radius = (A)((double)((first >> 11) + 1) * (1.0 / 9007199254740992.0));
    A angle = times((A)unit(second), (A)6.283185307179586);
    radius = root(times((A)-2, natural_log(radius)));
    *x = times(radius, cosine(angle));
    *y = times(radius, sine(angle));
}

#define BLOCK (blockIdx.x * (u64)blockDim.x + threadIdx.x)
#define EACH_WORD(STATEMENTS) \
    { \
        u64 block = start / 4 + BLOCK; \
        if (block * 4 < start + n) { \
            words_t made = philox(stored, seed, offset, block); \
            for (int lane = 0; lane < 4; ++lane) { \
                u64 at = block * 4 + lane; \
                u64 word = made.word[lane]; \
                if (at >= start && at - start < n) { u64 i = at - start; STATEMENTS; } \
            } \
        } \
    }

extern "C" __global__ void philox_words(
    u64 *__restrict__ out, u64 n, u64 start, const u64 *__restrict__ stored, u64 seed, u64 offset) {
    EACH_WORD(out[i] = word)
}

// Evenly distributed from `low` on, below `low + range`.
extern "C" __global__ void philox_uniform(
    T *__restrict__ out, u64 n, u64 start, const u64 *__restrict__ stored, u64 seed, u64 offset, A low, A range) {
    EACH_WORD(put(out + i, times((A)unit(word), range) + low))
}

// Normally distributed; `start` is even.
extern "C" __global__ void philox_normal(
    T *__restrict__ out, u64 n, u64 start, const u64 *__restrict__ stored, u64 seed, u64 offset, A mean, A std) {
    u64 block = start / 4 + BLOCK;
    if (block * 4 < start + n) {
        words_t made = philox(stored, seed, offset, block);
        for (int pair = 0; pair < 4; pair += 2) {
            u64 at = block * 4 + pair;
            if (at < start || at - start >= n) continue;
            u64 i = at - start;
            A x, y;
            normal_pair(made.word[pair], made.word[pair + 1], &x, &y);
            put(out + i, times(x, std) + mean);
            if (i + 1 < n) put(out + i + 1, times(y, std) + mean);
        }
    }
}

// Integers from `low` on, below `low + size`: the upper half of the product of word and size.
extern "C" __global__ void philox_integers(
    i64 *__restrict__ out, u64 n, u64 start, const u64 *__restrict__ stored, u64 seed, u64 offset, i64 low,
    u64 size) {
    EACH_WORD(out[i] = low + (i64)__umul64hi(word, size))
}

// Which elements stay.
extern "C" __global__ void philox_retained(
    bool *__restrict__ out, u64 n, u64 start, const u64 *__restrict__ stored, u64 seed, u64 offset, u64 limit) {
    EACH_WORD(out[i] = (word >> 11) < limit)
}

// Dropout in one pass: x / share and `factor` where an element stays, else 0, also for NaN.
extern "C" __global__ void philox_dropout(
    T *__restrict__ out, T *__restrict__ mask, const T *__restrict__ x, u64 n, u64 start,
    const u64 *__restrict__ stored, u64 seed, u64 offset, u64 limit, A share, A factor) {
    EACH_WORD(
        bool stays = (word >> 11) < limit;
        put(out + i, stays ? wide(x[i]) / share : (A)0);
        put(mask + i, stays ? factor : (A)0))
}

// Keys of consecutive draws in memory: seed and offset of each.
extern "C" __global__ void philox_keys(u64 *__restrict__ keys, u64 n, u64 seed, u64 offset) {
    u64 i = BLOCK;
    if (i < n) {
        keys[2 * i] = seed;
        keys[2 * i + 1] = offset + i;
    }
}
