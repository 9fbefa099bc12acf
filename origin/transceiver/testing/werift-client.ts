/** A client that tests can bend: werift's peer connection, with a certificate of our choice. */
import {
  CipherContext,
  MediaStreamTrack,
  RTCCertificate,
  RTCPeerConnection,
  RTCRtpCodecParameters,
  RtpHeader,
  RtpPacket,
  type RTCDataChannel,
} from 'werift';

const OPUS = { mimeType: 'audio/opus', clockRate: 48_000, channels: 2, payloadType: 111 };
const ECDSA_SHA256 = { hash: 4, signature: 3 } as const;
const SECP256R1 = 23;
const RECORDS_OF_HANDSHAKE = 64;

export interface WeriftClient extends AsyncDisposable {
  readonly connection: RTCPeerConnection;
  readonly channel: RTCDataChannel;
  readonly offer: string;
  readonly messages: (string | Buffer)[];
  /** Payloads of the audio that came back. */
  readonly audio: Buffer[];
  take(answer: string): Promise<void>;
  speak(payload: Uint8Array): void;
}

/**
 * @param options.label Of the data channel.
 * @param options.ipv6 It has no IPv4.
 */
export async function weriftClient(
  options: { certificate?: RTCCertificate; label?: string; ipv6?: boolean } = {},
) {
  const { certificate, label = 'events', ipv6 = false } = options;
  const connection = new RTCPeerConnection({
    iceServers: [],
    iceUseIpv4: !ipv6,
    iceUseIpv6: ipv6,
    iceAdditionalHostAddresses: [ipv6 ? '::1' : '127.0.0.1'],
    iceInterfaceAddresses: ipv6 ? { udp6: '::1' } : { udp4: '127.0.0.1' },
    codecs: { audio: [new RTCRtpCodecParameters(OPUS)], video: [] },
    ...(certificate ? { certificates: [certificate] } : {}),
  });
  const track = new MediaStreamTrack({ kind: 'audio' });
  const audio: Buffer[] = [];
  connection
    .addTransceiver(track, { direction: 'sendrecv' })
    .onTrack.subscribe((remote) => remote.onReceiveRtp.subscribe((rtp) => audio.push(rtp.payload)));
  const channel = connection.createDataChannel(label);
  const messages: (string | Buffer)[] = [];
  channel.onMessage.subscribe((message) => messages.push(message));
  await connection.setLocalDescription(await connection.createOffer());
  let sequenceNumber = 0;
  const client: WeriftClient = {
    connection,
    channel,
    offer: connection.localDescription!.sdp,
    messages,
    audio,
    async take(answer) {
      const [transport] = connection.dtlsTransports;
      transport?.onStateChange.subscribe((state) => {
        // Werift counts records anew after its Finished, and a replay window drops what repeats.
        if (state === 'connected') transport.dtls!.dtls.recordSequenceNumber = RECORDS_OF_HANDSHAKE;
      });
      await connection.setRemoteDescription({ type: 'answer', sdp: answer });
    },
    speak(payload) {
      const at = { sequenceNumber: ++sequenceNumber, timestamp: 960 * sequenceNumber };
      const header = new RtpHeader({ ...at, payloadType: OPUS.payloadType, ssrc: 1234 });
      track.writeRtp(new RtpPacket(header, Buffer.from(payload)));
    },
    [Symbol.asyncDispose]: () => connection.close(),
  };
  return client;
}

/** A certificate whose private key is another's: whoever shows it cannot prove that it is theirs. */
export async function forgedCertificate(): Promise<RTCCertificate> {
  const [shown, own] = [await keyPair(), await keyPair()];
  return new RTCCertificate(own.keyPem, shown.certPem, shown.signatureHash);
}

const keyPair = () => CipherContext.createSelfSignedCertificateWithKey(ECDSA_SHA256, SECP256R1);
