// log(sum(exp(x))) of rows, without overflow; -inf where all of a row is.
#include "rows.cuh"

extern "C" __global__ void __launch_bounds__(ROW_THREADS) logsumexp(const T *x, T *made, ROWS) {
    Row row(PASS_ROWS);
    A most = -infinite<A>(), total = 0;
    for (u32 j = row.first; j < row.end; j += row.step) most = Most()(most, (A)wide(x[row.at(j)]));
    most = row.over(most, Most());
    if (!(most - most == 0)) most = 0; // infinite, or not a number
    for (u32 j = row.first; j < row.end; j += row.step) total += e_to(wide(x[row.at(j)]) - most);
    total = row.over(total, Sum());
    if (row.leads()) put(made + row.number, ln(total) + most);
}
