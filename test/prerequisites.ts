/**
 * Runs before the tests: makes sure that the programs they need beside npm's packages are there. As root
 * on Debian it installs what is missing; elsewhere it says what to install and exits with 1.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { findProgram } from './support/find-program.ts';

interface Prerequisite {
  readonly program: string;
  /** What is there when it is, if it is no program. */
  readonly folder?: string;
  /** Its package in Debian. */
  readonly debian: string;
  readonly purpose: string;
}

/** Clients of other makes call in network namespaces, which only Linux has. */
const ON_LINUX: readonly Prerequisite[] = [
  { program: 'firefox-esr', debian: 'firefox-esr', purpose: 'calls from Firefox' },
  { program: 'ip', debian: 'iproute2', purpose: 'network namespaces' },
  {
    program: 'aiortc',
    folder: '/usr/lib/python3/dist-packages/aiortc',
    debian: 'python3-aiortc',
    purpose: 'calls from aiortc',
  },
];

const PREREQUISITES: readonly Prerequisite[] = [
  { program: 'chromium', debian: 'chromium', purpose: 'calls from a real browser' },
  ...(process.platform === 'linux' ? ON_LINUX : []),
  { program: 'redis-server', debian: 'redis-server', purpose: 'flows that outlive their relay' },
];

const missing = findMissing();
if (missing.length > 0) {
  if (isRootOnDebian()) install(missing);
  const stillMissing = findMissing();
  if (stillMissing.length > 0) {
    console.error(explain(stillMissing));
    process.exit(1);
  }
}

function findMissing(): Prerequisite[] {
  return PREREQUISITES.filter(({ program, folder }) =>
    folder === undefined ? !findProgram(program) : !existsSync(folder),
  );
}

function isRootOnDebian(): boolean {
  if (process.getuid?.() !== 0) return false;
  try {
    return /^ID=debian$/m.test(readFileSync('/etc/os-release', 'utf8'));
  } catch {
    return false;
  }
}

function install(prerequisites: readonly Prerequisite[]): void {
  const packages = prerequisites.map(({ debian }) => debian);
  console.log(`Installing what the tests need: ${packages.join(', ')}`);
  aptGet('update');
  aptGet('install', '-y', '--no-install-recommends', ...packages);
}

/** Shows apt's output only when it fails; what is missing after that is told by the caller. */
function aptGet(...words: string[]): void {
  const { status, stdout, stderr } = spawnSync('apt-get', ['-qq', ...words], {
    encoding: 'utf8',
    env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
  });
  if (status !== 0) console.error(`apt-get ${words.join(' ')} failed:\n${stdout}${stderr}`);
}

function explain(prerequisites: readonly Prerequisite[]): string {
  const lines = prerequisites.map(
    ({ program, debian, purpose }) =>
      `  ${program}, for ${purpose}; on Debian: sudo apt-get install ${debian}`,
  );
  return ['The tests need programs that are not on this machine:', ...lines].join('\n');
}
