/** Builds the Pion client out of Debian's Go packages, where they are. */
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { copyFile, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { findProgram } from '../support/find-program.ts';

/** Debian's golang-github-pion-webrtc.v3-dev puts its sources there. */
const GO_SOURCES = '/usr/share/gocode';
const PION = `${GO_SOURCES}/src/github.com/pion/webrtc`;

export interface PionBuild extends AsyncDisposable {
  /** Path of the client; undefined where it cannot be built. */
  readonly program: string | undefined;
  /** What is missing then. */
  readonly reason: string;
}

export async function buildPion(): Promise<PionBuild> {
  const folder = await mkdtemp(join(tmpdir(), 'pion-'));
  const remove = () => rm(folder, { recursive: true, force: true });
  const go = findProgram('go');
  if (!go || !existsSync(PION)) {
    const reason = 'PION IS NOT TESTED: apt-get install golang-go golang-github-pion-webrtc.v3-dev';
    console.warn(reason);
    return { program: undefined, reason, [Symbol.asyncDispose]: remove };
  }
  const program = join(folder, 'pion-call');
  // Only inside a module does Go without modules know that an import's /v3 is no folder.
  const source = join(folder, 'src', 'pion-call');
  await mkdir(source, { recursive: true });
  await copyFile(new URL('pion/main.go', import.meta.url), join(source, 'main.go'));
  await writeFile(join(source, 'go.mod'), 'module pion-call\n');
  const env = {
    ...process.env,
    GO111MODULE: 'off',
    GOFLAGS: '',
    GOPATH: `${folder}:${GO_SOURCES}`,
  };
  await promisify(execFile)(go, ['build', '-o', program, '.'], { cwd: source, env });
  return { program, reason: '', [Symbol.asyncDispose]: remove };
}
