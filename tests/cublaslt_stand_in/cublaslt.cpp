// Replaces NVIDIA's cuBLASLt in tests: the functions that the engine calls, with the numbers and sizes of
// cublasLt.h (CUDA 13.0), on memory of the host. It answers INVALID_VALUE for calls that the header forbids,
// and stores the reason in `reason`.
#include <complex>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <map>
#include <set>
#include <string>

namespace {
enum { SUCCESS = 0, INVALID = 7, NOT_SUPPORTED = 15 };
const uint64_t ROOM = 3072;

struct Operation {
    int compute, scale;
    int32_t turned[2] = {0, 0};
    uint32_t epilogue = 1;
    const void *bias = nullptr;
};
struct Layout {
    int kind;
    uint64_t rows, columns;
    int64_t distance;
    int32_t batches = 1;
    int64_t step = 0;
};
struct Preference {
    uint64_t workspace = 0;
    uint32_t schemes = 7, alignments[4] = {256, 256, 256, 256};
};
struct Algorithm {
    uint64_t mark, workspace, alignments[4], pad[2];
};
struct Result {
    Algorithm algorithm;
    size_t workspace;
    int state;
    float waves;
    int reserved[4];
};

std::set<void *> handles;
std::map<void *, Operation> operations;
std::map<void *, Layout> layouts;
std::map<void *, Preference> preferences;
std::string reason;
void *stream_seen;
int compute_seen, refuses;
uint64_t serial = 0x1000;

int wrong(const std::string &why) {
    reason = why;
    return INVALID;
}
void *name() { return reinterpret_cast<void *>(serial += 16); }

template <typename T> int put(T &place, const void *from, size_t size) {
    if (size != sizeof(T) || !from) return wrong("an attribute has another size");
    std::memcpy(&place, from, size);
    return SUCCESS;
}

struct bfloat {
    uint16_t bits;
};
float number(bfloat x) {
    uint32_t bits = (uint32_t)x.bits << 16;
    float made;
    std::memcpy(&made, &bits, 4);
    return made;
}
template <typename N> N number(N x) { return x; }
void store(bfloat &place, float x) {
    uint32_t bits;
    std::memcpy(&bits, &x, 4);
    place.bits = (uint16_t)((bits + 0x7FFF + ((bits >> 16) & 1)) >> 16);
}
template <typename N, typename S> void store(N &place, S x) { place = (N)x; }

template <typename N, typename S>
void multiply(const Operation &o, const void *alpha, const void *beta, const void *a, const Layout &la,
              const void *b, const Layout &lb, void *d, const Layout &ld, uint64_t k) {
    const S first = *(const S *)alpha, second = *(const S *)beta;
    for (int batch = 0; batch < ld.batches; batch++) {
        const N *x = (const N *)a + batch * la.step, *y = (const N *)b + batch * lb.step;
        N *out = (N *)d + batch * ld.step;
        for (uint64_t col = 0; col < ld.columns; col++)
            for (uint64_t row = 0; row < ld.rows; row++) {
                S sum = S();
                for (uint64_t t = 0; t < k; t++)
                    sum += (S)number(x[o.turned[0] ? t + row * la.distance : row + t * la.distance]) *
                           (S)number(y[o.turned[1] ? col + t * lb.distance : t + col * lb.distance]);
                sum = sum * first;
                N &place = out[row + col * ld.distance];
                if (second != S()) sum += second * (S)number(place);
                if (o.epilogue == 4) sum += (S)number(((const N *)o.bias)[row]);
                store(place, sum);
            }
    }
}

int check(void *handle, void *operation, void *a, void *b, void *c, void *d, uint64_t *k) {
    if (!handles.count(handle)) return wrong("no such handle");
    if (!operations.count(operation)) return wrong("no such operation");
    for (void *each : {a, b, c, d})
        if (!layouts.count(each)) return wrong("no such layout");
    const Operation &o = operations[operation];
    const Layout &la = layouts[a], &lb = layouts[b], &ld = layouts[d];
    for (void *each : {a, b, c, d}) {
        const Layout &l = layouts[each];
        if (l.kind != ld.kind) return wrong("types differ");
        if (l.distance < (int64_t)l.rows) return wrong("a leading dimension is less than the rows");
        if (l.batches != ld.batches) return wrong("batches differ");
    }
    const uint64_t m = o.turned[0] ? la.columns : la.rows, n = o.turned[1] ? lb.rows : lb.columns;
    *k = o.turned[0] ? la.rows : la.columns;
    if (*k != (o.turned[1] ? lb.columns : lb.rows)) return wrong("k differs");
    if (m != ld.rows || n != ld.columns) return wrong("the result has another shape");
    if (ld.batches > 1 && ld.step < (int64_t)(ld.distance * (ld.columns - 1) + ld.rows))
        return wrong("results overlap");
    const bool wide = ld.kind == 1 || ld.kind == 5;
    if (wide != (o.compute == 70)) return wrong("the computing type does not fit the elements");
    const int scale = ld.kind == 2 || ld.kind == 14 ? 0 : ld.kind;
    if (o.scale != scale) return wrong("the type of alpha does not fit the elements");
    return SUCCESS;
}
}  // namespace

