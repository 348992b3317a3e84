// Runs the threads of a grid on the host: blocks one after the other, the threads of a block in turns.
//
// A thread runs until it ends or waits; only threads that wait have a stack of their own (a fiber), so a
// kernel without barriers is a plain loop. Blocks of even number start with their first thread, the others with
// their last: what a forgotten barrier leaves to chance on a GPU comes out differently here.
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
            int thread = backwards ? total - 1 - started : started;
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
    ASAN_UNPOISON_MEMORY_REGION(fiber->stack, STACK); // what an abandoned thread has left
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

static void release(Barrier *barrier) {
    for (int n = 0; n < barrier->arrived - 1; n++) ready[readies++ % MOST] = barrier->waiting[n];
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
    barrier->arrived++;
    if (barrier->arrived == wanted) {
        release(barrier);
        return;
    }
    barrier->waiting[barrier->arrived - 1] = running;
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

// Two rooms in turns: a lane that comes first to the next shuffle writes where nobody reads any more.
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
    // Between the variables lie zones that must not be written; reading what was not written shows in the
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
    started = ended = readies = first_ready = 0;
    block_barrier.arrived = 0;
    for (int warp = 0; warp * WARP < total; warp++) warp_barriers[warp].arrived = 0;
}

static void run_block() {
    while (ended < total && !failure[0]) {
        if (first_ready < readies) {
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

extern "C" int shim_run(void (*thread)(void **), void **given, const unsigned *grid, const unsigned *block,
                        unsigned bytes, char *shared, char *shared_end) {
    body = thread, values = given, failure[0] = 0;
    gridDim = {grid[0], grid[1], grid[2]};
    blockDim = {block[0], block[1], block[2]};
    total = block[0] * block[1] * block[2];
    for (int n = 0; n < total; n++)
        indices[n] = {n % block[0], n / block[0] % block[1], n / block[0] / block[1]};
    unsigned long long number = 0;
    for (unsigned z = 0; z < grid[2]; z++)
        for (unsigned y = 0; y < grid[1]; y++)
            for (unsigned x = 0; x < grid[0]; x++, number++) {
                blockIdx = {x, y, z};
                backwards = number & 1;
                start(number == 0, shared, shared_end, bytes);
                run_block();
#if !defined(__SANITIZE_ADDRESS__)
                for (int n = 0; n < GUARD && !failure[0]; n++)
                    if (shim_dynamic[bytes + n] != (char)0xA5)
                        snprintf(failure, sizeof failure, "block (%u, %u, %u) wrote behind its %u bytes of shared memory",
                                 x, y, z, bytes);
#endif
                if (failure[0]) {
                    made = spares = 0;
                    return 1;
                }
            }
    return 0;
}
