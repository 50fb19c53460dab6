/* The same bytes as 8-byte WRITEs over a bare socket: what sending and receiving cost without a client.
 *     bare_writes PORT WINDOW SECONDS FILE      FILE: number of the file in the server of known truth */
#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

enum { CALL = 4 + 116, ANSWER = 4 + 52 };

static double seconds(clockid_t clock) {
    struct timespec now;
    clock_gettime(clock, &now);
    return now.tv_sec + now.tv_nsec / 1e9;
}

int main(int argc, char **argv) {
    if (argc != 5) return 2;
    int window = atoi(argv[2]), one = 1;
    struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons(atoi(argv[1]))};
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    if (connect(fd, (struct sockaddr *)&to, sizeof to)) return 1;
    uint32_t words[] = {0x80000000u | (CALL - 4), 1, 0, 2, 100003, 3, 7, 1, 28, 0, 7, 0x696f736f, 0x6e646500, 0, 0, 0,
                        0, 0, 16, 0x696f736f, 0x6e646571, 0, atoi(argv[4]), 0, 0, 8, 0, 8, 0x38206279, 0x74657300};
    for (unsigned i = 0; i < sizeof words / 4; i++) words[i] = htonl(words[i]);
    if (sizeof words != CALL) return 3;
    char *calls = malloc((size_t)window * CALL), *answers = malloc(1 << 18);
    for (int i = 0; i < window; i++) memcpy(calls + i * CALL, words, CALL);
    double begin = seconds(CLOCK_MONOTONIC), cpu = seconds(CLOCK_PROCESS_CPUTIME_ID), end = begin + atof(argv[3]);
    long done = 0, left = 0;
    int due = window;
    while (seconds(CLOCK_MONOTONIC) < end) {
        if (due && write(fd, calls, (size_t)due * CALL) != (ssize_t)due * CALL) return 1;
        ssize_t n = read(fd, answers, 1 << 18);
        if (n <= 0) return 1;
        left += n;
        due = left / ANSWER;
        left %= ANSWER;
        done += due;
    }
    printf("%ld %.6f %.6f\n", done, seconds(CLOCK_MONOTONIC) - begin, seconds(CLOCK_PROCESS_CPUTIME_ID) - cpu);
    return 0;
}
