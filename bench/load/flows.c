// Many flows through one relay: all their clients, and their one transceiver, in one thread. Linux.
//
// flows RELAY_PORT SINK_PORT UFRAGS key=value...
//   flows=N    as many as there are tokens in UFRAGS at most: each has one of its own
//   rate=PPS   packets a second that go up, each of a client by chance, and come back
//   seconds=S
//
// A socket is the client of many flows, which differ by their addresses in 127.0.0.0/8. Proves all flows, says
// "ready", waits for a line, runs, and prints what it saw as JSON.
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "../relay/client.h"

// Addresses of a socket; relays let one address have some hundred tentative flows.
#define ADDRESSES 1000
#define FIRST_ADDRESS 0x7f010001
#define BATCH 64
#define DATAGRAM 9216
#define PAYLOAD 172
#define BUFFER (8 << 20)
// Packets that are sent before others are read, at most.
#define AHEAD 256
// Nanoseconds without a packet after which none is on its way any more.
#define QUIET 2000000000ull

static int flows = 1000, sockets, sink, poller;
static double rate = 1000, seconds = 4;
static int *clients;
static char (*ufrags)[32];
static uint8_t *known;
static struct sockaddr_in relay;
static uint64_t proven, sent, up, down, strays, heard_at;

static uint32_t address_of(int flow) {
  return FIRST_ADDRESS + flow % ADDRESSES;
}

static int flow_of(int socket, uint32_t address) {
  uint32_t place = address - FIRST_ADDRESS;
  int flow = socket * ADDRESSES + (int)place;
  return socket >= 0 && place < ADDRESSES && flow < flows ? flow : -1;
}

static void open_clients(void) {
  sockets = (flows + ADDRESSES - 1) / ADDRESSES;
  clients = calloc(sockets, sizeof *clients);
  poller = epoll_create1(0);
  for (int i = 0; i < sockets; i++) {
    struct sockaddr_in self = {.sin_family = AF_INET};
    int on = 1;
    clients[i] = open_socket(BUFFER);
    if (bind(clients[i], (void *)&self, sizeof self) < 0) die("bind");
    if (setsockopt(clients[i], IPPROTO_IP, IP_PKTINFO, &on, sizeof on) < 0) die("IP_PKTINFO");
    struct epoll_event event = {.events = EPOLLIN, .data.u32 = i};
    epoll_ctl(poller, EPOLL_CTL_ADD, clients[i], &event);
  }
}

static void send_from(int flow, uint8_t *packet, int length) {
  union {
    struct cmsghdr header;
    char space[CMSG_SPACE(sizeof(struct in_pktinfo))];
  } control = {0};
  struct iovec iov = {packet, length};
  struct msghdr message = {&relay, sizeof relay, &iov, 1, &control, sizeof control, 0};
  struct cmsghdr *header = CMSG_FIRSTHDR(&message);
  header->cmsg_level = IPPROTO_IP;
  header->cmsg_type = IP_PKTINFO;
  header->cmsg_len = CMSG_LEN(sizeof(struct in_pktinfo));
  struct in_pktinfo *info = (void *)CMSG_DATA(header);
  info->ipi_spec_dst.s_addr = htonl(address_of(flow));
  if (sendmsg(clients[flow / ADDRESSES], &message, 0) < 0) die("sendmsg");
}

// One frame at the sink: a check is answered, a packet goes back as it came.
static void take_frame(uint8_t *frame, int length, struct sockaddr_in *from) {
  uint8_t *packet = frame + HEADER;
  if (length < HEADER + 20) return;
  frame[0] = 0xc5;
  if (packet[0] == 0x80) {
    up++;
    sendto(sink, frame, length, 0, (void *)from, sizeof *from);
  } else if (packet[0] == 0 && packet[1] == 1) {
    frame[2] = 0, frame[3] = 20;
    packet[0] = 1, packet[1] = 1, packet[2] = 0, packet[3] = 0;
    sendto(sink, frame, HEADER + 20, 0, (void *)from, sizeof *from);
  }
}

static void drain_sink(void) {
  static uint8_t data[BATCH][DATAGRAM];
  static struct mmsghdr in[BATCH];
  static struct iovec iov[BATCH];
  static struct sockaddr_in from[BATCH];
  int got;
  do {
    for (int i = 0; i < BATCH; i++) {
      iov[i] = (struct iovec){data[i], DATAGRAM};
      in[i].msg_hdr = (struct msghdr){&from[i], sizeof from[i], &iov[i], 1, 0, 0, 0};
    }
    got = recvmmsg(sink, in, BATCH, MSG_DONTWAIT, 0);
    for (int i = 0; i < got; i++) {
      int length = in[i].msg_len;
      for (int at = 0, next; at + HEADER < length && data[i][at]; at = next) {
        next = at + HEADER + (data[i][at + 2] << 8 | data[i][at + 3]);
        if (next > length) break;
        take_frame(data[i] + at, next - at, &from[i]);
      }
    }
  } while (got == BATCH);
}

