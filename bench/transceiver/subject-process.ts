/** What is measured, in a process of its own: `node subject-process.ts own|stock`, driven by IPC. */
import { randomBytes } from 'node:crypto';
import { pino } from 'pino';
import { RTCPeerConnection, RTCRtpCodecParameters } from 'werift';
import { echo } from '../../origin/backend/echo.ts';
import { liveDtlsObjects } from '../../origin/transceiver/dtls-context.ts';
import { startTransceiver } from '../../origin/transceiver/transceiver.ts';

/** Sessions that this transceiver takes, so that no bench reaches the bound. */
const CAPACITY = 10_000;
/** Milliseconds that a session may last. */
const LIFETIME = 3_600_000;
const TENANT = 'bench';
const LOOPBACK = '127.0.0.1';

/** Looks at whether a stock connection is there, in milliseconds. */
const POLL = 5;

export type SubjectName = 'own' | 'stock';

export interface Usage {
  /**
   * Microseconds of processor time so far, as the question came and as it was answered: the collection
   * in between is the bench's, so a span goes from one's `answered` to the next one's `asked`.
   */
  readonly cpu: { readonly asked: number; readonly answered: number };
  /** Bytes after a collection. */
  readonly heap: number;
  readonly resident: number;
  readonly sessions: number;
  /** Objects of OpenSSL that are not freed. */
  readonly native: number;
}

export interface Created {
  readonly answer: string;
  /** UDP port that takes trunk frames, or the connection's own packets. */
  readonly port: number;
}

export type Question = { readonly id: number } & (
  | { readonly ask: 'create'; readonly offer: string }
  | { readonly ask: 'usage' }
  | { readonly ask: 'endAll' }
);

interface Subject {
  create(offer: string): Promise<Created>;
  endAll(): Promise<void>;
  sessions(): number;
}

async function ownSubject(): Promise<Subject> {
  const transceiver = await startTransceiver({
    id: 1,
    trunk: { address: LOOPBACK, port: 0 },
    peers: ['127.0.0.0/8'],
    capacity: CAPACITY,
    backend: echo,
    log: pino({ level: 'silent' }),
  });
  const calls: string[] = [];
  return {
    create: async (offer) => {
      const request = {
        call: randomBytes(16).toString('hex'),
        tenant: TENANT,
        ufrag: randomBytes(12).toString('hex').slice(1),
        expiresAt: Date.now() + LIFETIME,
        relays: [{ address: LOOPBACK, port: 9, transport: 'udp' as const }],
      };
      calls.push(request.call);
      const { answer } = transceiver.create(request, offer);
      return { answer, port: transceiver.trunk.port };
    },
    endAll: async () => {
      for (const call of calls.splice(0)) transceiver.end(call, TENANT);
    },
    sessions: () => transceiver.report().sessions,
  };
}

/** Werift's own peer connection, as its users have it; it gathers on loopback alone. */
function stockSubject(): Subject {
  const connections: RTCPeerConnection[] = [];
  return {
    create: async (offer) => {
      const opus = { mimeType: 'audio/opus', clockRate: 48_000, channels: 2, payloadType: 111 };
      const connection = new RTCPeerConnection({
        iceServers: [],
        iceUseIpv6: false,
        iceAdditionalHostAddresses: [LOOPBACK],
        iceInterfaceAddresses: { udp4: LOOPBACK },
        codecs: { audio: [new RTCRtpCodecParameters(opus)], video: [] },
      });
      connections.push(connection);
      connection.onTransceiverAdded.subscribe((transceiver) => {
        transceiver.setDirection('sendrecv');
        transceiver.onTrack.subscribe((track) => {
          track.onReceiveRtp.subscribe((rtp) => void transceiver.sender.sendRtp(rtp));
        });
      });
      await connection.setRemoteDescription({ type: 'offer', sdp: offer });
      await connection.setLocalDescription(await connection.createAnswer());
      const answer = await gathered(connection);
      const [, port] = /^a=candidate:\S+ 1 udp \d+ 127\.0\.0\.1 (\d+) /im.exec(answer)!;
      return { answer, port: Number(port) };
    },
    endAll: async () => {
      await Promise.all(connections.splice(0).map((connection) => connection.close()));
    },
    sessions: () => connections.length,
  };
}

async function gathered(connection: RTCPeerConnection): Promise<string> {
  for (;;) {
    const sdp = connection.localDescription?.sdp ?? '';
    if (/^a=candidate:/m.test(sdp)) return sdp;
    await new Promise((resolve) => setTimeout(resolve, POLL));
  }
}

function processorTime(): number {
  const { user, system } = process.cpuUsage();
  return user + system;
}

if (import.meta.main) {
  const subject = process.argv[2] === 'stock' ? stockSubject() : await ownSubject();
  const usage = (): Usage => {
    const asked = processorTime();
    globalThis.gc?.();
    const { heapUsed, rss } = process.memoryUsage();
    return {
      cpu: { asked, answered: processorTime() },
      heap: heapUsed,
      resident: rss,
      sessions: subject.sessions(),
      native: liveDtlsObjects(),
    };
  };
  process.on('message', (question: Question) => {
    const answer = async () => {
      if (question.ask === 'create') return subject.create(question.offer);
      return question.ask === 'usage' ? usage() : subject.endAll();
    };
    answer().then(
      (value) => process.send!({ id: question.id, value }),
      (error: unknown) => process.send!({ id: question.id, error: String(error) }),
    );
  });
  process.once('disconnect', () => process.exit());
}
