/* Writes a file a rank and reads it back with the system calls that iosonde makes, and nothing else: no clock around a
   transfer, no record. usage: bare_bandwidth FOLDER RANKS TRANSFER BLOCK DIRECT; prints of the write and of the read:
   bytes per second by the slowest rank, and nanoseconds of processor that all ranks took. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { MOST = 64, HUGE_PAGE = 2 << 20 };

static const char *folder;
static int ranks, extra;
static size_t transfer, block;
static pthread_barrier_t barrier;
static double took[2][MOST], worked[2][MOST];

static double now(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return t.tv_sec + 1e-9 * t.tv_nsec;
}

static void fail(const char *what)
{
    perror(what);
    exit(1);
}

static char *buffer(void)
{
    size_t whole = (transfer + HUGE_PAGE - 1) / HUGE_PAGE * HUGE_PAGE;
    char *bytes = aligned_alloc(HUGE_PAGE, whole);
    unsigned long x = 88172645463325252;
    if (!bytes)
        fail("memory");
    madvise(bytes, whole, MADV_HUGEPAGE);
    for (size_t i = 0; i < transfer; i++) {
        x ^= x << 13, x ^= x >> 7, x ^= x << 17;
        bytes[i] = (char)x;
    }
    return bytes;
}

static void phase(int rank, int reading, char *bytes)
{
    char name[4096];
    snprintf(name, sizeof name, "%s/bare.%06d", folder, rank);
    pthread_barrier_wait(&barrier);
    double began = now(CLOCK_MONOTONIC), before = now(CLOCK_THREAD_CPUTIME_ID);
    int file = open(name, (reading ? O_RDONLY : O_RDWR | O_CREAT) | O_CLOEXEC | extra, 0600);
    if (file < 0)
        fail(name);
    for (size_t at = 0; at < block; at += transfer) {
        ssize_t n = reading ? pread(file, bytes, transfer, at) : pwrite(file, bytes, transfer, at);
        if (n != (ssize_t)transfer)
            fail("transfer");
    }
    close(file);
    took[reading][rank] = now(CLOCK_MONOTONIC) - began;
    worked[reading][rank] = now(CLOCK_THREAD_CPUTIME_ID) - before;
    pthread_barrier_wait(&barrier);
    if (reading)
        unlink(name);
}

static void *work(void *number)
{
    int rank = (int)(long)number;
    char *bytes = buffer();
    phase(rank, 0, bytes);
    phase(rank, 1, bytes);
    return NULL;
}

int main(int count, char **words)
{
    pthread_t threads[MOST];
    if (count != 6 || (ranks = atoi(words[2])) < 1 || ranks > MOST)
        return 2;
    folder = words[1];
    transfer = strtoull(words[3], NULL, 10);
    block = strtoull(words[4], NULL, 10);
    extra = atoi(words[5]) ? O_DIRECT : 0;
    pthread_barrier_init(&barrier, NULL, ranks);
    for (long i = 0; i < ranks; i++)
        if (pthread_create(&threads[i], NULL, work, (void *)i))
            fail("thread");
    for (int i = 0; i < ranks; i++)
        pthread_join(threads[i], NULL);
    for (int reading = 0; reading < 2; reading++) {
        double slowest = 0, all = 0;
        for (int i = 0; i < ranks; i++) {
            all += worked[reading][i];
            slowest = took[reading][i] > slowest ? took[reading][i] : slowest;
        }
        printf("%.0f %.0f\n", ranks * (double)block / slowest, 1e9 * all);
    }
}
