// A kernel's note of an invalid value, which the host reads when it has waited anyway.
//
// The record is host memory that the device sees: operator, value, place, least and largest value allowed.
// The first fault stays until the host has reported it.
__device__ __forceinline__ void note(i64 *record, int code, i64 value, i64 place, i64 low, i64 high) {
    if (atomicCAS((int *)record, 0, code) == 0) {
        record[1] = value;
        record[2] = place;
        record[3] = low;
        record[4] = high;
    }
}
