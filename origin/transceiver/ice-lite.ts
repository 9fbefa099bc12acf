/**
 * An ICE-lite agent (RFC 8445 §2.5): it answers checks and never sends one. The client nominates; we
 * answer to where its last valid packet came from, so a client whose relay or NAT changes just moves.
 * The paths it does not use are kept alive, for it to fall back to.
 */
import { randomBytes } from 'node:crypto';
import { Message, classes, methods, parseMessage } from 'werift';
import type { TrunkAddress } from '../../protocol/footprint.ts';
import { isSoundStun } from './stun-guard.ts';
import type { Path, PathOwner, TrunkSocket } from './trunk-socket.ts';

/** Milliseconds without a valid check after which the client's consent has ended (RFC 7675 §5.1). */
export const CONSENT_TIMEOUT = 30_000;

/** Most paths of one session; each network of a client times each relay address makes one. */
export const MAX_PATHS = 16;

/** Checks remembered of a session, against replay: hours of them at a browser's pace. */
const MAX_REMEMBERED_CHECKS = 4_096;

/** Milliseconds of silence after which a selected path yields to one where checks arrive. */
const SILENCE = 3_000;

/** Milliseconds between two keepalives on a path (RFC 8445 §11 asks for no less). */
export const KEEPALIVE = 15_000;

const PASSWORD_BYTES = 24;
const ICE_CHARS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';
const FIRST_OPTIONAL_ATTRIBUTE = 0x8000;

/** A fresh password: 144 bits as 24 ice-chars (RFC 8445 §5.3 asks for 128). */
export function newPassword(): string {
  return Array.from(randomBytes(PASSWORD_BYTES), (byte) => ICE_CHARS[byte % 64]).join('');
}

export interface IceCounters {
  checks: number;
  /** Checks that no valid MESSAGE-INTEGRITY and FINGERPRINT proved, or that were sent again from elsewhere. */
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
  /** Paths of checks by what their transaction ids begin with, oldest first. */
  readonly #checkPaths = new Map<number, string>();
  #selected: Path | undefined;
  #lastCheck: number;
  #lastOnSelected = 0;
  #lastKeepalive = performance.now();

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
    if (!check || this.#isReplay(check, path)) {
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

  /**
   * libwebrtc stops checking the pairs it does not use, and after 30 s of silence forgets them, and
   * with them what it could fall back to. To be called about every second; sends only to the address
   * that consents to our packets.
   */
  keepSpares(): void {
    const now = performance.now();
    if (now - this.#lastKeepalive < KEEPALIVE) return;
    this.#lastKeepalive = now;
    const selected = this.#selected;
    const { bytes } = new Message(methods.BINDING, classes.INDICATION).addFingerprint();
    for (const path of this.#paths.values()) {
      if (path !== selected && path.client.address === selected?.client.address) {
        this.#socket.send(path, bytes);
      }
    }
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
    const check = isSoundStun(packet) ? parseMessage(packet, this.#key) : undefined;
    const keys = check?.attributesKeys ?? [];
    const after = keys.slice(keys.indexOf('MESSAGE-INTEGRITY') + 1);
    const isSealed =
      after.at(-1) === 'FINGERPRINT' &&
      (after.length === 1 || (after.length === 2 && after[0] === 'MESSAGE-INTEGRITY-SHA256'));
    return isSealed ? check : undefined;
  }

  /** True for a check that came by another path before: whoever sees one could take over by sending it. */
  #isReplay(check: Message, path: Path): boolean {
    const id = check.transactionId.readUIntBE(0, 6);
    const before = this.#checkPaths.get(id);
    if (before !== undefined) return before !== path.key;
    if (this.#checkPaths.size >= MAX_REMEMBERED_CHECKS) {
      for (const oldest of this.#checkPaths.keys()) {
        this.#checkPaths.delete(oldest);
        break;
      }
    }
    this.#checkPaths.set(id, path.key);
    return false;
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
    const silent = performance.now() - this.#lastOnSelected > SILENCE;
    if (!selected || path === selected || nominated || silent) this.#select(path);
  }

  #select(path: Path): void {
    const before = this.#selected;
    this.#selected = path;
    this.#lastOnSelected = performance.now();
    if (!before) this.#onFirstPath();
    else if (before !== path) this.counters.moves++;
  }
}
