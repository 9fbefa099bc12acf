/** Links of the pages lead to files and headings that are there, and the README leads to every page. */
import { existsSync } from 'node:fs';
import { readFile, readdir } from 'node:fs/promises';
import { dirname, join, normalize } from 'node:path';
import { expect, test } from 'vitest';

const ROOT = join(import.meta.dirname, '..');
const LINK = /\[[^\]]*\]\(([^)\s]+)\)/g;

const files = (await readdir(join(ROOT, 'docs'))).filter((name) => name.endsWith('.md'));
const pages = ['README.md', 'SECURITY.md', ...files.map((name) => `docs/${name}`)];

test.each(pages)('%s', async (page) => {
  const broken: string[] = [];
  for (const link of await linksOf(page)) {
    const [path, heading] = link.split('#');
    const file = path === '' ? page : normalize(join(dirname(page), path!));
    const isThere = existsSync(join(ROOT, file));
    if (!isThere || (heading && !(await headingsOf(file)).has(heading))) broken.push(link);
  }
  expect(broken).toEqual([]);
});

test('the README leads to every page', async () => {
  const links = new Set(await linksOf('README.md'));
  expect(pages.slice(1).filter((page) => !links.has(page))).toEqual([]);
});

/** All but those to other sites. */
async function linksOf(page: string): Promise<string[]> {
  const text = await readFile(join(ROOT, page), 'utf8');
  const links = [...text.matchAll(LINK)].map(([, link]) => link!);
  return links.filter((link) => !/^[a-z]+:/.test(link));
}

/** As GitHub names them: small letters, hyphens for spaces, and no marks. */
async function headingsOf(page: string): Promise<Set<string>> {
  const text = await readFile(join(ROOT, page), 'utf8');
  const headings = [...text.matchAll(/^#+ (.*)$/gm)].map(([, heading]) => heading!);
  const names = headings.map((heading) =>
    heading
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N} -]/gu, '')
      .replaceAll(' ', '-'),
  );
  return new Set(names);
}
