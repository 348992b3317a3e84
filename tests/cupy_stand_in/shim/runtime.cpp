// Runs the threads of a grid on the host: blocks one after the other, the threads of a block interleaved.
//
// A thread runs until it ends or waits; only threads that wait have a stack of their own (a fiber), so a
// kernel without barriers is a plain loop. Blocks of even number start with their first thread, the others with
// their last: results that a forgotten barrier leaves to chance on a GPU come out differently here. A launch
// may be repeated with threads and blocks in other orders (orders.py): every result must have the same bits
// then.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <sys/mman.h>
#if !defined(__x86_64__)
#include <ucontext.h>
#endif
#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
#endif

struct uint3 { unsigned x, y, z; };

namespace {
const int MOST = 1024, WARP = 32, DYNAMIC = 48 << 10, GUARD = 1 << 10;
const size_t STACK = 256 << 10;

#if defined(__x86_64__)
typedef void *Context;
#else
typedef ucontext_t Context;
#endif

struct Fiber {
    Context context;
    char *stack;
    int thread;
};
struct Barrier {
    int arrived, line;
    Fiber *waiting[MOST];
};

Fiber fibers[MOST];
Fiber *spare[MOST], *ready[MOST], *running; // ready: a ring, since warps overtake each other
int made, spares, readies, first_ready;
Context scheduler;
Barrier block_barrier, warp_barriers[MOST / WARP];
alignas(16) unsigned char offered[2][MOST][16];
unsigned char turn[MOST];
uint3 indices[MOST];
int total, started, ended;
bool backwards;
// The orders that a launch is repeated in. Between two barriers each of two threads comes first once.
enum Order { ARRIVING, ASCENDING, DESCENDING, SHUFFLED, ORDERS };
const char *const order_names[] = {"as they arrive", "ascending", "descending", "shuffled"};
int order;
int ranked[MOST]; // threads as they start; places: the position of a thread there
int places[MOST];
unsigned long long chance;
// Memory that a launch may write, and how much of it has to come out alike.
struct Range {
    char *at;
    size_t size, compared;
    int argument;
};
Range *ranges;
int range_count;
void (*body)(void **);
void **values;
char failure[300];
} // namespace

extern "C" {
uint3 threadIdx, blockIdx, blockDim, gridDim;
alignas(128) char shim_dynamic[DYNAMIC + GUARD];
}

#if defined(__x86_64__)
extern "C" void shim_switch(void **from, void *to);
asm(R"(
.text
.globl shim_switch
.type shim_switch, @function
shim_switch:
    pushq %rbp
    pushq %rbx
    pushq %r12
    pushq %r13
    pushq %r14
    pushq %r15
    movq %rsp, (%rdi)
    movq %rsi, %rsp
    popq %r15
    popq %r14
    popq %r13
    popq %r12
    popq %rbx
    popq %rbp
    ret
.size shim_switch, .-shim_switch
)");
#define SWITCH(from, to) shim_switch(&(from), (to))
#else
#define SWITCH(from, to) swapcontext(&(from), &(to))
#endif

static void leave(Fiber *fiber) { SWITCH(fiber->context, scheduler); }

// A fiber runs threads one after the other, as long as none of them waits.
static void work() {
    for (;;) {
        Fiber *mine = running;
        while (started < total) {
            int thread = order ? ranked[started] : backwards ? total - 1 - started : started;
            started++;
            mine->thread = thread;
            threadIdx = indices[thread];
            body(values);
            ended++;
        }
        spare[spares++] = mine;
        leave(mine);
    }
}

static void prepare(Fiber *fiber) {
#if defined(__SANITIZE_ADDRESS__)
    ASAN_UNPOISON_MEMORY_REGION(fiber->stack, STACK); // left by an abandoned thread
#endif
#if defined(__x86_64__)
    void **top = (void **)(fiber->stack + STACK) - 16;
    memset(top, 0, 16 * sizeof(void *));
    top[6] = (void *)work;
    fiber->context = top;
#else
    getcontext(&fiber->context);
    fiber->context.uc_stack.ss_sp = fiber->stack;
    fiber->context.uc_stack.ss_size = STACK;
    fiber->context.uc_link = nullptr;
    makecontext(&fiber->context, work, 0);
#endif
}

