// The load of a relay's benchmark: all its clients and its one transceiver, in one thread that never sleeps,
// so that nothing but the relay has to be scheduled. Linux.
//
// load RELAY_PORT SINK_PORT UFRAGS key=value...
//   mode=up|down|echo  flows=N  rate=PPS (0: as fast as can be)  seconds=S  payload=BYTES
//   join=BYTES    frames going down are joined into datagrams of up to so many bytes; 0: each alone
//   burst=N       N packets of a client follow each other, as one call (UDP_SEGMENT): packets still reach the
//                 relay one by one, but the load is fast enough to saturate it
//   flood=PPS     checks with forged tokens besides, from as many addresses as there are clients
//   raw=1         the relay has no trunk: what it sends to the sink is the client's packet
//   turn=1        the relay is a TURN server: allocations, channels to the sink, and channel data; raw
//   warm=S        seconds for which it runs before it says "ready"
//
// Makes all flows, warms up, says "ready", waits for a line, runs, and prints what it saw as JSON.
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <netinet/udp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "client.h"
#include "turn.h"

#define BATCH 64
#define CLIENT_BATCH 16
#define DATAGRAM 9216
#define LATENCIES 20000000

static int flows = 1000, payload = 172, join = 0, burst = 1, raw = 0, turn = 0;
static double rate = 0, seconds = 4, warm = 2, flood = 0;
static char mode = 'u';

// Bytes of a packet as the client sends it, with the header that TURN wants.
static int segment;
static int *clients, *flooders, sink, poller;
static char **ufrags;
static int ufrag_count;
static uint8_t *headers, *known;
static int by_port[65536];
static struct sockaddr_in relay, trunk, sink_address;
static uint64_t proven, up, down, datagrams, sent, flooded;
static float *latencies;
static uint64_t latency_count;

static void open_clients(void) {
  clients = calloc(flows, sizeof *clients);
  headers = calloc(flows, HEADER);
  known = calloc(flows, 1);
  memset(by_port, -1, sizeof by_port);
  poller = epoll_create1(0);
  for (int i = 0; i < flows; i++) {
    clients[i] = open_socket(1 << 18);
    if (connect(clients[i], (void *)&relay, sizeof relay) < 0) die("connect");
    struct sockaddr_in self;
    socklen_t length = sizeof self;
    getsockname(clients[i], (void *)&self, &length);
    by_port[ntohs(self.sin_port)] = i;
    struct epoll_event event = {.events = EPOLLIN, .data.u32 = i};
    epoll_ctl(poller, EPOLL_CTL_ADD, clients[i], &event);
  }
}

// One frame at the sink: a check is answered, all else counted. Returns whether it is to be echoed.
static int take_frame(uint8_t *frame, int length, struct sockaddr_in *from) {
  uint8_t *packet = frame + HEADER;
  if (packet[0] == 0x80) {
    up++;
    return mode == 'e';
  }
  if (packet[0] != 0 || packet[1] != 1 || length < HEADER + 20) return 0;
  int flow = by_port[frame[36] << 8 | frame[37]];
  if (flow < 0) return 0;
  memcpy(headers + flow * HEADER, frame, HEADER);
  headers[flow * HEADER] = 0xc5;
  trunk = *from;
  uint8_t answer[HEADER + 20] = {0};
  memcpy(answer, headers + flow * HEADER, HEADER);
  answer[2] = 0, answer[3] = 20;
  answer[HEADER] = 1, answer[HEADER + 1] = 1;
  memcpy(answer + HEADER + 4, packet + 4, 16);
  sendto(sink, answer, sizeof answer, 0, (void *)from, sizeof *from);
  return 0;
}

static void drain_sink(void) {
  static uint8_t data[BATCH][DATAGRAM];
  static struct mmsghdr in[BATCH], out[BATCH];
  static struct iovec iov[BATCH];
  static struct sockaddr_in from[BATCH];
  for (;;) {
    for (int i = 0; i < BATCH; i++) {
      iov[i] = (struct iovec){data[i], DATAGRAM};
      in[i].msg_hdr = (struct msghdr){&from[i], sizeof from[i], &iov[i], 1, 0, 0, 0};
    }
    int got = recvmmsg(sink, in, BATCH, MSG_DONTWAIT, 0), echoes = 0;
    for (int i = 0; i < got; i++) {
      int length = in[i].msg_len, echo = 0;
      datagrams++;
      if (raw) {
        up++;
        echo = mode == 'e' || data[i][0] != 0x80;
      } else {
        for (int at = 0, next; at + HEADER < length && data[i][at]; at = next) {
          next = at + HEADER + (data[i][at + 2] << 8 | data[i][at + 3]);
          if (next > length) break;
          if (take_frame(data[i] + at, next - at, &from[i])) echo = 1, data[i][at] = 0xc5;
        }
      }
      if (!echo) continue;
      iov[i].iov_len = length;
      out[echoes++] = in[i];
    }
    if (echoes) sendmmsg(sink, out, echoes, 0);
    if (got < BATCH) return;
  }
}

