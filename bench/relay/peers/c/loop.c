// The limit: what recvmmsg and sendmmsg allow a relay that does next to nothing. One thread, one frame a
// datagram, a table that never forgets and believes every check. loop PORT TRUNK_PORT TRANSCEIVER_PORT
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define BATCH 64
#define SLOT 2048
#define HEADER 40
#define TABLE (1 << 18)

static uint64_t keys[TABLE];

static int open_socket(int port) {
  int fd = socket(AF_INET, SOCK_DGRAM, 0), buffer = 8 << 20;
  if (setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &buffer, sizeof buffer) < 0)
    setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &buffer, sizeof buffer);
  if (setsockopt(fd, SOL_SOCKET, SO_SNDBUFFORCE, &buffer, sizeof buffer) < 0)
    setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &buffer, sizeof buffer);
  struct sockaddr_in a = {.sin_family = AF_INET, .sin_port = htons(port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  if (bind(fd, (void *)&a, sizeof a) < 0) {
    perror("bind");
    exit(1);
  }
  return fd;
}

static void send_all(int fd, struct mmsghdr *messages, int count) {
  for (int sent = 0; sent < count;) {
    int done = sendmmsg(fd, messages + sent, count - sent, 0);
    sent += done > 0 ? done : 1;
  }
}

static int has_flow(const struct sockaddr_in *from, const uint8_t *packet) {
  uint64_t key = (uint64_t)from->sin_addr.s_addr << 16 | from->sin_port;
  uint32_t at = key * 0x9e3779b97f4a7c15ull >> 46;
  while (keys[at] && keys[at] != key) at = (at + 1) & (TABLE - 1);
  if (keys[at]) return 1;
  if (packet[0] != 0 || packet[1] != 1) return 0;
  keys[at] = key;
  return 1;
}

int main(int argc, char **argv) {
  static uint8_t slots[BATCH][SLOT];
  static struct mmsghdr in[BATCH], out[BATCH];
  static struct iovec in_iov[BATCH], out_iov[BATCH];
  static struct sockaddr_in names[BATCH];
  if (argc != 4) return 2;
  int public = open_socket(atoi(argv[1])), trunk = open_socket(atoi(argv[2]));
  uint16_t proxy_port = htons(atoi(argv[2]));
  uint32_t loopback = htonl(INADDR_LOOPBACK);
  struct sockaddr_in transceiver = {.sin_family = AF_INET, .sin_port = htons(atoi(argv[3])), .sin_addr.s_addr = loopback};
  struct pollfd polled[2] = {{public, POLLIN, 0}, {trunk, POLLIN, 0}};
  for (;;) {
    poll(polled, 2, -1);
    if (polled[0].revents) {
      for (int i = 0; i < BATCH; i++) {
        in_iov[i] = (struct iovec){slots[i] + HEADER, SLOT - HEADER};
        in[i].msg_hdr = (struct msghdr){&names[i], sizeof names[i], &in_iov[i], 1, 0, 0, 0};
      }
      int got = recvmmsg(public, in, BATCH, MSG_DONTWAIT, 0), count = 0;
      for (int i = 0; i < got; i++) {
        uint8_t *frame = slots[i];
        uint16_t length = in[i].msg_len;
        if (!has_flow(&names[i], frame + HEADER)) continue;
        memset(frame, 0, HEADER);
        frame[0] = 0xc4, frame[2] = length >> 8, frame[3] = length;
        frame[14] = frame[15] = frame[30] = frame[31] = 0xff;
        memcpy(frame + 16, &names[i].sin_addr, 4);
        memcpy(frame + 32, &loopback, 4);
        memcpy(frame + 36, &names[i].sin_port, 2);
        memcpy(frame + 38, &proxy_port, 2);
        out_iov[count] = (struct iovec){frame, HEADER + length};
        out[count].msg_hdr = (struct msghdr){&transceiver, sizeof transceiver, &out_iov[count], 1, 0, 0, 0};
        count++;
      }
      send_all(trunk, out, count);
    }
    if (polled[1].revents) {
      for (int i = 0; i < BATCH; i++) {
        in_iov[i] = (struct iovec){slots[i], SLOT};
        in[i].msg_hdr = (struct msghdr){0, 0, &in_iov[i], 1, 0, 0, 0};
      }
      int got = recvmmsg(trunk, in, BATCH, MSG_DONTWAIT, 0), count = 0;
      for (int i = 0; i < got; i++) {
        uint8_t *frame = slots[i];
        if (in[i].msg_len <= HEADER) continue;
        names[count] = (struct sockaddr_in){.sin_family = AF_INET};
        memcpy(&names[count].sin_addr, frame + 16, 4);
        memcpy(&names[count].sin_port, frame + 36, 2);
        out_iov[count] = (struct iovec){frame + HEADER, in[i].msg_len - HEADER};
        out[count].msg_hdr = (struct msghdr){&names[count], sizeof names[count], &out_iov[count], 1, 0, 0, 0};
        count++;
      }
      send_all(public, out, count);
    }
  }
}
