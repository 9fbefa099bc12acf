/**
 * Data channels of one session (RFC 8831, RFC 8832): werift's SCTP over our DTLS, behind a guard. The
 * client opens the channels.
 */
import { RTCSctpTransport, type RTCDataChannel } from 'werift';
import { MAX_MESSAGE_SIZE } from './answer.ts';
import type { OfferedData } from './offer.ts';
import { DATA, FORWARD_TSN, isSoundSctp } from './sctp-guard.ts';
import {
  dtlsBelow,
  sctpInternals,
  transportInternals,
  type SctpInternals,
} from './werift-internals.ts';

/** Bytes of an SCTP packet, so that its DTLS record stays within the MTU of the handshake. */
const SCTP_MTU = 1_120;

/** Seconds before a lost first packet is sent again: RFC 9260 §16 now recommends 1, werift has 3. */
const FIRST_RTO = 1;

/** Most data channels of one session. */
export const MAX_CHANNELS = 64;

/** Bytes of messages that wait to be sent, over all channels; what comes on top is dropped. */
export const MAX_BUFFERED = 4 * 1024 * 1024;

/** Chunks and bytes of messages that are still incomplete; the window we announce is 1 MiB. */
const MAX_HELD_CHUNKS = 4_096;
const MAX_WINDOW_EXCESS = 131_072;

// Payload protocol identifiers (RFC 8831 §8).
const DCEP = 50;
const STRING_EMPTY = 56;
const BINARY_EMPTY = 57;
const DCEP_OPEN = 3;

export interface DataEvents {
  /** Sends one SCTP packet. */
  send(packet: Buffer): void;
  established(): void;
  message(label: string, data: string | Uint8Array): void;
  /** The client does what no honest one does; it is up to the session to end. */
  abused(what: string): void;
}

export interface DataCounters {
  messagesIn: number;
  messagesOut: number;
  /** Packets that the guard refused, and those that werift could not take. */
  refused: number;
  failed: number;
  /** Messages that found no open channel, or too many waiting. */
  unsent: number;
}

export class DataChannels {
  readonly counters: DataCounters = {
    messagesIn: 0,
    messagesOut: 0,
    refused: 0,
    failed: 0,
    unsent: 0,
  };
  readonly #transport: RTCSctpTransport;
  readonly #sctp: SctpInternals;
  readonly #events: DataEvents;
  readonly #held = new Map<number, number>();
  #heldChunks = 0;
  #open = true;

  constructor({ sctpPort, maxMessageSize }: OfferedData, events: DataEvents) {
    this.#events = events;
    this.#transport = new RTCSctpTransport(sctpPort, MAX_MESSAGE_SIZE, { mtu: SCTP_MTU });
    this.#guardMessages();
    this.#transport.setDtlsTransport(dtlsBelow((packet) => events.send(packet)));
    this.#transport.setRemoteMaxMessageSize(maxMessageSize);
    this.#transport.onDataChannel.subscribe((channel) => this.#onChannel(channel));
    this.#transport.sctp.stateChanged.connected.subscribe(() => events.established());
    this.#sctp = sctpInternals(this.#transport);
    this.#sctp.rto = FIRST_RTO;
    this.#attempt(this.#transport.start(sctpPort));
  }

  /** Takes one SCTP packet. Total: nothing in it can throw or reject. */
  receive(packet: Buffer): void {
    if (!this.#open) return;
    if (!isSoundSctp(packet, this.#sctp)) {
      this.counters.refused++;
      return;
    }
    this.#attempt(this.#sctp.handleData(packet).then(() => this.#afterPacket(packet)));
  }

  /** Sends on the open channel of that label; counts what cannot be sent. */
  send(label: string, data: string | Uint8Array): void {
    const channels = Object.values(this.#transport.dataChannels);
    const channel = channels.find((it) => it.label === label && it.readyState === 'open');
    const waiting = channels.reduce((sum, it) => sum + it.bufferedAmount, 0);
    if (!this.#open || !channel || waiting > MAX_BUFFERED) {
      this.counters.unsent++;
      return;
    }
    const message = typeof data === 'string' ? data : Buffer.from(data);
    try {
      if (message.length > 0) channel.send(message);
      else this.#sendEmpty(channel, typeof message === 'string' ? STRING_EMPTY : BINARY_EMPTY);
      this.counters.messagesOut++;
    } catch {
      this.counters.unsent++;
    }
  }

  close(): void {
    if (!this.#open) return;
    this.#attempt(this.#transport.stop());
    this.#open = false;
  }

  #onChannel(channel: RTCDataChannel): void {
    channel.onMessage.subscribe((data) => {
      this.counters.messagesIn++;
      this.#events.message(channel.label, data);
    });
  }

  /** Werift lets what it throws on a message become an unhandled rejection, and opens without end. */
  #guardMessages(): void {
    const internals = transportInternals(this.#transport);
    const receive = internals.datachannelReceive.bind(internals);
    internals.datachannelReceive = async (stream, protocol, data) => {
      const opens = protocol === DCEP && data[0] === DCEP_OPEN;
      const channels = this.#transport.dataChannels;
      if (opens && !(stream in channels) && Object.keys(channels).length >= MAX_CHANNELS) return;
      try {
        await receive(stream, protocol, data);
      } catch {
        this.counters.failed++;
      }
    };
  }

  /** SCTP has no empty messages; one zero byte under another identifier stands for them. */
  #sendEmpty(channel: RTCDataChannel, protocol: number): void {
    const internals = transportInternals(this.#transport);
    channel.addBufferedAmount(1);
    internals.dataChannelQueue.push([channel, protocol, Buffer.alloc(1)]);
    this.#attempt(internals.dataChannelFlush());
  }

  /** Werift stops at the first gap between the TSNs of whole messages and would wait for another packet. */
  #drain(stream: number): void {
    const inbound = this.#sctp.inboundStreams[stream];
    if (!inbound) return;
    for (let before = 0; inbound.reassembly.length !== before;) {
      before = inbound.reassembly.length;
      for (const message of inbound.popMessages()) {
        this.#sctp.advertisedRwnd += message[2].length;
        this.#sctp.receive(...message);
      }
    }
  }

  /** Werift holds incomplete messages without bound; the window it announces only asks. */
  #afterPacket(packet: Buffer): void {
    const touched = new Set<number>();
    for (let at = 12; at + 8 < packet.length;) {
      const length = packet.readUInt16BE(at + 2);
      if (packet[at] === DATA) touched.add(packet.readUInt16BE(at + 8));
      if (packet[at] === FORWARD_TSN) for (const stream of this.#held.keys()) touched.add(stream);
      at += length + (-length & 3);
    }
    for (const stream of touched) {
      this.#drain(stream);
      const held = this.#sctp.inboundStreams[stream]?.reassembly.length ?? 0;
      this.#heldChunks += held - (this.#held.get(stream) ?? 0);
      if (held > 0) this.#held.set(stream, held);
      else this.#held.delete(stream);
    }
    if (this.#heldChunks > MAX_HELD_CHUNKS || this.#sctp.advertisedRwnd < -MAX_WINDOW_EXCESS) {
      this.#events.abused('it sends more than the receive window it was given');
    }
  }

  #attempt(work: Promise<void>): void {
    work.catch(() => this.counters.failed++);
  }
}