static Fiber *new_fiber() {
    if (spares) return spare[--spares];
    if (made == MOST) abort();
    Fiber *fiber = &fibers[made++];
    if (!fiber->stack) {
        void *memory = mmap(nullptr, STACK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (memory == MAP_FAILED) abort();
        fiber->stack = (char *)memory;
    }
    prepare(fiber);
    return fiber;
}

static unsigned drawn(unsigned below) { // Marsaglia: Xorshift RNGs
    chance ^= chance << 13, chance ^= chance >> 7, chance ^= chance << 17;
    return (unsigned)((chance >> 32) * below >> 32);
}

static int by_place(const void *a, const void *b) {
    return places[(*(Fiber *const *)a)->thread] - places[(*(Fiber *const *)b)->thread];
}

static void release(Barrier *barrier, int count) {
    if (order == SHUFFLED)
        for (int n = count - 1; n > 0; n--) {
            int other = drawn(n + 1);
            Fiber *fiber = barrier->waiting[n];
            barrier->waiting[n] = barrier->waiting[other], barrier->waiting[other] = fiber;
        }
    else if (order)
        qsort(barrier->waiting, count, sizeof(Fiber *), by_place);
    for (int n = 0; n < count; n++) ready[readies++ % MOST] = barrier->waiting[n];
    barrier->arrived = 0;
}

static void give_up(Fiber *fiber) { // the fiber is never run again: shim_run makes all of them anew
    leave(fiber);
    abort();
}

extern "C" void shim_refuse(const char *what, int line) {
    snprintf(failure, sizeof failure, "source.cu:%d: %s", line, what);
    give_up(running);
}

static void wait(Barrier *barrier, int wanted, int line, const char *what) {
    if (barrier->arrived && barrier->line != line) {
        snprintf(failure, sizeof failure,
                 "threads of a %s wait at different barriers: source.cu:%d and source.cu:%d (thread %d)", what,
                 barrier->line, line, running->thread);
        give_up(running);
    }
    barrier->line = line;
    barrier->waiting[barrier->arrived++] = running;
    if (barrier->arrived == wanted) {
        release(barrier, order ? wanted : wanted - 1); // without an order the last one continues
        if (!order) return;
    }
    leave(running);
}

extern "C" void shim_block_barrier(int line) { wait(&block_barrier, total, line, "block"); }

static int in_warp(int warp) { return total - warp * WARP < WARP ? total - warp * WARP : WARP; }

extern "C" void shim_warp_barrier(unsigned mask, int line) {
    if (mask != 0xFFFFFFFFu) shim_refuse("a mask that is not 0xFFFFFFFF", line);
    int warp = running->thread / WARP;
    wait(&warp_barriers[warp], in_warp(warp), line, "warp");
}

extern "C" unsigned shim_lane(void) { return running->thread % WARP; }

// Two rooms in alternation: a lane that comes first to the next shuffle writes where no lane reads any more.
extern "C" unsigned char *shim_offer(unsigned mask, const void *value, int bytes, int line) {
    int thread = running->thread, warp = thread / WARP, mine = turn[thread];
    turn[thread] ^= 1;
    if (bytes > 16) shim_refuse("a shuffle of more than 16 bytes", line);
    memcpy(offered[mine][thread], value, bytes);
    shim_warp_barrier(mask, line);
    return offered[mine][warp * WARP];
}

static void start(bool first, char *shared, char *shared_end, unsigned bytes) {
#if defined(__SANITIZE_ADDRESS__)
    // Between the variables are zones that must not be written; reading unwritten memory shows in the
    // run without the sanitizer.
    ASAN_UNPOISON_MEMORY_REGION(shim_dynamic, sizeof shim_dynamic);
    memset(shim_dynamic, 0xFF, bytes);
    ASAN_POISON_MEMORY_REGION(shim_dynamic + bytes, sizeof shim_dynamic - bytes);
    (void)shared, (void)shared_end;
#else
    if (shared_end > shared) memset(shared, 0xFF, shared_end - shared);
    memset(shim_dynamic, 0xFF, bytes);
    memset(shim_dynamic + bytes, 0xA5, GUARD);
#endif
    if (first || total % WARP) memset(offered, 0xFF, sizeof offered);
    memset(turn, 0, total);
    for (int n = 0; order && n < total; n++) {
        int other = order == SHUFFLED ? drawn(n + 1) : n; // Fisher and Yates, from the inside
        ranked[n] = ranked[other], ranked[other] = order == DESCENDING ? total - 1 - n : n;
    }
    for (int n = 0; order && n < total; n++) places[ranked[n]] = n;
    started = ended = readies = first_ready = 0;
    block_barrier.arrived = 0;
    for (int warp = 0; warp * WARP < total; warp++) warp_barriers[warp].arrived = 0;
}

static void run_block() {
    while (ended < total && !failure[0]) {
        bool waits = order == SHUFFLED && started < total && drawn(2); // warps overtake each other
        if (first_ready < readies && !waits) {
            running = ready[first_ready++ % MOST];
            if (first_ready == readies) first_ready = readies = 0;
            threadIdx = indices[running->thread];
        } else if (started < total) {
            running = new_fiber();
        } else {
            int waiting = 0, line = 0;
            if (block_barrier.arrived) waiting = block_barrier.arrived, line = block_barrier.line;
            for (int warp = 0; warp * WARP < total; warp++)
                if (warp_barriers[warp].arrived)
                    waiting += warp_barriers[warp].arrived, line = warp_barriers[warp].line;
            snprintf(failure, sizeof failure,
                     "divergent barrier: %d of %d threads wait at source.cu:%d, %d have ended", waiting, total,
                     line, ended);
            return;
        }
        SWITCH(scheduler, running->context);
    }
}

extern "C" const char *shim_failure(void) { return failure; }

// The block that comes at a place of the order: a step that has no factor in common with their number visits all.
static unsigned long long block_at(unsigned long long place, unsigned long long blocks) {
    if (order != SHUFFLED || blocks >= 1ull << 31) return order == DESCENDING ? blocks - 1 - place : place;
    unsigned long long step = blocks * 5 / 8 + 1;
    for (;; step++) {
        unsigned long long a = blocks, b = step;
        while (b) {
            unsigned long long rest = a % b;
            a = b, b = rest;
        }
        if (a == 1) return (place * step + blocks / 3) % blocks;
    }
}

static int run_grid(int how, unsigned bytes, char *shared, char *shared_end) {
    order = how;
    chance = 0x9E3779B97F4A7C15ull;
    unsigned long long blocks = (unsigned long long)gridDim.x * gridDim.y * gridDim.z;
    for (unsigned long long number = 0; number < blocks; number++) {
        unsigned long long at = block_at(number, blocks), plane = at / gridDim.x;
        blockIdx = {(unsigned)(at % gridDim.x), (unsigned)(plane % gridDim.y), (unsigned)(plane / gridDim.y)};
        backwards = at & 1;
        start(number == 0, shared, shared_end, bytes);
        run_block();
#if !defined(__SANITIZE_ADDRESS__)
        for (int n = 0; n < GUARD && !failure[0]; n++)
            if (shim_dynamic[bytes + n] != (char)0xA5)
                snprintf(failure, sizeof failure, "block (%u, %u, %u) wrote behind its %u bytes of shared memory",
                         blockIdx.x, blockIdx.y, blockIdx.z, bytes);
#endif
        if (failure[0]) {
            made = spares = 0;
            return 1;
        }
    }
    return 0;
}

static void copied(char *to, bool back) { // all ranges, one behind the other
    for (int n = 0; n < range_count; n++) {
        if (back) memcpy(ranges[n].at, to, ranges[n].size);
        else memcpy(to, ranges[n].at, ranges[n].size);
        to += ranges[n].size;
    }
}

static int compare(const char *first) {
    for (int n = 0; n < range_count; first += ranges[n++].size)
        for (size_t at = 0; at < ranges[n].compared; at++)
            if (ranges[n].at[at] != first[at]) {
                snprintf(failure, sizeof failure,
                         "with threads and blocks %s argument %d differs from byte %zu on: a race, or a sum "
                         "whose order is left to chance",
                         order_names[order], ranges[n].argument, at);
                return 1;
            }
    return 0;
}

// The next launch is repeated in all orders, with this memory as it was before; it keeps the first result.
extern "C" void shim_repeat(const Range *given, int count) {
    free(ranges);
    ranges = (Range *)malloc(count * sizeof(Range) + 1);
    if (!ranges) abort();
    memcpy(ranges, given, count * sizeof(Range));
    range_count = count;
}

static int repeat(unsigned bytes, char *shared, char *shared_end) {
    size_t all = 1;
    for (int n = 0; n < range_count; n++) all += ranges[n].size;
    char *before = (char *)malloc(all), *after = (char *)malloc(all);
    if (!before || !after) abort();
    copied(before, false);
    int failed = run_grid(ARRIVING, bytes, shared, shared_end);
    copied(after, false);
    for (int how = ASCENDING; how < ORDERS && !failed; how++) {
        copied(before, true);
        failed = run_grid(how, bytes, shared, shared_end) || compare(after);
    }
    copied(after, true);
    free(before), free(after), free(ranges);
    ranges = nullptr, range_count = 0;
    return failed;
}

extern "C" int shim_run(void (*thread)(void **), void **given, const unsigned *grid, const unsigned *block,
                        unsigned bytes, char *shared, char *shared_end) {
    body = thread, values = given, failure[0] = 0;
    gridDim = {grid[0], grid[1], grid[2]};
    blockDim = {block[0], block[1], block[2]};
    total = block[0] * block[1] * block[2];
    for (int n = 0; n < total; n++)
        indices[n] = {n % block[0], n / block[0] % block[1], n / block[0] / block[1]};
    return ranges ? repeat(bytes, shared, shared_end) : run_grid(ARRIVING, bytes, shared, shared_end);
}
