/** Runs a program where the only network is loopback and a veth pair, gone when the program ends. */
import { execFile } from 'node:child_process';
import process from 'node:process';
import { promisify } from 'node:util';

/** An address of the veth pair: several clients never use loopback for media. */
export const MEDIA_ADDRESS = '10.75.0.1';

/** Milliseconds for a whole scene; it hangs when it takes longer. */
const SCENE_TIMEOUT = 110_000;

/** Some clients send only where the default route goes. */
const SET_UP = `
set -e
ip link set lo up
ip link add media0 type veth peer name media1
ip address add ${MEDIA_ADDRESS}/24 dev media0
ip link set media0 up
ip link set media1 up
ip route add default dev media0
exec "$@"
`;

/**
 * Runs a module of this folder with Node in a network namespace of its own, and gives what it printed.
 *
 * @throws Error with what it wrote to standard error when it fails.
 */
export async function inNamespace(module: string, ...args: string[]): Promise<string> {
  // A user namespace gives who is not root the right to a network of his own.
  const rights = process.getuid?.() === 0 ? [] : ['--map-root-user'];
  const path = new URL(module, import.meta.url).pathname;
  const command = ['--net', ...rights, 'sh', '-c', SET_UP, 'sh', process.execPath, path, ...args];
  const { stdout } = await promisify(execFile)('unshare', command, { timeout: SCENE_TIMEOUT });
  return stdout;
}
