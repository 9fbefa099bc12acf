// What a TURN client sends (RFC 8656), as much as a benchmark needs: no authentication, IPv4.
#include <arpa/inet.h>
#include <stdint.h>
#include <string.h>

#define TURN_CHANNEL 0x4000
#define TURN_HEADER 4

static int turn_request(uint8_t *out, uint16_t type, int id) {
  memset(out, 0, 20);
  out[0] = type >> 8, out[1] = type;
  out[4] = 0x21, out[5] = 0x12, out[6] = 0xa4, out[7] = 0x42;
  memcpy(out + 8, &id, sizeof id);
  return 20;
}

// Allocate, with REQUESTED-TRANSPORT: UDP.
static int turn_allocate(uint8_t *out, int id) {
  turn_request(out, 0x0003, id);
  memcpy(out + 20, (uint8_t[]){0x00, 0x19, 0, 4, 17, 0, 0, 0}, 8);
  out[3] = 8;
  return 28;
}

static int turn_has_allocated(const uint8_t *packet, int length) {
  return length >= 20 && packet[0] == 0x01 && packet[1] == 0x03;
}

// ChannelBind, with CHANNEL-NUMBER and XOR-PEER-ADDRESS.
static int turn_channel_bind(uint8_t *out, int id, struct sockaddr_in peer) {
  turn_request(out, 0x0009, id);
  memcpy(out + 20, (uint8_t[]){0x00, 0x0c, 0, 4, TURN_CHANNEL >> 8, 0, 0, 0, 0x00, 0x12, 0, 8, 0, 1}, 14);
  const uint8_t *port = (uint8_t *)&peer.sin_port, *address = (uint8_t *)&peer.sin_addr;
  for (int i = 0; i < 2; i++) out[34 + i] = port[i] ^ out[4 + i];
  for (int i = 0; i < 4; i++) out[36 + i] = address[i] ^ out[4 + i];
  out[3] = 20;
  return 40;
}

static int turn_channel_header(uint8_t *out, int length) {
  memcpy(out, (uint8_t[]){TURN_CHANNEL >> 8, 0, length >> 8, length}, TURN_HEADER);
  return TURN_HEADER;
}