extern "C" {
int cublasLtCreate(void **made) {
    handles.insert(*made = name());
    return SUCCESS;
}
int cublasLtDestroy(void *handle) { return handles.erase(handle) ? SUCCESS : wrong("no such handle"); }

int cublasLtMatmulDescCreate(void **made, int compute, int scale) {
    if (compute != 68 && compute != 70 && compute != 77) return wrong("a computing type that is not known");
    operations[*made = name()] = Operation{compute, scale};
    return SUCCESS;
}
int cublasLtMatmulDescDestroy(void *it) { return operations.erase(it) ? SUCCESS : wrong("no operation"); }
int cublasLtMatmulDescSetAttribute(void *it, int attribute, const void *from, size_t size) {
    if (!operations.count(it)) return wrong("no such operation");
    Operation &o = operations[it];
    switch (attribute) {
        case 3: return put(o.turned[0], from, size);
        case 4: return put(o.turned[1], from, size);
        case 7: return put(o.epilogue, from, size);
        case 8: return put(o.bias, from, size);
    }
    return wrong("an attribute of operations that is not known");
}

int cublasLtMatrixLayoutCreate(void **made, int kind, uint64_t rows, uint64_t columns, int64_t distance) {
    layouts[*made = name()] = Layout{kind, rows, columns, distance};
    return SUCCESS;
}
int cublasLtMatrixLayoutDestroy(void *it) { return layouts.erase(it) ? SUCCESS : wrong("no such layout"); }
int cublasLtMatrixLayoutSetAttribute(void *it, int attribute, const void *from, size_t size) {
    if (!layouts.count(it)) return wrong("no such layout");
    if (attribute == 5) return put(layouts[it].batches, from, size);
    if (attribute == 6) return put(layouts[it].step, from, size);
    return wrong("an attribute of layouts that is not known");
}

int cublasLtMatmulPreferenceCreate(void **made) {
    preferences[*made = name()] = Preference();
    return SUCCESS;
}
int cublasLtMatmulPreferenceDestroy(void *it) { return preferences.erase(it) ? SUCCESS : wrong("none"); }
int cublasLtMatmulPreferenceSetAttribute(void *it, int attribute, const void *from, size_t size) {
    if (!preferences.count(it)) return wrong("no such preference");
    Preference &p = preferences[it];
    if (attribute == 1) return put(p.workspace, from, size);
    if (attribute == 3) return put(p.schemes, from, size);
    if (attribute >= 5 && attribute <= 8) return put(p.alignments[attribute - 5], from, size);
    return wrong("an attribute of preferences that is not known");
}

int cublasLtMatmulAlgoGetHeuristic(void *handle, void *operation, void *a, void *b, void *c, void *d,
                                   void *preference, int wanted, Result *found, int *count) {
    uint64_t k;
    *count = 0;
    if (int status = check(handle, operation, a, b, c, d, &k)) return status;
    if (!preferences.count(preference) || wanted < 1) return wrong("no such preference");
    if (refuses) return NOT_SUPPORTED;
    const Preference &p = preferences[preference];
    if (p.schemes & 1) return wrong("sums in place may add in another order each time");
    std::memset(found, 0, sizeof *found);
    found->algorithm.mark = k * 31 + layouts[d].rows;
    found->workspace = found->algorithm.workspace = p.workspace < ROOM ? 0 : ROOM;
    for (int n = 0; n < 4; n++) found->algorithm.alignments[n] = p.alignments[n];
    *count = 1;
    return SUCCESS;
}

int cublasLtMatmul(void *handle, void *operation, const void *alpha, const void *a, void *la, const void *b,
                   void *lb, const void *beta, const void *c, void *lc, void *d, void *ld,
                   const Algorithm *algorithm, void *workspace, size_t size, void *stream) {
    uint64_t k;
    if (int status = check(handle, operation, la, lb, lc, ld, &k)) return status;
    const Operation &o = operations[operation];
    const Layout &x = layouts[la], &y = layouts[lb], &z = layouts[ld];
    if (!algorithm || algorithm->mark != k * 31 + z.rows) return wrong("an algorithm for something else");
    if (size < algorithm->workspace || (size && !workspace)) return wrong("the workspace is too small");
    if (size) std::memset(workspace, 0xAB, size);
    if (c != d) return wrong("c and d differ");
    const void *places[4] = {a, b, c, d};
    for (int n = 0; n < 4; n++)
        if ((uint64_t)places[n] % algorithm->alignments[n]) return wrong("less aligned than declared");
    if (o.epilogue == 4 && !o.bias) return wrong("no bias");
    stream_seen = stream;
    compute_seen = o.compute;
    switch (z.kind) {
        case 0: multiply<float, float>(o, alpha, beta, a, x, b, y, d, z, k); break;
        case 1: multiply<double, double>(o, alpha, beta, a, x, b, y, d, z, k); break;
        case 2: multiply<_Float16, float>(o, alpha, beta, a, x, b, y, d, z, k); break;
        case 14: multiply<bfloat, float>(o, alpha, beta, a, x, b, y, d, z, k); break;
        case 4: {
            typedef std::complex<float> N;
            multiply<N, N>(o, alpha, beta, a, x, b, y, d, z, k);
            break;
        }
        case 5: {
            typedef std::complex<double> N;
            multiply<N, N>(o, alpha, beta, a, x, b, y, d, z, k);
            break;
        }
        default: return wrong("elements of a type that is not known");
    }
    return SUCCESS;
}

// For the tests.
int stand_in_alive() { return (int)(handles.size() + operations.size() + layouts.size() + preferences.size()); }
const char *stand_in_reason() { return reason.c_str(); }
uint64_t stand_in_stream() { return (uint64_t)stream_seen; }
int stand_in_compute() { return compute_seen; }
void stand_in_refuse(int yes) { refuses = yes; }
}
