/** What the two sides of ICE call themselves and prove their checks by (RFC 8445 §5.3). */
import { randomBytes } from 'node:crypto';
import { SdpError, attribute, type SdpAttribute } from './sdp.ts';

const ICE_TEXT = /^[!-~]+$/;

const PASSWORD_BYTES = 24;
const ICE_CHARS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';

export interface IceCredentials {
  readonly ufrag: string;
  readonly password: string;
}

/** One run of ICE: a restart begins the next. */
export interface IceGeneration {
  readonly own: IceCredentials;
  readonly client: IceCredentials;
  /** `own.password` as the key of MESSAGE-INTEGRITY. */
  readonly key: Buffer;
}

/** @param ufrag The routed one, by which relays find us. */
export function newGeneration(ufrag: string, client: IceCredentials): IceGeneration {
  const password = newPassword();
  return { own: { ufrag, password }, client, key: Buffer.from(password) };
}

/**
 * What a part of SDP says of its side, or else the whole does (RFC 8839 §5.4). Lenient in characters, as
 * clients in the field are.
 *
 * @throws SdpError
 */
export function credentialsOf(...parts: { attributes: readonly SdpAttribute[] }[]): IceCredentials {
  const read = (name: string, min: number) => {
    const value = parts.map((part) => attribute(part, name)).find((it) => it !== undefined);
    if (value === undefined) throw new SdpError(`a=${name} is missing`);
    if (value.length < min || value.length > 256 || !ICE_TEXT.test(value)) {
      throw new SdpError(`a=${name} is not ${min} to 256 characters (RFC 8839)`);
    }
    return value;
  };
  return { ufrag: read('ice-ufrag', 4), password: read('ice-pwd', 22) };
}

/** A fresh password: 144 bits as 24 ice-chars, where RFC 8445 §5.3 asks for 128. */
function newPassword(): string {
  return Array.from(randomBytes(PASSWORD_BYTES), (byte) => ICE_CHARS[byte % 64]).join('');
}
