/**
 * An ICE-lite agent (RFC 8445 §2.5): it gathers nothing and answers checks. The client nominates; we
 * answer to where its last valid packet came from, so a client whose relay or NAT changes just moves,
 * once it has shown to receive there. The paths it does not use are kept alive, for it to fall back to.
 */
import type { TrunkAddress } from '../../protocol/footprint.ts';
import { CheckReplays } from './check-replays.ts';
import { HeldPaths, type HeldPath } from './held-paths.ts';
import { newGeneration, type IceCredentials, type IceGeneration } from './ice-credentials.ts';
import { keepalive, proven, refusal, success } from './ice-messages.ts';
import { PathProbe } from './path-probe.ts';
import type { Path, PathOwner, TrunkSocket } from './trunk-socket.ts';
import { UnprovenBudget } from './unproven-budget.ts';

/**
 * Milliseconds without a valid check after which the client's consent has ended (RFC 7675 §5.1). A lite
 * agent asks for none: that the client checks says that it is there and wants our packets, and the
 * proof of the path says that it is where they go.
 */
export const CONSENT_TIMEOUT = 30_000;

/** Milliseconds of silence after which a selected path yields to one where checks arrive. */
const SILENCE = 3_000;

/** Milliseconds between two keepalives on a path (RFC 8445 §11 asks for no less). */
export const KEEPALIVE = 15_000;

export interface IceCounters {
  checks: number;
  /** Checks that no valid MESSAGE-INTEGRITY and FINGERPRINT proved. */
  unproven: number;
  /** Proven checks that were sent again from elsewhere. */
  replayed: number;
  /** Proven checks by a path that another session holds. */
  contested: number;
  /** Proven checks with attributes that we do not know and should, or with our role. */
  refused: number;
  restarts: number;
  /** How often media moved to another path. */
  moves: number;
  /** Checks of our own. */
  probes: number;
  /** Packets not sent, since the client had not shown to receive there. */
  withheld: number;
}

export class IceLite {
  readonly counters: IceCounters = {
    checks: 0,
    unproven: 0,
    replayed: 0,
    contested: 0,
    refused: 0,
    restarts: 0,
    moves: 0,
    probes: 0,
    withheld: 0,
  };
  readonly #socket: TrunkSocket;
  readonly #owner: PathOwner;
  readonly #onFirstPath: () => void;
  readonly #paths: HeldPaths;
  readonly #replays = new CheckReplays();
  readonly #budget = new UnprovenBudget();
  #current: IceGeneration;
  /** That of before the last restart, good until the next. */
  #previous: IceGeneration | undefined;
  #selected: HeldPath | undefined;
  /** A path that is to be proven, selected already or to be so then. */
  #probed: { readonly held: HeldPath; readonly probe: PathProbe } | undefined;
  #lastCheck: number;
  #lastOnSelected = 0;
  #lastKeepalive = performance.now();

  /**
   * @param ufrag The routed one, by which relays find us.
   * @param client What the client's offer says.
   * @param onFirstPath Called once, when the first check is proven and packets can be sent.
   */
  constructor(
    ufrag: string,
    client: IceCredentials,
    socket: TrunkSocket,
    owner: PathOwner,
    onFirstPath: () => void,
  ) {
    this.#current = newGeneration(ufrag, client);
    this.#socket = socket;
    this.#owner = owner;
    this.#paths = new HeldPaths(socket, owner);
    this.#onFirstPath = onFirstPath;
    this.#lastCheck = performance.now();
    socket.register(ufrag, owner);
  }

  /** What the client is to check with. */
  get own(): IceCredentials {
    return this.#current.own;
  }

  /** What the client has told last. */
  get client(): IceCredentials {
    return this.#current.client;
  }

  /** Where packets go to now. */
  get selected(): Path | undefined {
    return this.#selected?.path;
  }

  /** False when the client has not proven for too long that it wants our packets. */
  hasConsent(): boolean {
    return performance.now() - this.#lastCheck < CONSENT_TIMEOUT;
  }