static void take_packet(uint8_t *packet, int length, int flow) {
  heard_at = now();
  if (flow >= 0 && length >= 20 && packet[0] == 1) {
    int id;
    memcpy(&id, packet + 8, sizeof id);
    if (id != flow) strays++;
    else if (!known[flow]) known[flow] = 1, proven++;
    return;
  }
  int owner;
  memcpy(&owner, packet + 12, sizeof owner);
  if (length == PAYLOAD && packet[0] == 0x80 && owner == flow) down++;
  else strays++;
}

static uint32_t local_address(struct msghdr *message) {
  for (struct cmsghdr *at = CMSG_FIRSTHDR(message); at; at = CMSG_NXTHDR(message, at))
    if (at->cmsg_level == IPPROTO_IP && at->cmsg_type == IP_PKTINFO)
      return ntohl(((struct in_pktinfo *)CMSG_DATA(at))->ipi_addr.s_addr);
  return 0;
}

static void drain_clients(void) {
  static struct epoll_event events[256];
  static uint8_t data[BATCH][2048];
  static char control[BATCH][CMSG_SPACE(sizeof(struct in_pktinfo))];
  static struct mmsghdr in[BATCH];
  static struct iovec iov[BATCH];
  int count = epoll_wait(poller, events, 256, 0);
  for (int i = 0; i < count; i++) {
    int socket = events[i].data.u32, got;
    do {
      for (int k = 0; k < BATCH; k++) {
        iov[k] = (struct iovec){data[k], sizeof data[k]};
        in[k].msg_hdr = (struct msghdr){0, 0, &iov[k], 1, control[k], sizeof control[k], 0};
      }
      got = recvmmsg(clients[socket], in, BATCH, MSG_DONTWAIT, 0);
      for (int k = 0; k < got; k++)
        take_packet(data[k], in[k].msg_len, flow_of(socket, local_address(&in[k].msg_hdr)));
    } while (got == BATCH);
  }
}

static void drain(int milliseconds) {
  for (uint64_t until = now() + milliseconds * 1000000ull; now() < until;) drain_sink(), drain_clients();
}

static void prove_flows(void) {
  uint8_t packet[CHECK_MAX];
  // As clients do that get no answer.
  for (int round = 0; round < 20 && proven < (uint64_t)flows; round++) {
    for (int i = 0; i < flows; i++) {
      if (!known[i]) send_from(i, packet, check(packet, ufrags[i], i));
      if (i % 16 == 0) drain_sink(), drain_clients();
    }
    drain(200);
  }
  if (proven < (uint64_t)flows) {
    fprintf(stderr, "only %lu of %d flows answer\n", proven, flows);
    exit(1);
  }
}

static double run(void) {
  uint8_t packet[PAYLOAD] = {0x80, 111};
  uint64_t start = now(), end = start + seconds * 1e9;
  for (uint64_t time; (time = now()) < end;) {
    uint64_t due = (time - start) * 1e-9 * rate;
    if (due > sent + AHEAD) due = sent + AHEAD;
    for (; sent < due; sent++) {
      int flow = random() % flows;
      memcpy(packet + 12, &flow, sizeof flow);
      send_from(flow, packet, sizeof packet);
    }
    drain_sink();
    drain_clients();
  }
  double took = (now() - start) * 1e-9;
  for (heard_at = now(); down < sent && now() < heard_at + QUIET;) drain_sink(), drain_clients();
  return took;
}

int main(int argc, char **argv) {
  if (argc < 4) return fprintf(stderr, "flows RELAY_PORT SINK_PORT UFRAGS key=value...\n"), 2;
  for (int i = 4; i < argc; i++) {
    char *value = strchr(argv[i], '=');
    if (!value) return 2;
    *value++ = 0;
    if (!strcmp(argv[i], "flows")) flows = atoi(value);
    else if (!strcmp(argv[i], "rate")) rate = atof(value);
    else if (!strcmp(argv[i], "seconds")) seconds = atof(value);
    else return 2;
  }
  FILE *file = fopen(argv[3], "r");
  if (!file) die(argv[3]);
  ufrags = calloc(flows, sizeof *ufrags);
  known = calloc(flows, 1);
  for (int i = 0; i < flows; i++)
    if (fscanf(file, "%31s", ufrags[i]) != 1) return fprintf(stderr, "too few tokens\n"), 1;
  relay = (struct sockaddr_in){.sin_family = AF_INET, .sin_port = htons(atoi(argv[1])), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  struct sockaddr_in self = relay;
  self.sin_port = htons(atoi(argv[2]));
  sink = open_socket(BUFFER);
  if (bind(sink, (void *)&self, sizeof self) < 0) die("bind");
  open_clients();
  prove_flows();
  puts("ready");
  fflush(stdout);
  if (getchar() == EOF) return 1;
  double took = run();
  printf("{\"seconds\":%.3f,\"proven\":%lu,\"sent\":%lu,\"up\":%lu,\"down\":%lu,\"strays\":%lu}\n",
         took, proven, sent, up, down, strays);
}
