/** The self-signed certificate that proves a transceiver to its clients: ECDSA P-256, one per process. */
import { X509Certificate, createPrivateKey } from 'node:crypto';
import { CipherContext } from 'werift';

/** TLS numbers of ECDSA, SHA-256 and secp256r1 (RFC 8422, RFC 5246 §7.4.1.4.1). */
const ECDSA_SHA256 = { hash: 4, signature: 3 } as const;
const SECP256R1 = 23;

export interface Certificate {
  /** DER of the X.509 certificate. */
  readonly der: Uint8Array;
  /** DER of the private key, SEC 1 (RFC 5915). */
  readonly privateKey: Uint8Array;
  /** SHA-256 as SDP writes it (RFC 8122 §5): upper-case hexadecimal, colons between bytes. */
  readonly fingerprint: string;
}

export async function createCertificate(): Promise<Certificate> {
  const { certPem, keyPem } = await CipherContext.createSelfSignedCertificateWithKey(
    ECDSA_SHA256,
    SECP256R1,
  );
  const certificate = new X509Certificate(certPem);
  return {
    der: certificate.raw,
    privateKey: createPrivateKey(keyPem).export({ format: 'der', type: 'sec1' }),
    fingerprint: certificate.fingerprint256,
  };
}
