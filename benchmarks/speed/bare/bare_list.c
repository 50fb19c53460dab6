/* Open, read and close a directory N times: nanoseconds each, with nothing around it.
 *
 *   bare_list DIRECTORY N
 */
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static long long now_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1000000000LL + now.tv_nsec;
}

int main(int count, char **words) {
    if (count != 3) return 2;
    long rounds = atol(words[2]), names = 0;
    long long began = now_ns();
    for (long i = 0; i < rounds; i++) {
        int file = open(words[1], O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        DIR *directory = file < 0 ? NULL : fdopendir(file);
        if (!directory) return 1;
        while (readdir(directory)) names++;
        closedir(directory);
    }
    printf("%.1f %ld\n", (double)(now_ns() - began) / rounds, names / rounds);
    return 0;
}
