/** What all DTLS endpoints of a process share, as OpenSSL's SSL_CTX: certificate, ciphers, rules. */
import type { Certificate } from './certificate.ts';
import { countNative, liveNativeObjects } from './native-objects.ts';
import { openSsl, type OpenSsl, type Pointer } from './openssl.ts';

/** The SRTP protection profiles offered, best first, by OpenSSL's names. */
const SRTP_PROFILES = 'SRTP_AEAD_AES_128_GCM:SRTP_AES128_CM_SHA1_80';
const CIPHERS = 'ECDHE+AESGCM:ECDHE+CHACHA20';

/** Bytes of certificates taken from a peer; a self-signed one has under a thousand. */
const MAX_PEER_CERTIFICATES = 16_384;

// Numbers from OpenSSL's ssl.h, dtls1.h and evp.h.
const SSL_VERIFY_PEER_OR_FAIL = 3;
const SSL_CTRL_SET_SESS_CACHE_MODE = 44;
const SSL_CTRL_SET_MAX_CERT_LIST = 51;
const SSL_CTRL_SET_MIN_PROTO_VERSION = 123;
const SSL_CTRL_SET_MAX_PROTO_VERSION = 124;
const DTLS1_2_VERSION = 0xfefd;
const EVP_PKEY_EC = 408;
const OPTIONS = [
  1 << 12, // SSL_OP_NO_QUERY_MTU
  1 << 14, // SSL_OP_NO_TICKET
  1 << 22, // SSL_OP_CIPHER_SERVER_PREFERENCE
  1 << 30, // SSL_OP_NO_RENEGOTIATION
].reduce((all, option) => all | option);

/** Contexts and endpoints that are not freed yet. */
export function liveDtlsObjects(): number {
  const live = liveNativeObjects();
  return live['dtls-context'] + live['dtls-endpoint'];
}

/** What all endpoints of a process share: the certificate and the rules. */
export class DtlsContext {
  readonly #ssl: OpenSsl = openSsl();
  readonly #pointer: Pointer;
  #open = true;

  /** @throws Error when OpenSSL is not there or refuses the certificate. */
  constructor(certificate: Certificate) {
    const ssl = this.#ssl;
    const it = ssl.pointer('SSL_CTX_new', ssl.pointer('DTLS_method'));
    this.#pointer = it;
    countNative('dtls-context', 1);
    const must = (done: boolean, what: string) => {
      if (done) return;
      const errors = ssl.takeErrors();
      this.close();
      throw new Error(`OpenSSL refused ${what}: ${errors}`);
    };
    for (const bound of [SSL_CTRL_SET_MIN_PROTO_VERSION, SSL_CTRL_SET_MAX_PROTO_VERSION]) {
      must(ssl.call('SSL_CTX_ctrl', it, bound, DTLS1_2_VERSION, null) === 1, 'DTLS 1.2');
    }
    must(ssl.call('SSL_CTX_set_cipher_list', it, CIPHERS) === 1, 'the ciphers');
    must(ssl.call('SSL_CTX_set_tlsext_use_srtp', it, SRTP_PROFILES) === 0, 'the SRTP profiles');
    const { der, privateKey } = certificate;
    must(
      ssl.call('SSL_CTX_use_certificate_ASN1', it, der.length, der) === 1 &&
        ssl.call('SSL_CTX_use_PrivateKey_ASN1', EVP_PKEY_EC, it, privateKey, privateKey.length) ===
          1,
      'the certificate',
    );
    ssl.call('SSL_CTX_set_verify', it, SSL_VERIFY_PEER_OR_FAIL, ssl.acceptAnyCertificate);
    ssl.call('SSL_CTX_ctrl', it, SSL_CTRL_SET_SESS_CACHE_MODE, 0, null);
    ssl.call('SSL_CTX_ctrl', it, SSL_CTRL_SET_MAX_CERT_LIST, MAX_PEER_CERTIFICATES, null);
    ssl.call('SSL_CTX_set_options', it, OPTIONS);
  }

  newSsl(): Pointer {
    return this.#ssl.pointer('SSL_new', this.#pointer);
  }

  close(): void {
    if (!this.#open) return;
    this.#open = false;
    countNative('dtls-context', -1);
    this.#ssl.call('SSL_CTX_free', this.#pointer);
  }
}
