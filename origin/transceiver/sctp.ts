/**
 * Data channels of one session (RFC 8831, RFC 8832): werift's SCTP over our DTLS, behind a guard. The
 * client opens the channels.
 */
import { RTCSctpTransport, type RTCDataChannel } from 'werift';
import { MAX_MESSAGE_SIZE } from './answer.ts';
import type { OfferedData } from './offer.ts';
import { boundInbound, countHeaders, flushOnce } from './sctp-bounds.ts';
import { MAX_TSN_AHEAD, isSoundSctp } from './sctp-guard.ts';
import {
  dtlsBelow,
  sctpInternals,
  transportInternals,
  type InboundStream,
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

/** Messages and chunks that wait to be sent or acknowledged; what comes on top is dropped. */
export const MAX_WAITING = 8_192;

/** Chunks and bytes of messages that are still incomplete; the window we announce is 1 MiB. */
export const MAX_HELD_CHUNKS = 2_048;
const MAX_WINDOW_EXCESS = 131_072;

/** Streams whose reset the client may leave waiting for its answer. */
const MAX_RESETS = 1_024;

// Payload protocol identifiers (RFC 8831 §8).
const DCEP = 50;
const STRING_EMPTY = 56;
const BINARY_EMPTY = 57;
const DCEP_OPEN = 3;

export interface DataEvents {
  /** Sends one SCTP packet. */
  send(packet: Buffer): void;
  established(): void;
  /** A channel of the client can be sent on from now on. */
  opened(label: string): void;
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
  /** Channels with messages that wait; one that the client has closed since still counts. */
  readonly #buffering = new Set<RTCDataChannel>();
  #open = true;

  constructor({ sctpPort, maxMessageSize }: OfferedData, events: DataEvents) {
    this.#events = events;
    this.#transport = new RTCSctpTransport(sctpPort, MAX_MESSAGE_SIZE, { mtu: SCTP_MTU });
    this.#guardMessages();
    flushOnce(this.#transport, (work) => this.#attempt(work));
    this.#transport.setDtlsTransport(dtlsBelow((packet) => events.send(packet)));
    this.#transport.setRemoteMaxMessageSize(maxMessageSize);
    this.#transport.onDataChannel.subscribe((channel) => this.#onChannel(channel));
    this.#transport.sctp.stateChanged.connected.subscribe(() => events.established());
    this.#sctp = sctpInternals(this.#transport);
    this.#sctp.rto = FIRST_RTO;
    boundInbound(this.#sctp);
    countHeaders(this.#sctp);
    this.#attempt(this.#transport.start(sctpPort));
  }

  /** Takes one SCTP packet. Total: nothing in it can throw or reject. */
  receive(packet: Buffer): void {
    if (!this.#open) return;
    if (!isSoundSctp(packet, this.#sctp)) {
      this.counters.refused++;
      return;
    }
    this.#attempt(this.#sctp.handleData(packet).finally(() => this.#afterPacket()));
  }

  /** Whether there is an open channel of that label. */
  has(label: string): boolean {
    return this.#open && this.#channel(label) !== undefined;
  }

  /** Sends on the open channel of that label; counts what cannot be sent. */
  send(label: string, data: string | Uint8Array): void {
    const channel = this.#channel(label);
    if (!this.#open || !channel || this.#isFull()) {
      this.counters.unsent++;
      return;
    }
    this.#buffering.add(channel);
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

  #channel(label: string): RTCDataChannel | undefined {
    const channels = Object.values(this.#transport.dataChannels);
    return channels.find((it) => it.label === label && it.readyState === 'open');
  }

  #onChannel(channel: RTCDataChannel): void {
    channel.onMessage.subscribe((data) => {
      this.counters.messagesIn++;
      this.#events.message(channel.label, data);
    });
    channel.stateChange.subscribe((state) => {
      // Its acknowledgement goes first: werift queues that right after this.
      if (state === 'open') queueMicrotask(() => this.#onOpened(channel));
    });
  }

  #onOpened(channel: RTCDataChannel): void {
    if (this.#open && channel.readyState === 'open') this.#events.opened(channel.label);
  }

  #waiting(): number {
    const { outboundQueue, sentQueue } = this.#sctp;
    const { dataChannelQueue } = transportInternals(this.#transport);
    return dataChannelQueue.length + outboundQueue.length + sentQueue.length;
  }

  #isFull(): boolean {
    let bytes = 0;
    for (const channel of this.#buffering) {
      bytes += channel.bufferedAmount;
      if (channel.bufferedAmount === 0) this.#buffering.delete(channel);
    }
    return bytes > MAX_BUFFERED || this.#waiting() >= MAX_WAITING;
  }

  /** An open channel stays what it is, and none opens whose acknowledgement could not leave. */
  #mayOpen(stream: number): boolean {
    const channels = this.#transport.dataChannels;
    const hasPlace = !(stream in channels) && Object.keys(channels).length < MAX_CHANNELS;
    return hasPlace && this.#waiting() < MAX_WAITING + MAX_CHANNELS;
  }

  /** Werift lets what it throws on a message become an unhandled rejection, and opens without end. */
  #guardMessages(): void {
    const internals = transportInternals(this.#transport);
    const receive = internals.datachannelReceive.bind(internals);
    internals.datachannelReceive = async (stream, protocol, data) => {
      const opens = protocol === DCEP && data[0] === DCEP_OPEN;
      if (opens && !this.#mayOpen(stream)) return;
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
  #drain(inbound: InboundStream): void {
    for (let before = 0; inbound.reassembly.length !== before;) {
      before = inbound.reassembly.length;
      for (const message of inbound.popMessages()) {
        this.#sctp.advertisedRwnd += message[2].length;
        this.#sctp.receive(...message);
      }
    }
  }

  /** Werift holds incomplete messages without bound; the window it announces only asks. */
  #afterPacket(): void {
    let held = 0;
    for (const inbound of Object.values(this.#sctp.inboundStreams)) {
      if (!inbound?.reassembly.length) continue;
      this.#drain(inbound);
      held += inbound.reassembly.length;
    }
    const { advertisedRwnd, sackMisOrdered, reconfigQueue } = this.#sctp;
    if (held > MAX_HELD_CHUNKS || advertisedRwnd < -MAX_WINDOW_EXCESS) {
      this.#events.abused('it sends more than the receive window it was given');
    } else if (sackMisOrdered.size > MAX_TSN_AHEAD) {
      this.#events.abused('it starts anew again and again');
    } else if (reconfigQueue.length > MAX_RESETS) {
      this.#events.abused('it answers no stream resets');
    }
  }

  #attempt(work: Promise<void>): void {
    work.catch(() => this.counters.failed++);
  }
}
