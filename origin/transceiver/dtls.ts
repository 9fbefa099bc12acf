/** DTLS 1.2 (RFC 6347) with the SRTP extension (RFC 5764), one endpoint per session, by OpenSSL. */
import type { DtlsContext } from './dtls-context.ts';
import {
  carriesNews,
  noDtlsDrops,
  recordSequence,
  wantedRecords,
  type DtlsDrops,
  type DtlsRole,
} from './dtls-records.ts';
import { DIGESTS, type Fingerprint } from './fingerprint.ts';
import { countNative } from './native-objects.ts';
import { openSsl, type OpenSsl, type Pointer } from './openssl.ts';
import { ReplayWindow } from './replay.ts';

/** Bytes of the largest datagram, under 1160: VPNs and tunnels take their share of the path's MTU. */
export const DTLS_MTU = 1_158;

const EXPORTER_LABEL = 'EXTRACTOR-dtls_srtp';

// Numbers from OpenSSL's ssl.h and dtls1.h.
const SSL_ERROR_SSL = 1;
const SSL_ERROR_WANT_READ = 2;
const SSL_ERROR_ZERO_RETURN = 6;
const SSL_CTRL_SET_MTU = 17;
const DTLS_CTRL_GET_TIMEOUT = 73;
const DTLS_CTRL_HANDLE_TIMEOUT = 74;

/** Holds one record or datagram between OpenSSL and the copy made of it. */
const scratch = Buffer.alloc(16_384);

/** What the handshake agreed on for SRTP (RFC 5764 §4.2). */
export interface SrtpKeys {
  /** IANA number of the profile: 7 AEAD_AES_128_GCM, 1 AES128_CM_HMAC_SHA1_80. */
  readonly profile: 1 | 7;
  readonly localKey: Buffer;
  readonly localSalt: Buffer;
  readonly remoteKey: Buffer;
  readonly remoteSalt: Buffer;
}
const SALT_LENGTHS = { 1: 14, 7: 12 } as const;
const KEY_LENGTH = 16;

export type DtlsEnd = 'client-hangup' | 'dtls-failed';

export interface DtlsEvents {
  send(datagram: Buffer): void;
  /** The peer has proven the fingerprint; no keys when it chose no SRTP profile. */
  connected(keys: SrtpKeys | undefined): void;
  data(message: Buffer): void;
  /**
   * Over by the peer's close_notify or a failure; called at most once and never after close().
   *
   * @param detail What went wrong, for the log.
   */
  closed(reason: DtlsEnd, detail?: string): void;
}

export class DtlsEndpoint {
  readonly #openssl: OpenSsl = openSsl();
  /** Records that went no further, by reason. */
  readonly drops: DtlsDrops = noDtlsDrops();
  readonly #context: DtlsContext;
  readonly #role: DtlsRole;
  readonly #fingerprints: readonly Fingerprint[];
  readonly #events: DtlsEvents;
  readonly #window = new ReplayWindow();
  #ssl: Pointer | undefined;
  #in!: Pointer;
  #out!: Pointer;
  /** A flight of ours is on its way, made for what the peer sent. */
  #hasAnswered = false;
  #state: 'handshake' | 'connected' | 'closed' = 'handshake';
  #timer: NodeJS.Timeout | undefined;

  /**
   * @param role `client` sends the first flight on start(), `server` waits for it.
   * @param fingerprints What the peer announced; its certificate must have one of them.
   */
  constructor(
    context: DtlsContext,
    role: DtlsRole,
    fingerprints: readonly Fingerprint[],
    events: DtlsEvents,
  ) {
    this.#context = context;
    this.#role = role;
    this.#fingerprints = fingerprints;
    this.#events = events;
    this.#open();
  }

