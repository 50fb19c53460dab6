/* The six calls of a probe round once a second, spread over the second, and nothing else.
   usage: bare_probe FOLDER BIG_FILE SECONDS BLOCKS; prints CPU milliseconds per second. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { BLOCK = 1 << 20, SIZE = 3901, POOL = 1000 };

static struct timespec due;
static char name[64];
static char *buffer;

static void next_sixth(void)
{
    due.tv_nsec += 166666667;
    if (due.tv_nsec >= 1000000000) {
        due.tv_nsec -= 1000000000;
        due.tv_sec++;
    }
    clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &due, NULL);
}

static void create(int id)
{
    sprintf(name, "bare/%016x", id);
    int file = open(name, O_CREAT | O_EXCL | O_WRONLY, 0600);
    if (file < 0 || write(file, buffer, SIZE) != SIZE)
        exit(1);
    close(file);
}

static double cpu_ms(void)
{
    struct rusage u;
    getrusage(RUSAGE_SELF, &u);
    return (u.ru_utime.tv_sec + u.ru_stime.tv_sec) * 1e3 + (u.ru_utime.tv_usec + u.ru_stime.tv_usec) / 1e3;
}

int main(int argc, char **argv)
{
    if (argc != 5 || chdir(argv[1]) || posix_memalign((void **)&buffer, 4096, BLOCK))
        return 1;
    int seconds = atoi(argv[3]), blocks = atoi(argv[4]);
    int big = open(argv[2], O_RDWR | O_DIRECT);
    struct stat status;
    memset(buffer, 7, BLOCK);
    mkdir("bare", 0700);
    for (int id = 0; id < POOL; id++)
        create(id);
    clock_gettime(CLOCK_MONOTONIC, &due);
    double before = cpu_ms();
    for (int k = 0; k < seconds; k++) {
        next_sixth();
        if (pread(big, buffer, BLOCK, (off_t)(random() % blocks) * BLOCK) != BLOCK)
            return 1;
        next_sixth();
        if (pwrite(big, buffer, BLOCK, (off_t)(random() % blocks) * BLOCK) != BLOCK)
            return 1;
        next_sixth();
        create(POOL + k);
        next_sixth();
        sprintf(name, "bare/%016x", k + POOL / 3);
        stat(name, &status);
        next_sixth();
        sprintf(name, "bare/%016x", k + POOL * 2 / 3);
        int file = open(name, O_RDONLY);
        if (read(file, buffer, SIZE) != SIZE)
            return 1;
        close(file);
        next_sixth();
        sprintf(name, "bare/%016x", k);
        unlink(name);
    }
    printf("%.4f\n", (cpu_ms() - before) / seconds);
    for (int id = seconds; id < POOL + seconds; id++) {
        sprintf(name, "bare/%016x", id);
        unlink(name);
    }
    return rmdir("bare");
}
