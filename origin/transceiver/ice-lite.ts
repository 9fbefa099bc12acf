/**
 * An ICE-lite agent (RFC 8445 §2.5): it answers checks and never sends one. The client nominates; we
 * answer to where its last valid packet came from, so a client whose relay or NAT changes just moves.
 */
import { randomBytes } from 'node:crypto';
import { Message, classes, methods, parseMessage } from 'werift';
import type { TrunkAddress } from '../../protocol/footprint.ts';
import type { Path, PathOwner, TrunkSocket } from './trunk-socket.ts';

/** Milliseconds without a valid check after which the client's consent has ended (RFC 7675 §5.1). */
export const CONSENT_TIMEOUT = 30_000;

/** Most paths of one session; each network of a client times each relay address makes one. */
export const MAX_PATHS = 16;

/** Milliseconds of silence after which a selected path yields to one where checks arrive. */
const SILENCE = 3_000;

const PASSWORD_BYTES = 24;
const ICE_CHARS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';
const FIRST_OPTIONAL_ATTRIBUTE = 0x8000;

/** A fresh password: 144 bits as 24 ice-chars (RFC 8445 §5.3 asks for 128). */
export function newPassword(): string {
  return Array.from(randomBytes(PASSWORD_BYTES), (byte) => ICE_CHARS[byte % 64]).join('');
}

export interface IceCounters {
  checks: number;
  /** Checks that no valid MESSAGE-INTEGRITY and FINGERPRINT proved. */
  unproven: number;
  roleConflicts: number;
  /** How often media moved to another path. */
  moves: number;
}

export class IceLite {
  readonly counters: IceCounters = { checks: 0, unproven: 0, roleConflicts: 0, moves: 0 };
  readonly #ufrag: string;
  readonly #key: Buffer;
  readonly #socket: TrunkSocket;
  readonly #owner: PathOwner;
  readonly #onFirstPath: () => void;
  readonly #paths = new Map<string, Path>();
  #selected: Path | undefined;
  #lastCheck: number;
  #lastOnSelected = 0;

  /** @param onFirstPath Called once, when the first check is proven and packets can be sent. */
  constructor(
    ufrag: string,
    password: string,
    socket: TrunkSocket,
    owner: PathOwner,
    onFirstPath: () => void,
  ) {
    this.#ufrag = ufrag;
    this.#key = Buffer.from(password);
    this.#socket = socket;
    this.#owner = owner;
    this.#onFirstPath = onFirstPath;
    this.#lastCheck = performance.now();
    socket.register(ufrag, owner);
  }

  /** Where packets go to now. */
  get selected(): Path | undefined {
    return this.#selected;
  }

  /** False when the client has not proven for too long that it wants our packets. */
  hasConsent(): boolean {
    return performance.now() - this.#lastCheck < CONSENT_TIMEOUT;
  }

  /** Answers a check when it is proven; an unproven one leaves no trace but a count. */
  onCheck(packet: Buffer, path: Path): void {
    const check = this.#prove(packet);
    if (!check) {
      this.counters.unproven++;
      return;
    }
    this.counters.checks++;
    this.#lastCheck = performance.now();
    const keys = check.attributesKeys;
    const unknown = check.unknownAttributeTypes.filter((type) => type < FIRST_OPTIONAL_ATTRIBUTE);
    if (unknown.length > 0) {
      // RFC 8489 §6.3.1
      const error = this.#reply(check, classes.ERROR);
      error.setAttribute('ERROR-CODE', [420, 'Unknown Attribute']);
      this.#send(path, error.setAttribute('UNKNOWN-ATTRIBUTES', unknown));
      return;
    }
    if (keys.includes('ICE-CONTROLLED')) {
      // A lite agent never controls (RFC 8445 §6.1.1), so the client must take the role back.
      this.counters.roleConflicts++;
      const error = this.#reply(check, classes.ERROR);
      this.#send(path, error.setAttribute('ERROR-CODE', [487, 'Role Conflict']));
      return;
    }
    const known = this.#hold(path);
    const success = this.#reply(check, classes.RESPONSE);
    const { address, port } = known.client;
    this.#send(known, success.setAttribute('XOR-MAPPED-ADDRESS', [address, port]));
    this.#considerPath(known, keys.includes('USE-CANDIDATE'));
  }

  /** An authenticated packet, newer than others as far as can be told, came by this path. */
  onProvenPacket(path: Path, source: TrunkAddress): void {
    if (this.#paths.get(path.key) !== path) return;
    path.source = source;
    this.#select(path);
  }

  send(packet: Uint8Array): void {
    if (this.#selected) this.#socket.send(this.#selected, packet);
  }

  close(): void {
    this.#socket.unregister(this.#ufrag);
    for (const path of this.#paths.values()) this.#socket.release(path, this.#owner);
    this.#paths.clear();
    this.#selected = undefined;
  }

  /** Only what stands before MESSAGE-INTEGRITY is proven, so nothing but FINGERPRINT may follow it. */
  #prove(packet: Buffer): Message | undefined {
    const check = parseMessage(packet, this.#key);
    const keys = check?.attributesKeys ?? [];
    const after = keys.slice(keys.indexOf('MESSAGE-INTEGRITY') + 1);
    const isSealed =
      after.at(-1) === 'FINGERPRINT' &&
      (after.length === 1 || (after.length === 2 && after[0] === 'MESSAGE-INTEGRITY-SHA256'));
    return isSealed ? check : undefined;
  }

  #reply(check: Message, messageClass: classes): Message {
    return new Message(methods.BINDING, messageClass, check.transactionId);
  }

  #send(path: Path, message: Message): void {
    this.#socket.send(path, message.addMessageIntegrity(this.#key).addFingerprint().bytes);
  }

  #hold(path: Path): Path {
    const known = this.#paths.get(path.key);
    if (known) {
      known.source = path.source;
      this.#socket.claim(known, this.#owner);
      return known;
    }
    this.#paths.set(path.key, path);
    this.#socket.claim(path, this.#owner);
    if (this.#paths.size > MAX_PATHS) this.#forgetOldest();
    return path;
  }

  #forgetOldest(): void {
    for (const path of this.#paths.values()) {
      if (path === this.#selected) continue;
      this.#paths.delete(path.key);
      this.#socket.release(path, this.#owner);
      return;
    }
  }

  #considerPath(path: Path, nominated: boolean): void {
    const selected = this.#selected;
    const sameClient =
      selected?.client.address === path.client.address && selected.client.port === path.client.port;
    const silent = performance.now() - this.#lastOnSelected > SILENCE;
    if (!selected || path === selected || nominated || sameClient || silent) this.#select(path);
  }

  #select(path: Path): void {
    const before = this.#selected;
    this.#selected = path;
    this.#lastOnSelected = performance.now();
    if (!before) this.#onFirstPath();
    else if (before !== path) this.counters.moves++;
  }
}