  #open(): void {
    const ssl = this.#openssl;
    this.#ssl = this.#context.newSsl();
    countNative('dtls-endpoint', 1);
    this.#in = ssl.pointer('BIO_new', ssl.pointer('BIO_s_dgram_mem'));
    this.#out = ssl.pointer('BIO_new', ssl.pointer('BIO_s_dgram_mem'));
    ssl.call('SSL_set_bio', this.#ssl, this.#in, this.#out);
    const state = this.#role === 'client' ? 'SSL_set_connect_state' : 'SSL_set_accept_state';
    ssl.call(state, this.#ssl);
    ssl.call('SSL_ctrl', this.#ssl, SSL_CTRL_SET_MTU, DTLS_MTU, null);
    ssl.call('DTLS_set_timer_cb', this.#ssl, ssl.retransmissionTimer);
  }

  start(): void {
    if (this.#role === 'client') this.#advance();
  }

  /** Takes one datagram from the peer. Total: nothing in it can throw. */
  receive(datagram: Buffer): void {
    const established = this.#state === 'connected';
    for (const records of wantedRecords(datagram, this.#role, established, this.drops)) {
      if (!this.#ssl) return;
      if (established) this.#receiveRecord(records);
      else this.#take(records);
    }
  }

  /** OpenSSL drops replays and forgeries in silence, so whoever wants to count them looks at what comes out. */
  #receiveRecord(record: Buffer): void {
    const sequence = recordSequence(record);
    if (!this.#window.isNew(sequence)) {
      this.drops.replayed++;
      return;
    }
    if (this.#take(record) > 0) this.#window.accept(sequence);
    else if (this.#ssl && carriesNews(record)) this.drops['not-authentic']++;
  }

  /** How many messages came out. */
  #take(records: Buffer): number {
    this.#openssl.call('BIO_write', this.#in, records, records.length);
    return this.#advance();
  }

  /** Sends one message as one record; nothing happens before the handshake is done or after the end. */
  send(message: Buffer): void {
    if (!this.#ssl || this.#state !== 'connected') return;
    this.#openssl.call('SSL_write', this.#ssl, message, message.length);
    this.#flush();
  }

  /** Says goodbye (close_notify) when connected, and frees everything. */
  close(): void {
    if (!this.#ssl) return;
    if (this.#state === 'connected') {
      this.#openssl.call('SSL_shutdown', this.#ssl);
      this.#flush();
    }
    this.#free();
  }

  #advance(): number {
    // SSL_get_error reads the thread's error queue, in which others may have left something.
    this.#openssl.call('ERR_clear_error');
    if (this.#state === 'handshake') this.#handshake();
    return this.#state === 'connected' ? this.#read() : 0;
  }

  #handshake(): void {
    const result = this.#openssl.call('SSL_do_handshake', this.#ssl!);
    const error = result === 1 ? 0 : this.#openssl.call('SSL_get_error', this.#ssl!, result);
    if (result === 1 && !this.#isProven()) {
      this.#free();
      const detail = 'the certificate of the peer has not the fingerprint of its offer';
      this.#events.closed('dtls-failed', detail);
      return;
    }
    const failed = result !== 1 && error !== SSL_ERROR_WANT_READ;
    if (failed && this.#role === 'server' && !this.#hasAnswered) {
      this.#waitAnew();
      return;
    }
    this.#flush();
    if (result === 1) {
      clearTimeout(this.#timer);
      this.#state = 'connected';
      this.#events.connected(this.#srtpKeys());
    } else if (error === SSL_ERROR_WANT_READ) {
      this.#schedule();
    } else {
      this.#fail(
        'dtls-failed',
        `DTLS handshake: ${this.#openssl.takeErrors() || 'ended by the peer'}`,
      );
    }
  }

  /** A hello that cannot be answered may be spoofed: no alert, and the peer's own may still come. */
  #waitAnew(): void {
    this.drops['refused-hello']++;
    this.#freeSsl();
    this.#open();
  }

  #read(): number {
    let messages = 0;
    while (this.#ssl) {
      const length = this.#openssl.call('SSL_read', this.#ssl, scratch, scratch.length);
      if (length > 0) {
        messages++;
        this.#events.data(Buffer.from(scratch.subarray(0, length)));
        continue;
      }
      const error = this.#openssl.call('SSL_get_error', this.#ssl, length);
      this.#flush();
      if (error === SSL_ERROR_ZERO_RETURN) this.#fail('client-hangup');
      else if (error === SSL_ERROR_SSL)
        this.#fail('dtls-failed', `DTLS: ${this.#openssl.takeErrors()}`);
      break;
    }
    return messages;
  }

  #flush(): void {
    for (let length = this.#pull(); length > 0; length = this.#pull()) {
      this.#hasAnswered = true;
      this.#events.send(Buffer.from(scratch.subarray(0, length)));
    }
  }

  #pull(): number {
    return this.#openssl.call('BIO_read', this.#out, scratch, scratch.length);
  }

  /** Lost flights are sent again when OpenSSL's timer says so (RFC 6347 §4.2.4). */
  #schedule(): void {
    clearTimeout(this.#timer);
    const timeval = Buffer.alloc(16);
    const runs = this.#openssl.call('SSL_ctrl', this.#ssl!, DTLS_CTRL_GET_TIMEOUT, 0, timeval);
    if (runs !== 1) return;
    const wait =
      Number(timeval.readBigInt64LE(0)) * 1000 + Number(timeval.readBigInt64LE(8)) / 1000;
    this.#timer = setTimeout(() => this.#retransmit(), Math.ceil(wait));
  }

  #retransmit(): void {
    if (!this.#ssl || this.#state !== 'handshake') return;
    if (this.#openssl.call('SSL_ctrl', this.#ssl, DTLS_CTRL_HANDLE_TIMEOUT, 0, null) < 0) {
      this.#fail('dtls-failed', `DTLS handshake: no answer; ${this.#openssl.takeErrors()}`);
      return;
    }
    this.#flush();
    this.#schedule();
  }

  #isProven(): boolean {
    const certificate = this.#openssl.pointer('SSL_get1_peer_certificate', this.#ssl!);
    try {
      return this.#fingerprints.some(({ hash, digest }) => {
        const { name, length } = DIGESTS[hash];
        const actual = Buffer.alloc(length);
        const evp = this.#openssl.pointer(name);
        const written = Buffer.alloc(4);
        return (
          this.#openssl.call('X509_digest', certificate, evp, actual, written) === 1 &&
          actual.equals(digest)
        );
      });
    } finally {
      this.#openssl.call('X509_free', certificate);
    }
  }

