/** The paths by which a session's proven checks came: few, and the oldest are forgotten first. */
import type { TrunkAddress } from '../../protocol/footprint.ts';
import type { IceGeneration } from './ice-credentials.ts';
import type { Path, PathOwner, TrunkSocket } from './trunk-socket.ts';

/** Most paths of one session; each network of a client times each relay address makes one. */
export const MAX_PATHS = 16;

/** Milliseconds after its last check in which a proven path is no one else's; clients check every 6 s. */
export const PATH_DEFENDED = 15_000;

export interface HeldPath {
  readonly path: Path;
  /** The newest one that had a check by this path. */
  generation: IceGeneration;
  /** In milliseconds of performance.now(). */
  checkedAt: number;
  /** The client has shown to receive there. */
  proven: boolean;
}

export class HeldPaths {
  readonly #socket: TrunkSocket;
  readonly #owner: PathOwner;
  readonly #paths = new Map<string, HeldPath>();

  constructor(socket: TrunkSocket, owner: PathOwner) {
    this.#socket = socket;
    this.#owner = owner;
  }

  get(path: Path): HeldPath | undefined {
    return this.#paths.get(path.key);
  }

  [Symbol.iterator](): Iterator<HeldPath> {
    return this.#paths.values();
  }

  /** Whether a path is in use by its client, so that no other session may take it. */
  defends(path: Path): boolean {
    const held = this.#paths.get(path.key);
    return held?.proven === true && performance.now() - held.checkedAt < PATH_DEFENDED;
  }

  /**
   * A proven check came by this path. Undefined when another session defends it.
   *
   * @param kept Those that must not be forgotten to make room.
   */
  hold(
    path: Path,
    generation: IceGeneration,
    kept: readonly (HeldPath | undefined)[],
  ): HeldPath | undefined {
    const known = this.#paths.get(path.key);
    if (!this.#socket.claim(known?.path ?? path, this.#owner)) return undefined;
    const checkedAt = performance.now();
    if (known) {
      known.path.source = path.source;
      known.checkedAt = checkedAt;
      return known;
    }
    const held = { path, generation, checkedAt, proven: this.#receivesAt(path.client) };
    this.#paths.set(path.key, held);
    if (this.#paths.size > MAX_PATHS) this.#forgetOldest([...kept, held]);
    return held;
  }

  release(): void {
    for (const { path } of this.#paths.values()) this.#socket.release(path, this.#owner);
    this.#paths.clear();
  }

  /** Another relay may lead to an address that is proven. */
  #receivesAt({ address, port }: TrunkAddress): boolean {
    for (const { proven, path } of this.#paths.values()) {
      if (proven && path.client.address === address && path.client.port === port) return true;
    }
    return false;
  }

  #forgetOldest(kept: readonly (HeldPath | undefined)[]): void {
    for (const held of this.#paths.values()) {
      if (kept.includes(held)) continue;
      this.#paths.delete(held.path.key);
      this.#socket.release(held.path, this.#owner);
      return;
    }
  }
}
