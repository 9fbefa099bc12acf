/** The page as a local run serves it: a copy that knows the local control and may reach it. */
import { cp, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const PAGE = fileURLToPath(new URL('../../workers/page', import.meta.url));

/** In the committed page: no control, and no way to one. */
const NO_CONTROL = '<meta name="local-control" content="" />';
const OWN_EDGE_ALONE = "connect-src 'self';";

/**
 * @param into A folder of the run.
 * @param control Base URL of the control.
 * @returns The folder of the copy.
 */
export async function copyPage(into: string, control: string): Promise<string> {
  const folder = join(into, 'page');
  await cp(PAGE, folder, { recursive: true });
  await replace(join(folder, 'index.html'), NO_CONTROL, NO_CONTROL.replace('""', `"${control}"`));
  await replace(join(folder, '_headers'), OWN_EDGE_ALONE, `connect-src 'self' ${control};`);
  return folder;
}

async function replace(path: string, text: string, by: string): Promise<void> {
  const before = await readFile(path, 'utf8');
  if (!before.includes(text)) throw new Error(`${path} has no ${text} for the local control.`);
  await writeFile(path, before.replace(text, by));
}
