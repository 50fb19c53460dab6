/* md-workbench's benchmark phase with the same system calls as iosonde makes, and nothing else: no clock around an
   operation, no record. usage: bare_metadata FOLDER RANKS SETS OBJECTS ITERATIONS REPETITIONS; prints operations per second of
   each repetition, by the slowest rank. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { SIZE = 3901, MOST = 64 };

static int ranks, sets, folders[MOST][MOST];
static long objects, iterations, repetitions;
static pthread_barrier_t barrier;
static double took[MOST];
static char content[SIZE];

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec + 1e-9 * t.tv_nsec;
}

static void fail(const char *what)
{
    perror(what);
    exit(1);
}

static void name_of(char *name, unsigned long object)
{
    for (int i = 15; i >= 0; i--, object >>= 4)
        name[i] = "0123456789abcdef"[object & 15];
    name[16] = 0;
}

static void create(int folder, const char *name)
{
    int file = openat(folder, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (file < 0 || write(file, content, SIZE) != SIZE || close(file))
        fail("create");
}

static void cycle(int rank, int set, long i, char *buffer)
{
    char name[17];
    int reads = folders[((rank - set - 1) % ranks + ranks) % ranks][set];
    int writes = folders[(rank + set + 1) % ranks][set];
    struct stat status;
    name_of(name, i);
    if (fstatat(reads, name, &status, AT_SYMLINK_NOFOLLOW))
        fail("stat");
    int file = openat(reads, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
    if (file < 0 || read(file, buffer, SIZE) != SIZE || close(file))
        fail("read");
    if (unlinkat(reads, name, 0))
        fail("delete");
    name_of(name, i + objects);
    create(writes, name);
}

static void *work(void *argument)
{
    int rank = (int)(long)argument;
    char buffer[SIZE], name[17];
    for (long p = 0; p < objects; p++)
        for (int d = 0; d < sets; d++) {
            name_of(name, p);
            create(folders[rank][d], name);
        }
    for (long r = 0; r < repetitions; r++) {
        pthread_barrier_wait(&barrier);
        double began = now();
        for (long i = r * iterations; i < (r + 1) * iterations; i++)
            for (int d = 0; d < sets; d++)
                cycle(rank, d, i, buffer);
        took[rank] = now() - began;
        pthread_barrier_wait(&barrier);
        if (rank == 0) {
            double slowest = 0;
            for (int k = 0; k < ranks; k++)
                slowest = took[k] > slowest ? took[k] : slowest;
            printf("%.1f\n", 4.0 * ranks * sets * iterations / slowest);
        }
    }
    return NULL;
}

int main(int argc, char **argv)
{
    if (argc != 7)
        return 2;
    ranks = atoi(argv[2]), sets = atoi(argv[3]);
    objects = atol(argv[4]), iterations = atol(argv[5]), repetitions = atol(argv[6]);
    if (ranks > MOST || sets > MOST)
        return 2;
    memset(content, 'x', SIZE);
    char path[4096];
    for (int r = 0; r < ranks; r++)
        for (int d = 0; d < sets; d++) {
            snprintf(path, sizeof path, "%s/r%d-d%d", argv[1], r, d);
            if (mkdir(path, 0700) || (folders[r][d] = open(path, O_DIRECTORY)) < 0)
                fail(path);
        }
    pthread_t threads[MOST];
    pthread_barrier_init(&barrier, NULL, ranks);
    for (long r = 0; r < ranks; r++)
        pthread_create(&threads[r], NULL, work, (void *)r);
    for (int r = 0; r < ranks; r++)
        pthread_join(threads[r], NULL);
    return 0;
}
