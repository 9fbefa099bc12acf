/**
 * The few functions of OpenSSL 3 that DTLS needs, called in the library inside the Node binary.
 * Node offers no DTLS of its own, yet carries and exports all of it.
 */
import koffi from 'koffi';

/** An address of a native object. */
export type Pointer = bigint;

/** Decides whether a certificate of the peer's chain may stand; 1 means yes. */
const VERIFY_CALLBACK = 'int VerifyCallback(int ok, void* store)';
const TIMER_CALLBACK = 'unsigned int TimerCallback(void* ssl, unsigned int microseconds)';

/** Microseconds before a lost DTLS flight is sent again, doubled each time (RFC 6347 §4.2.4.1). */
const FIRST_RETRANSMISSION = 400_000;
const LAST_RETRANSMISSION = 6_400_000;

type Library = ReturnType<typeof koffi.load>;

function declare(library: Library) {
  const of = (signature: string) => library.func(signature);
  return {
    DTLS_method: of('void* DTLS_method()'),
    SSL_CTX_new: of('void* SSL_CTX_new(void*)'),
    SSL_CTX_free: of('void SSL_CTX_free(void*)'),
    SSL_CTX_ctrl: of('long SSL_CTX_ctrl(void*, int, long, void*)'),
    SSL_CTX_set_options: of('uint64_t SSL_CTX_set_options(void*, uint64_t)'),
    SSL_CTX_set_cipher_list: of('int SSL_CTX_set_cipher_list(void*, const char*)'),
    SSL_CTX_set_tlsext_use_srtp: of('int SSL_CTX_set_tlsext_use_srtp(void*, const char*)'),
    SSL_CTX_use_certificate_ASN1: of('int SSL_CTX_use_certificate_ASN1(void*, int, const void*)'),
    SSL_CTX_use_PrivateKey_ASN1: of(
      'int SSL_CTX_use_PrivateKey_ASN1(int, void*, const void*, long)',
    ),
    SSL_CTX_set_verify: of('void SSL_CTX_set_verify(void*, int, void*)'),
    SSL_new: of('void* SSL_new(void*)'),
    SSL_free: of('void SSL_free(void*)'),
    SSL_ctrl: of('long SSL_ctrl(void*, int, long, void*)'),
    SSL_set_bio: of('void SSL_set_bio(void*, void*, void*)'),
    SSL_set_accept_state: of('void SSL_set_accept_state(void*)'),
    SSL_set_connect_state: of('void SSL_set_connect_state(void*)'),
    SSL_do_handshake: of('int SSL_do_handshake(void*)'),
    SSL_get_error: of('int SSL_get_error(void*, int)'),
    SSL_read: of('int SSL_read(void*, void*, int)'),
    SSL_write: of('int SSL_write(void*, const void*, int)'),
    SSL_shutdown: of('int SSL_shutdown(void*)'),
    SSL_get1_peer_certificate: of('void* SSL_get1_peer_certificate(void*)'),
    SSL_get_selected_srtp_profile: of('void* SSL_get_selected_srtp_profile(void*)'),
    SSL_export_keying_material: of(
      'int SSL_export_keying_material(void*, void*, size_t, const char*, size_t, void*, size_t, int)',
    ),
    DTLS_set_timer_cb: of('void DTLS_set_timer_cb(void*, void*)'),
    BIO_new: of('void* BIO_new(void*)'),
    BIO_s_dgram_mem: of('void* BIO_s_dgram_mem()'),
    BIO_read: of('int BIO_read(void*, void*, int)'),
    BIO_write: of('int BIO_write(void*, const void*, int)'),
    X509_free: of('void X509_free(void*)'),
    X509_digest: of('int X509_digest(void*, void*, void*, void*)'),
    EVP_sha256: of('void* EVP_sha256()'),
    EVP_sha384: of('void* EVP_sha384()'),
    EVP_sha512: of('void* EVP_sha512()'),
    ERR_get_error: of('unsigned long ERR_get_error()'),
    ERR_clear_error: of('void ERR_clear_error()'),
    ERR_error_string_n: of('void ERR_error_string_n(unsigned long, void*, size_t)'),
  };
}
type Name = keyof ReturnType<typeof declare>;

type Argument = Pointer | Uint8Array | string | number | null;

/** OpenSSL's functions as they are; `int` and `long` results are numbers, pointers bigint or null. */
export interface OpenSsl {
  pointer(name: Name, ...args: Argument[]): Pointer;
  call(name: Name, ...args: Argument[]): number;
  /** True for every certificate: peers prove themselves by fingerprint, not by a chain. */
  readonly acceptAnyCertificate: Pointer;
  readonly retransmissionTimer: Pointer;
  /** The number of the SRTP profile that a handshake chose, undefined when it chose none. */
  srtpProfile(ssl: Pointer): number | undefined;
  /** Empties the error queue, which Node's own crypto shares, and says what was in it. */
  takeErrors(): string;
}

let loaded: OpenSsl | undefined;

/**
 * Binds the functions on first use.
 *
 * @throws Error when this Node does not export OpenSSL.
 */
export function openSsl(): OpenSsl {
  return (loaded ??= load());
}

function load(): OpenSsl {
  const functions = bindOpenSsl(declare);
  const call = (name: Name, ...args: Argument[]) => Number(functions[name](...args));
  const srtpProfile = koffi.struct({ name: 'void*', id: 'unsigned long' });
  const text = Buffer.alloc(256);
  return {
    call,
    pointer(name, ...args) {
      const pointer: unknown = functions[name](...args);
      if (typeof pointer === 'bigint' && pointer !== 0n) return pointer;
      throw new Error(`OpenSSL's ${name} gave nothing: ${this.takeErrors() || 'out of memory'}`);
    },
    acceptAnyCertificate: koffi.register(() => 1, koffi.pointer(koffi.proto(VERIFY_CALLBACK))),
    retransmissionTimer: koffi.register(
      (_ssl: Pointer, last: number) =>
        last === 0 ? FIRST_RETRANSMISSION : Math.min(2 * last, LAST_RETRANSMISSION),
      koffi.pointer(koffi.proto(TIMER_CALLBACK)),
    ),
    srtpProfile(ssl) {
      const chosen: unknown = functions.SSL_get_selected_srtp_profile(ssl);
      if (!chosen) return undefined;
      const profile: { id: number | bigint } = koffi.decode(chosen, srtpProfile);
      return Number(profile.id);
    },
    takeErrors() {
      const errors: string[] = [];
      for (let code = call('ERR_get_error'); code !== 0; code = call('ERR_get_error')) {
        call('ERR_error_string_n', code, text, text.length);
        errors.push(text.toString('latin1', 0, text.indexOf(0)));
      }
      return errors.join('; ');
    },
  };
}

/**
 * Hands over the library inside Node.
 *
 * @throws Error when it lacks a function that `declareThem` asks for.
 */
export function bindOpenSsl<T>(declareThem: (library: Library) => T): T {
  try {
    return declareThem(koffi.load(null));
  } catch (error) {
    throw new Error(
      `DTLS needs the OpenSSL inside Node, which ${process.execPath} (${process.version}) does not ` +
        'export; run on an official Node 24 build, as npm install brings one along.',
      { cause: error },
    );
  }
}
