/** Checks as a client sends them, for tests that have the answer it got. */
import { Message, classes, methods } from 'werift';
import { credentialsOf, type IceCredentials } from '../ice-credentials.ts';
import { parseSdp } from '../sdp.ts';
import { parseFragment } from '../sdp-fragment.ts';

/** What an answer or a fragment says to check with. */
export function credentialsIn(sdp: string): IceCredentials {
  if (!sdp.startsWith('v=0')) return parseFragment(sdp);
  const { media, attributes } = parseSdp(sdp);
  return credentialsOf(media[0]!, { attributes });
}

/** A check, before it is sealed. */
export function openCheck(ufrag: string, { nominates = true } = {}): Message {
  const check = new Message(methods.BINDING, classes.REQUEST)
    .setAttribute('USERNAME', `${ufrag}:abcd`)
    .setAttribute('PRIORITY', 1)
    .setAttribute('ICE-CONTROLLING', 1n);
  return nominates ? check.setAttribute('USE-CANDIDATE', null) : check;
}

export function sealed(message: Message, password: string): Buffer {
  return message.addMessageIntegrity(Buffer.from(password)).addFingerprint().bytes;
}

/** A whole check, as bytes. */
export function checkOf({ ufrag, password }: IceCredentials, options?: { nominates: boolean }) {
  return sealed(openCheck(ufrag, options), password);
}
