import { readdirSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { helpText } from '../../../src/cli/help/commandhelp.ts';
import type { Prepared } from '../../../src/cli/help/prepared.ts';
import { ManifestConfig } from '../../../src/cli/startup/manifestconfig.ts';
import { displayWidth } from '../../../src/core/output/terminaltext.ts';
import { SHELLS, type Shell } from '../../../src/shells/shell.ts';
import { molar } from '../../acceptance/molar.ts';
import { ROOT } from '../../house/tree.ts';

const FOLDER = join(ROOT, 'dist', 'help');
/** What the build has written. */
const prepared = new Map(
  readdirSync(FOLDER).map((name): [id: string, Prepared] => [
    name.replace(/\.json$/, '').replaceAll('.', ':'),
    JSON.parse(readFileSync(join(FOLDER, name), 'utf8')),
  ]),
);

describe('the prepared help', () => {
  it('is that of every command and topic but help, which names the version of Node', () => {
    const { commands, topics } = new ManifestConfig(ROOT);
    const ids = new Set([...commands.map(({ id }) => id), ...topics.map(({ name }) => name)]);
    expect([...ids].filter((id) => !prepared.has(id))).toEqual(['help']);
    expect([...prepared.keys()].filter((id) => !ids.has(id))).toEqual([]);
  });

  it('is what would be made of it when it is asked for', async () => {
    // What is shown for one shell stays in what it was made of.
    const configs = new Map(SHELLS.map((shell) => [shell, new ManifestConfig(ROOT)] as const));
    // A shell for each, in turn: four times as many texts would be made of the same pages.
    for (const [index, [id, texts]] of [...prepared].entries()) {
      const shell = SHELLS[index % SHELLS.length] as Shell;
      const look = { width: 80, isColoured: false, shell };
      expect(texts[shell]).toBe(await helpText(id, configs.get(shell) as ManifestConfig, look));
    }
  });

  it('fits 80 columns, but for lines to be pasted', () => {
    for (const [id, { sh }] of prepared) {
      const wide = sh.split('\n').filter((line) => displayWidth(line) > 80 && !/ \$ | \| molar /.test(line));
      expect(wide, id).toEqual([]);
    }
  });

  it.each([
    ['patients list', 'patients:list', 'sh'],
    ['patients:list', 'patients:list', 'sh'],
    ['export', 'export', 'sh'],
    ['aging report', 'aging:report', 'cmd'],
    ['export bookmarks', 'export:bookmarks', 'cmd'],
  ] as const)('of %s is told as it is', async (words, id, shell) => {
    const told = await molar(tmpdir(), [...words.split(' '), '--help'], { MOLAR_SHELL: shell });
    expect(told).toEqual({ code: 0, stdout: prepared.get(id)?.[shell], stderr: '' });
    expect(told.stdout).toContain('\nUSAGE\n');
  });

  // Help is asked for twice on the long way, which is not prepared.
  it.each(['patients list', 'help', ''])('of %j is told as on the long way', async (words) => {
    const line = words.split(' ').filter((word) => word !== '');
    const short = await molar(tmpdir(), [...line, '--help']);
    expect(short).toEqual(await molar(tmpdir(), [...line, '--help', '--help']));
    expect(short).toMatchObject({ code: 0, stderr: '', stdout: expect.stringContaining('\nUSAGE\n') });
  });

  it.each(['..', 'patients/list', 'constructor', 'patients lost'])('does not know %j', async (words) => {
    const ran = await molar(tmpdir(), [...words.split(' '), '--help']);
    expect(ran).toMatchObject({ code: 2, stdout: '' });
  });
});
