/** A back end that says back what it hears: for tests, demonstrations and measuring the path. */
import type { Backend } from './backend.ts';

export const echo: Backend = {
  name: 'echo',
  open: (call) => ({
    audio: (packet) => call.sendAudio(packet),
    data: (label, data) => call.sendData(label, data),
    close: () => undefined,
  }),
};
