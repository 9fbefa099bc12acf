// What a load of the relay has in common: time, sockets, and the checks of its clients.
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>

// Bytes of a trunk frame's header, and of a check at most.
#define HEADER 40
#define CHECK_MAX 256

static uint64_t now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec * 1000000000ull + t.tv_nsec;
}

static void die(const char *what) {
  perror(what);
  exit(1);
}

static int open_socket(int buffer) {
  int fd = socket(AF_INET, SOCK_DGRAM | SOCK_NONBLOCK, 0);
  if (fd < 0) die("socket");
  if (setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &buffer, sizeof buffer) < 0)
    setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &buffer, sizeof buffer);
  if (setsockopt(fd, SOL_SOCKET, SO_SNDBUFFORCE, &buffer, sizeof buffer) < 0)
    setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &buffer, sizeof buffer);
  return fd;
}

static int check(uint8_t *out, const char *ufrag, int id) {
  char username[64];
  int length = snprintf(username, sizeof username, "%s:load", ufrag);
  int padded = (length + 3) & ~3;
  memset(out, 0, 24 + padded);
  out[1] = 1;
  out[3] = 4 + padded;
  out[4] = 0x21, out[5] = 0x12, out[6] = 0xa4, out[7] = 0x42;
  memcpy(out + 8, &id, sizeof id);
  out[21] = 6;
  out[23] = length;
  memcpy(out + 24, username, length);
  return 24 + padded;
}
