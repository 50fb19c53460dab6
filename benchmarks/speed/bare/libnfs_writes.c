/* 8-byte WRITEs by libnfs, `window` of them under way on one connection.
 *     cc -O2 libnfs_writes.c -o libnfs_writes -lnfs
 *     libnfs_writes PORT WINDOW SECONDS      prints writes, seconds, processor seconds */
#include <sys/time.h>
#include <nfsc/libnfs.h>
#include <poll.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>

static struct nfs_context *nfs;
static struct nfsfh *file;
static long done, failed;
static int under_way, ended;
static char data[8] = "8 bytes";

static double seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec + now.tv_nsec / 1e9;
}

static double processor(void) {
    struct rusage used;
    getrusage(RUSAGE_SELF, &used);
    return used.ru_utime.tv_sec + used.ru_stime.tv_sec + (used.ru_utime.tv_usec + used.ru_stime.tv_usec) / 1e6;
}

static void write_one(void);

static void written(int status, struct nfs_context *context, void *unused, void *mine) {
    (void)context, (void)unused, (void)mine;
    under_way--;
    if (status == 8) done++; else failed++;
    if (!ended) write_one();
}

static void write_one(void) {
    under_way++;
    if (nfs_pwrite_async(nfs, file, 0, 8, data, written, NULL)) exit(1);
}

int main(int argc, char **argv) {
    char url[200];
    if (argc != 4) return 2;
    nfs = nfs_init_context();
    snprintf(url, sizeof url, "nfs://127.0.0.1/export/?nfsport=%s&mountport=%s&version=3", argv[1], argv[1]);
    struct nfs_url *place = nfs_parse_url_dir(nfs, url);
    if (!place || nfs_mount(nfs, place->server, "/export") || nfs_creat(nfs, "/libnfs", 0600, &file)) {
        fprintf(stderr, "%s\n", nfs_get_error(nfs));
        return 1;
    }
    double begin = seconds(), cpu = processor(), end = begin + atof(argv[3]);
    for (int i = 0; i < atoi(argv[2]); i++) write_one();
    while (under_way > 0) {
        struct pollfd fd = {.fd = nfs_get_fd(nfs), .events = nfs_which_events(nfs)};
        if (poll(&fd, 1, 1000) < 0 || nfs_service(nfs, fd.revents) < 0) return 1;
        if (!ended && seconds() >= end) ended = 1;
    }
    printf("%ld %.6f %.6f\n", done, seconds() - begin, processor() - cpu);
    nfs_close(nfs, file);
    nfs_unlink(nfs, "/libnfs");
    return failed > 0;
}