  #srtpKeys(): SrtpKeys | undefined {
    const ssl = this.#openssl;
    const profile = ssl.srtpProfile(this.#ssl!);
    if (profile !== 1 && profile !== 7) return undefined;
    const salt = SALT_LENGTHS[profile];
    const material = Buffer.alloc(2 * (KEY_LENGTH + salt));
    const exported = ssl.call(
      'SSL_export_keying_material',
      this.#ssl!,
      material,
      material.length,
      EXPORTER_LABEL,
      EXPORTER_LABEL.length,
      null,
      0,
      0,
    );
    if (exported !== 1) return undefined;
    // Order in RFC 5764 §4.2: client key, server key, client salt, server salt.
    const part = (from: number, length: number) => material.subarray(from, from + length);
    const salts = 2 * KEY_LENGTH;
    const client = { key: part(0, KEY_LENGTH), salt: part(salts, salt) };
    const server = { key: part(KEY_LENGTH, KEY_LENGTH), salt: part(salts + salt, salt) };
    const [local, remote] = this.#role === 'client' ? [client, server] : [server, client];
    return {
      profile,
      localKey: local.key,
      localSalt: local.salt,
      remoteKey: remote.key,
      remoteSalt: remote.salt,
    };
  }

  #fail(reason: DtlsEnd, detail?: string): void {
    if (!this.#ssl) return;
    this.#flush();
    this.#free();
    this.#events.closed(reason, detail);
  }

  #free(): void {
    this.#state = 'closed';
    this.#freeSsl();
  }

  /** Frees the BIOs along with it. */
  #freeSsl(): void {
    clearTimeout(this.#timer);
    this.#openssl.call('SSL_free', this.#ssl!);
    this.#ssl = undefined;
    countNative('dtls-endpoint', -1);
    this.#openssl.call('ERR_clear_error');
  }
}