static void take_packet(uint8_t *packet, int length, int flow) {
  if (turn && turn_has_allocated(packet, length)) {
    uint8_t request[CHECK_MAX];
    send(clients[flow], request, turn_channel_bind(request, flow, sink_address), 0);
    return;
  }
  if (turn && packet[0] == TURN_CHANNEL >> 8) packet += TURN_HEADER, length -= TURN_HEADER;
  if (packet[0] != 0x80) {
    if (!known[flow]) known[flow] = 1, proven++;
    return;
  }
  down++;
  uint64_t time;
  if (length < 20) return;
  memcpy(&time, packet + 12, sizeof time);
  if (mode == 'e' && latency_count < LATENCIES) latencies[latency_count++] = (now() - time) / 1000.0;
}

static void drain_clients(void) {
  static struct epoll_event events[256];
  static uint8_t data[CLIENT_BATCH][2048];
  static struct mmsghdr in[CLIENT_BATCH];
  static struct iovec iov[CLIENT_BATCH];
  int count = epoll_wait(poller, events, 256, 0);
  for (int i = 0; i < count; i++) {
    int flow = events[i].data.u32, got;
    do {
      for (int k = 0; k < CLIENT_BATCH; k++) {
        iov[k] = (struct iovec){data[k], sizeof data[k]};
        in[k].msg_hdr = (struct msghdr){0, 0, &iov[k], 1, 0, 0, 0};
      }
      got = recvmmsg(clients[flow], in, CLIENT_BATCH, MSG_DONTWAIT, 0);
      for (int k = 0; k < got; k++) take_packet(data[k], in[k].msg_len, flow);
    } while (got == CLIENT_BATCH);
  }
}

static void drain(int milliseconds) {
  for (uint64_t until = now() + milliseconds * 1000000ull; now() < until;) drain_sink(), drain_clients();
}

static int first_packet(uint8_t *packet, int flow) {
  return turn ? turn_allocate(packet, flow) : check(packet, ufrags[flow % ufrag_count], flow);
}

static void make_flows(void) {
  uint8_t packet[CHECK_MAX];
  for (int round = 0; round < 50 && proven < (uint64_t)flows; round++) {
    for (int i = 0; i < flows; i++) {
      if (!known[i]) send(clients[i], packet, first_packet(packet, i), 0);
      if (i % 32 == 0) drain_sink(), drain_clients();
    }
    drain(100);
  }
  if (proven < (uint64_t)flows) {
    fprintf(stderr, "only %lu of %d flows answer\n", proven, flows);
    exit(1);
  }
}

static void refresh(int flow) {
  uint8_t packet[CHECK_MAX];
  send(clients[flow], packet, check(packet, ufrags[flow % ufrag_count], flow), 0);
}

static uint8_t media[DATAGRAM * 2];

static void send_up(int flow) {
  uint64_t time = now();
  for (int i = 0; i < burst; i++) memcpy(media + (i + 1) * segment - payload + 12, &time, sizeof time);
  send(clients[flow], media, segment * burst, 0);
}

// Sends up to BATCH frames down, `burst` of them for each of the clients from that of `first` on.
static void send_down(uint64_t first, int count) {
  static uint8_t data[BATCH][HEADER + 2048];
  static struct iovec iov[BATCH];
  static struct mmsghdr out[BATCH];
  int messages = 0, length = 0, size = HEADER + payload;
  // By one call, but each frame a datagram of its own.
  int most = burst > 1 ? BATCH * size : join;
  for (int i = 0; i < count; i++) {
    memcpy(data[i], headers + (first + i) / burst % flows * HEADER, HEADER);
    data[i][2] = payload >> 8, data[i][3] = payload;
    memcpy(data[i] + HEADER, media + segment - payload, payload);
    iov[i] = (struct iovec){data[i], size};
    if (i > 0 && length + size <= most) {
      out[messages - 1].msg_hdr.msg_iovlen++;
      length += size;
    } else {
      out[messages++].msg_hdr = (struct msghdr){&trunk, sizeof trunk, &iov[i], 1, 0, 0, 0};
      length = size;
    }
  }
  for (int sent = 0; sent < messages;) {
    int done = sendmmsg(sink, out + sent, messages - sent, 0);
    sent += done > 0 ? done : 1;
  }
}

