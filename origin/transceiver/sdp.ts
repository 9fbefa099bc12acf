/** SDP as lines (RFC 8866): just enough structure to read an offer, and total on any text. */

export interface SdpAttribute {
  readonly name: string;
  /** Empty when the attribute has no value. */
  readonly value: string;
}

export interface SdpMedia {
  readonly kind: string;
  readonly port: number;
  readonly protocol: string;
  readonly formats: readonly string[];
  readonly attributes: readonly SdpAttribute[];
}

export interface Sdp {
  readonly attributes: readonly SdpAttribute[];
  readonly media: readonly SdpMedia[];
}

/** Most m-lines and lines read; a browser's largest offers have tens and hundreds of them. */
const MAX_MEDIA = 64;
const MAX_LINES = 8192;

const MEDIA_LINE = /^m=([!-~]+) (\d{1,5})(?:\/\d+)? ([!-~]+) ([!-~]+(?: [!-~]+)*) ?$/;
const ATTRIBUTE_LINE = /^a=([!-9;-~]+)(?::(.*))?$/;

/** What is wrong with the text, for a person. */
export class SdpError extends Error {
  override readonly name = 'SdpError';
}

/** @param options `isFragment` for text that begins without the line v=0 (RFC 8840 §9). @throws SdpError */
export function parseSdp(text: string, { isFragment = false } = {}): Sdp {
  const lines = text.split(/\r\n|\n|\r/, MAX_LINES + 1);
  if (lines.length > MAX_LINES) throw new SdpError(`more than ${MAX_LINES} lines`);
  if (!isFragment && lines[0] !== 'v=0') throw new SdpError('the first line is not v=0');
  const ofSession: SdpAttribute[] = [];
  const media: (SdpMedia & { attributes: SdpAttribute[] })[] = [];
  for (const [index, line] of lines.entries()) {
    if (line === '') continue;
    if (!/^[a-z]=/.test(line)) throw new SdpError(`line ${index + 1} is not letter=value`);
    if (line.startsWith('m=')) media.push(parseMedia(line, index + 1));
    else if (line.startsWith('a='))
      (media.at(-1)?.attributes ?? ofSession).push(parseAttribute(line, index + 1));
    if (media.length > MAX_MEDIA) throw new SdpError(`more than ${MAX_MEDIA} m-lines`);
  }
  return { attributes: ofSession, media };
}

/** The value of the first attribute of that name; empty when it has none. */
export function attribute(of: { readonly attributes: readonly SdpAttribute[] }, name: string) {
  return of.attributes.find((it) => it.name === name)?.value;
}

export function hasAttribute(of: { readonly attributes: readonly SdpAttribute[] }, name: string) {
  return of.attributes.some((it) => it.name === name);
}

/** All values of that name, in order. */
export function attributes(of: { readonly attributes: readonly SdpAttribute[] }, name: string) {
  return of.attributes.filter((it) => it.name === name).map((it) => it.value);
}

function parseMedia(line: string, number: number) {
  const [, kind, port, protocol, formats] = MEDIA_LINE.exec(line) ?? [];
  if (!kind || !port || !protocol || !formats || Number(port) > 65535) {
    throw new SdpError(`line ${number} is not m=kind port protocol formats`);
  }
  return { kind, port: Number(port), protocol, formats: formats.split(' '), attributes: [] };
}

function parseAttribute(line: string, number: number): SdpAttribute {
  const [, name, value] = ATTRIBUTE_LINE.exec(line) ?? [];
  if (!name) throw new SdpError(`line ${number} is not a=name or a=name:value`);
  return { name, value: value ?? '' };
}
