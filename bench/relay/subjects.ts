/** The relays that are measured, each as one command. */
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { join } from 'node:path';
import type { TrunkAddress } from '../../protocol/footprint.ts';
import { writeNginxConfig, type Built } from './build.ts';
import type { Protocol } from './measure.ts';
import type { SubjectOptions } from './subject-process.ts';

export interface Ports {
  readonly relay: number;
  readonly trunk: number;
  readonly transceiver: number;
}

export interface Subject {
  readonly name: string;
  /** Processors it is kept to, as taskset has them. */
  readonly cpus: string;
  readonly protocol: Protocol;
  readonly command: (ports: Ports) => Promise<readonly [string, ...string[]]>;
}

const LOOPBACK = '127.0.0.1';

/** The processor of the relay; the load has {@link LOAD_CPU}. */
const RELAY_CPU = '0';
export const LOAD_CPU = '1';

export const SUBJECTS = {
  relay: 'this relay',
  single: 'this relay, frames not joined',
  threads: 'this relay, 2 threads',
  dgram: 'this relay over dgram',
  c: 'C recvmmsg loop',
  go: 'Go relay',
  nginx: 'nginx stream',
  coturn: 'coturn channel data',
} as const;

function at(port: number): TrunkAddress {
  return { address: LOOPBACK, port };
}

/** @returns Those that this machine has. */
export function subjectsOf(built: Built, routingKeys: string): Subject[] {
  const own = (
    name: string,
    options: Pick<SubjectOptions, 'io' | 'threads' | 'trunkMtu'>,
    cpus = RELAY_CPU,
  ): Subject => ({
    name,
    cpus,
    protocol: 'trunk',
    command: async (ports) => {
      const all: SubjectOptions = {
        ...options,
        listener: at(ports.relay),
        trunk: at(ports.trunk),
        transceiver: at(ports.transceiver),
        routingKeys,
      };
      const script = join(import.meta.dirname, 'subject-process.ts');
      return [process.execPath, '--trace-gc', script, JSON.stringify(all)];
    },
  });
  const peer = (name: string, program: string): Subject => ({
    name,
    cpus: RELAY_CPU,
    protocol: 'trunk',
    command: async ({ relay, trunk, transceiver }) => [
      program,
      String(relay),
      String(trunk),
      String(transceiver),
    ],
  });
  const subjects = [
    own(SUBJECTS.relay, { io: 'batched' }),
    // Too small for two frames.
    own(SUBJECTS.single, { io: 'batched', trunkMtu: 1 }),
    own(SUBJECTS.threads, { io: 'batched', threads: 2 }, `${RELAY_CPU},${LOAD_CPU}`),
    own(SUBJECTS.dgram, { io: 'dgram' }),
    peer(SUBJECTS.c, built.loop),
  ];
  if (built.go) subjects.push(peer(SUBJECTS.go, built.go));
  const { nginx } = built;
  if (nginx) {
    subjects.push({
      name: SUBJECTS.nginx,
      cpus: RELAY_CPU,
      protocol: 'raw',
      command: async ({ relay, transceiver }) => [
        nginx,
        '-p',
        built.folder,
        '-c',
        await writeNginxConfig(built.folder, relay, transceiver),
      ],
    });
  }
  const { coturn } = built;
  if (coturn) {
    subjects.push({
      name: SUBJECTS.coturn,
      cpus: RELAY_CPU,
      protocol: 'turn',
      command: async ({ relay }) => [coturn, ...coturnOptions(built.folder, relay)],
    });
  }
  return subjects;
}

/** One thread for all channels, as the others have one for all flows; ports that no client is given. */
function coturnOptions(folder: string, port: number): string[] {
  const log = join(folder, `coturn-${port}.log`);
  const options = `-n -z -m 1 --no-tls --no-dtls --no-tcp --no-tcp-relay --no-cli --no-stdout-log
    --allow-loopback-peers --min-port 20000 --max-port 30000 -L ${LOOPBACK} -E ${LOOPBACK} -p ${port} -l ${log} --simple-log
    -b ${join(folder, 'coturn.db')} --pidfile ${join(folder, `coturn-${port}.pid`)}`;
  return options.trim().split(/\s+/);
}

/** Three ports of loopback that are free now. */
export async function freePorts(): Promise<Ports> {
  const sockets = Array.from({ length: 3 }, () => createSocket('udp4').bind(0, LOOPBACK));
  await Promise.all(sockets.map((socket) => once(socket, 'listening')));
  const [relay, trunk, transceiver] = sockets.map((socket) => socket.address().port);
  await Promise.all(
    sockets.map((socket) => new Promise<void>((done) => socket.close(() => done()))),
  );
  return { relay: relay!, trunk: trunk!, transceiver: transceiver! };
}