static void send_flood(int i) {
  static const char chars[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  char ufrag[24] = {ufrags[0][0]};
  uint8_t packet[CHECK_MAX];
  for (int at = 1; at < 22; at++) ufrag[at] = chars[random() & 63];
  ufrag[22] = "AQgw"[random() & 3];
  send(flooders[i], packet, check(packet, ufrag, i), 0);
}

static int by_value(const void *a, const void *b) {
  float x = *(float *)a, y = *(float *)b;
  return x < y ? -1 : x > y;
}

static void segment_sends(void) {
  int frame = HEADER + payload;
  if (setsockopt(sink, SOL_UDP, UDP_SEGMENT, &frame, sizeof frame) < 0) die("UDP_SEGMENT");
  for (int i = 0; i < flows; i++)
    if (setsockopt(clients[i], SOL_UDP, UDP_SEGMENT, &segment, sizeof segment) < 0) die("UDP_SEGMENT");
}

static double percentile(double of) {
  return latency_count ? latencies[(uint64_t)(latency_count * of)] : 0;
}

// Sends for so many seconds; returns how many it took.
static double run(double seconds) {
  up = down = datagrams = sent = flooded = latency_count = 0;
  uint64_t start = now(), end = start + seconds * 1e9, refreshed = 0;
  for (uint64_t time; (time = now()) < end;) {
    double elapsed = (time - start) * 1e-9;
    uint64_t due = rate > 0 ? (uint64_t)(elapsed * rate) : sent + BATCH;
    if (due > sent + 512) due = sent + 512;
    if (mode == 'd') {
      while (sent < due) {
        int count = due - sent < BATCH ? due - sent : BATCH;
        send_down(sent, count);
        sent += count;
      }
    } else {
      for (; sent < due; sent += burst) send_up(sent / burst % flows);
    }
    for (uint64_t until = elapsed * flood; flooded < until; flooded++) send_flood(flooded % flows);
    // Each client checks every 2.5 s, as browsers do.
    for (uint64_t until = elapsed * flows / 2.5; !raw && burst == 1 && refreshed < until; refreshed++)
      refresh(refreshed % flows);
    drain_sink();
    drain_clients();
  }
  return (now() - start) * 1e-9;
}

int main(int argc, char **argv) {
  if (argc < 4) return fprintf(stderr, "load RELAY_PORT SINK_PORT UFRAGS key=value...\n"), 2;
  for (int i = 4; i < argc; i++) {
    char *value = strchr(argv[i], '=');
    if (!value) return 2;
    *value++ = 0;
    if (!strcmp(argv[i], "mode")) mode = *value;
    else if (!strcmp(argv[i], "flows")) flows = atoi(value);
    else if (!strcmp(argv[i], "rate")) rate = atof(value);
    else if (!strcmp(argv[i], "seconds")) seconds = atof(value);
    else if (!strcmp(argv[i], "warm")) warm = atof(value);
    else if (!strcmp(argv[i], "payload")) payload = atoi(value);
    else if (!strcmp(argv[i], "join")) join = atoi(value);
    else if (!strcmp(argv[i], "burst")) burst = atoi(value);
    else if (!strcmp(argv[i], "flood")) flood = atof(value);
    else if (!strcmp(argv[i], "raw")) raw = atoi(value);
    else if (!strcmp(argv[i], "turn")) turn = atoi(value);
    else return 2;
  }
  FILE *file = fopen(argv[3], "r");
  if (!file) die(argv[3]);
  ufrags = calloc(flows, sizeof *ufrags);
  for (char line[128]; ufrag_count < flows && fgets(line, sizeof line, file);) {
    line[strcspn(line, "\n")] = 0;
    ufrags[ufrag_count++] = strdup(line);
  }
  relay = (struct sockaddr_in){.sin_family = AF_INET, .sin_port = htons(atoi(argv[1])), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  sink_address = relay;
  sink_address.sin_port = htons(atoi(argv[2]));
  sink = open_socket(8 << 20);
  if (bind(sink, (void *)&sink_address, sizeof sink_address) < 0) die("bind");
  latencies = malloc(sizeof *latencies * LATENCIES);
  memset(media, 0x55, sizeof media);
  segment = payload + (turn ? TURN_HEADER : 0);
  for (int i = 0; i < burst; i++) {
    uint8_t *packet = media + i * segment;
    if (turn) packet += turn_channel_header(packet, payload);
    packet[0] = 0x80, packet[1] = 111;
  }
  open_clients();
  flooders = calloc(flows, sizeof *flooders);
  for (int i = 0; flood > 0 && i < flows; i++) {
    flooders[i] = open_socket(1 << 16);
    connect(flooders[i], (void *)&relay, sizeof relay);
  }
  make_flows();
  if (burst > 1) segment_sends();
  run(warm);
  drain(100);
  puts("ready");
  fflush(stdout);
  if (getchar() == EOF) return 1;
  double took = run(seconds);
  drain(300);
  qsort(latencies, latency_count, sizeof *latencies, by_value);
  printf("{\"seconds\":%.3f,\"sent\":%lu,\"up\":%lu,\"down\":%lu,\"datagrams\":%lu,\"flooded\":%lu,"
         "\"p50\":%.1f,\"p99\":%.1f,\"p999\":%.1f}\n",
         took, sent, up, down, datagrams, flooded, percentile(.5), percentile(.99), percentile(.999));
}