  /**
   * Begins a new generation (RFC 8445 §9). Packets go on by the selected path until the client nominates
   * one of the new generation; the generation before stays good until the next restart.
   */
  restart(ufrag: string, client: IceCredentials): void {
    if (this.#previous) this.#socket.unregister(this.#previous.own.ufrag);
    this.#previous = this.#current;
    this.#current = newGeneration(ufrag, client);
    this.#socket.register(ufrag, this.#owner);
    this.counters.restarts++;
  }

  /**
   * Answers a check when it is proven; an unproven one leaves no trace but a count.
   *
   * @param ufrag The one of ours that it names.
   */
  onCheck(packet: Buffer, path: Path, ufrag: string): void {
    const generation = [this.#current, this.#previous].find((it) => it?.own.ufrag === ufrag);
    const check = generation && proven(packet, generation.key);
    if (!check) {
      this.counters.unproven++;
      return;
    }
    if (this.#replays.isReplay(check.transactionId, path.key)) {
      this.counters.replayed++;
      return;
    }
    this.counters.checks++;
    const now = performance.now();
    this.#lastCheck = now;
    const refused = refusal(check, generation.key);
    if (refused) {
      this.counters.refused++;
      this.#socket.send(path, refused);
      return;
    }
    const held = this.#hold(path, generation);
    if (!held) {
      this.counters.contested++;
      return;
    }
    this.#socket.send(held.path, success(check, generation.key, held.path.client));
    this.#consider(held, check.attributesKeys.includes('USE-CANDIDATE'), now);
  }

  /** A success response came by this path, maybe the answer to a check of our own. */
  onAnswer(packet: Buffer, path: Path): void {
    const probed = this.#probed;
    if (!probed || probed.held.path !== path || !probed.probe.isAnsweredBy(packet)) return;
    this.#probed = undefined;
    probed.held.proven = true;
    this.#select(probed.held);
  }

  /** An authenticated packet, newer than others as far as can be told, came by this path. */
  onProvenPacket(path: Path, source: TrunkAddress): void {
    const held = this.#paths.get(path);
    if (held?.path !== path) return;
    const { address, port } = source;
    if (path.source.port !== port || path.source.address !== address)
      path.source = { address, port };
    this.#want(held);
  }

  /** The DTLS handshake is done: who got all of it receives where all of it went. */
  onSecured(): void {
    if (this.#selected && this.counters.moves === 0) this.#selected.proven = true;
  }

  /** Whether a path is in use by its client, so that no other session may take it. */
  defends(path: Path): boolean {
    return this.#paths.defends(path);
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
    const bytes = keepalive();
    for (const held of this.#paths) {
      const isSpare = held.path.client.address === selected?.path.client.address;
      if (held !== selected && isSpare) this.#socket.send(held.path, bytes);
    }
  }

  /** Sends by the selected path, and by one that is about to be. */
  send(packet: Uint8Array): void {
    const selected = this.#selected;
    if (!selected) return;
    this.#sendBy(selected, packet);
    const next = this.#probed?.held;
    if (next && next !== selected) this.#sendBy(next, packet);
  }

  close(): void {
    this.#socket.unregister(this.#current.own.ufrag);
    if (this.#previous) this.#socket.unregister(this.#previous.own.ufrag);
    this.#paths.release();
    this.#selected = undefined;
    this.#probed = undefined;
  }

  #sendBy(held: HeldPath, packet: Uint8Array): void {
    if (held.proven || this.#budget.takePacket()) this.#socket.send(held.path, packet);
    else this.counters.withheld++;
  }

  /** A newer generation takes a path over; an older one leaves it as it is. */
  #hold(path: Path, generation: IceGeneration): HeldPath | undefined {
    const held = this.#paths.hold(path, generation, [this.#selected, this.#probed?.held]);
    if (held && generation === this.#current) held.generation = generation;
    return held;
  }

  #consider(held: HeldPath, nominated: boolean, now: number): void {
    const selected = this.#selected;
    const isSilent = now - this.#lastOnSelected > SILENCE;
    // What was nominated before a restart is not what the client wants after it.
    const isOutdated = selected && this.#isNewer(selected.generation, held.generation);
    const isWanted = nominated && !isOutdated;
    if (!selected || isWanted || isSilent) this.#want(held);
    else if (held === selected) {
      this.#lastOnSelected = now;
      if (!held.proven) this.#want(held);
    }
  }

  #isNewer(one: IceGeneration, other: IceGeneration): boolean {
    return one !== other && one === this.#current;
  }

  /** Selects a path, at once if it is proven or nothing else is, and else once it is. */
  #want(held: HeldPath): void {
    const selected = this.#selected;
    if (!selected || held.proven || !selected.proven) this.#select(held);
    // All of a handshake by one path proves it, so the first needs no check.
    if (held.proven || (held === selected && this.counters.moves === 0)) return;
    if (selected) this.#probe(held);
  }

  #probe(held: HeldPath): void {
    if (this.#probed?.held !== held) this.#probed = { held, probe: new PathProbe(held.generation) };
    const { probe } = this.#probed;
    if (!probe.isDue()) return;
    if (!this.#budget.takeProbe()) return;
    this.counters.probes++;
    this.#socket.send(held.path, probe.packet);
  }

  #select(held: HeldPath): void {
    const before = this.#selected;
    this.#selected = held;
    this.#lastOnSelected = performance.now();
    if (held.proven) this.#probed = undefined;
    if (!before) this.#onFirstPath();
    else if (before !== held) this.counters.moves++;
  }
}
