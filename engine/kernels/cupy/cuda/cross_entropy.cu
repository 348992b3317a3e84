// Cross entropy of rows of logits with softmax, its gradient, and the elements at a label's class.
//
// L is the type of class numbers. A class number that does not exist is noted, and counts as ignored.
#include "rows.cuh"
#include "exponentials.cuh"
#include "faults.cuh"

#define LABELS i64 ignored, i64 classes, int code, i64 *record
#define PASS_LABELS ignored, classes, code, record

// A logit counts as at most 64 below the largest one of its row; NaN stays.
__device__ __forceinline__ A within(A shifted) { return shifted < (A)-64 ? (A)-64 : shifted; }

// The class of a row; -1 where the label is ignored or wrong.
__device__ __forceinline__ i64 class_of(const L *label, i64 row, bool reports, LABELS) {
    i64 found = (i64)label[row];
    if (found == ignored) return -1;
    if (found >= 0 && found < classes) return found;
    if (reports) note(record, code, found, row, 0, classes - 1);
    return -1;
}

extern "C" __global__ void __launch_bounds__(ROW_THREADS) hard_loss(
    const T *logits, const L *label, T *soft, T *loss, ROWS, LABELS) {
    Row row(PASS_ROWS);
    A most, total;
    exponentials(row, logits, &most, &total);
    for (u32 j = row.first; j < row.end; j += row.step) {
        i64 at = row.at(j);
        put(soft + at, e_to(wide(logits[at]) - most) / total);
    }
    if (row.leads()) {
        i64 found = class_of(label, row.number, true, PASS_LABELS);
        put(loss + row.number, found < 0 ? (A)0 : ln(total) - within(wide(logits[row.at((u32)found)]) - most));
    }
}

// (softmax - 1 at the label's class) * g, 0 where the label is ignored.
extern "C" __global__ void __launch_bounds__(ROW_THREADS) hard_grad(
    const T *g, const T *soft, const L *label, T *made, ROWS, LABELS) {
    Row row(PASS_ROWS);
    i64 found = row.live ? class_of(label, row.number, row.first == 0, PASS_LABELS) : -1;
    A flow = row.live ? wide(g[row.number]) : 0;
    A counted = found < 0 ? 0 : 1;
    for (u32 j = row.first; j < row.end; j += row.step) {
        i64 at = row.at(j);
        A one = wide(soft[at]) * flow;
        put(made + at, ((i64)j == found ? one - flow : one) * counted);
    }
}

// The element of a row at its label's class, 0 where that is ignored.
extern "C" __global__ void __launch_bounds__(ROW_THREADS) pick(
    const T *x, const L *label, T *made, ROWS, LABELS) {
    Row row(PASS_ROWS);
    if (row.leads()) {
        i64 found = class_of(label, row.number, true, PASS_LABELS);
        put(made + row.number, found < 0 ? (A)0 : wide(x[row.at((u32)found)]));
    }
}

// Zeros with g at the label's class.
extern "C" __global__ void __launch_bounds__(ROW_THREADS) pick_grad(
    const T *g, const L *label, T *made, ROWS, LABELS) {
    Row row(PASS_ROWS);
    i64 found = row.live ? class_of(label, row.number, row.first == 0, PASS_LABELS) : -1;
    A flow = row.live ? wide(g[row.number]) : 0;
    for (u32 j = row.first; j < row.end; j += row.step) put(made + row.at(j), (i64)j == found ? flow : (A)0);
}

// -- labels that are distributions --------------------------------------------------------------------------

extern "C" __global__ void __launch_bounds__(ROW_THREADS) soft_loss(
    const T *logits, const T *label, T *made, T *loss, ROWS) {
    Row row(PASS_ROWS);
    A most, total, sum = 0;
    exponentials(row, logits, &most, &total);
    A log_total = ln(total);
    for (u32 j = row.first; j < row.end; j += row.step) {
        i64 at = row.at(j);
        A shifted = wide(logits[at]) - most, share = wide(label[at]);
        put(made + at, e_to(shifted) / total);
        // A logit of -inf adds no loss where its label is 0: 0 * inf would not be a number.
        if (share != 0) sum += share * (log_total - within(shifted));
    }
    sum = row.over(sum, Sum());
    if (row.leads()) put(loss + row.number, sum);
}

extern "C" __global__ void __launch_bounds__(ROW_THREADS) soft_grad(
    const T *g, const T *soft, const T *label, T *made, ROWS) {
    Row row(PASS_ROWS);
    A total = 0, flow = row.live ? wide(g[row.number]) : 0;
    for (u32 j = row.first; j < row.end; j += row.step) total += wide(label[row.at(j)]);
    total = row.over(total, Sum());
    for (u32 j = row.first; j < row.end; j += row.step) {
        i64 at = row.at(j);
        put(made + at, (wide(soft[at]) * total - wide(label[at])) * flow);
    }
}
