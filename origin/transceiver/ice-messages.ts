/** The STUN messages of ICE (RFC 8445 §7): whether they are proven, and ours. */
import { Message, classes, methods, parseMessage } from 'werift';
import type { TrunkAddress } from '../../protocol/footprint.ts';
import { checkSuccess } from './check-success.ts';
import type { IceGeneration } from './ice-credentials.ts';
import { isSoundStun } from './stun-guard.ts';

const FIRST_OPTIONAL_ATTRIBUTE = 0x8000;

/** Priority of a peer-reflexive candidate (RFC 8445 §5.1.2.1), which our checks would make. */
const PRIORITY = 110 * 2 ** 24 + 65_535 * 2 ** 8 + 255;

/** Total: the message, when whoever sent it has the key, and all it says but FINGERPRINT is proven. */
export function proven(packet: Buffer, key: Buffer): Message | undefined {
  const message = isSoundStun(packet) ? parseMessage(packet, key) : undefined;
  const keys = message?.attributesKeys ?? [];
  const sealAt = keys.indexOf('MESSAGE-INTEGRITY');
  // Only what stands before MESSAGE-INTEGRITY is proven, so nothing else may follow it.
  const after = keys.slice(sealAt + 1);
  const isSealed =
    sealAt >= 0 &&
    after.at(-1) === 'FINGERPRINT' &&
    (after.length === 1 || (after.length === 2 && after[0] === 'MESSAGE-INTEGRITY-SHA256'));
  return isSealed ? message : undefined;
}

/** What a proven check gets instead of success, as bytes; undefined when nothing is wrong with it. */
export function refusal(check: Message, key: Buffer): Buffer | undefined {
  const unknown = check.unknownAttributeTypes.filter((type) => type < FIRST_OPTIONAL_ATTRIBUTE);
  if (unknown.length > 0) {
    // RFC 8489 §6.3.1
    const error = refused(check).setAttribute('ERROR-CODE', [420, 'Unknown Attribute']);
    return seal(error.setAttribute('UNKNOWN-ATTRIBUTES', unknown), key);
  }
  if (check.attributesKeys.includes('ICE-CONTROLLED')) {
    // A lite agent never controls (RFC 8445 §6.1.1), so the client must take the role back.
    const error = refused(check).setAttribute('ERROR-CODE', [487, 'Role Conflict']);
    return seal(error, key);
  }
  return undefined;
}

export function success(check: Message, key: Buffer, client: TrunkAddress): Buffer {
  return checkSuccess(check.transactionId, key, client);
}

/** A check of our own, with that transaction id of 12 bytes. */
export function ownCheck(id: Buffer, { own, client }: IceGeneration): Buffer {
  const check = new Message(methods.BINDING, classes.REQUEST, id)
    .setAttribute('USERNAME', `${client.ufrag}:${own.ufrag}`)
    .setAttribute('PRIORITY', PRIORITY)
    .setAttribute('ICE-CONTROLLED', 0n);
  return seal(check, Buffer.from(client.password));
}

/** Keeps bindings alive and asks for nothing (RFC 8445 §11). */
export function keepalive(): Buffer {
  return new Message(methods.BINDING, classes.INDICATION).addFingerprint().bytes;
}

function refused(check: Message): Message {
  return new Message(methods.BINDING, classes.ERROR, check.transactionId);
}

function seal(message: Message, key: Buffer): Buffer {
  return message.addMessageIntegrity(key).addFingerprint().bytes;
}
