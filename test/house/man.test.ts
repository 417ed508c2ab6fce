import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Config } from '@oclif/core/config';
import { beforeAll, describe, expect, it } from 'vitest';
import { importPage } from '../../src/cli/help/importformat.ts';
import { manual } from '../../src/cli/help/manual.ts';
import { GLOBAL_KINDS, ORGANIZATION_KIND, RECORD_KINDS } from '../../src/server/import/kinds.ts';
import { filesBelow, ROOT } from './tree.ts';

let pages: ReadonlyMap<string, string>;

beforeAll(async () => {
  const page = importPage(GLOBAL_KINDS, ORGANIZATION_KIND, RECORD_KINDS);
  pages = manual(await Config.load({ root: ROOT }), [page]);
});

describe('man/', () => {
  it('is what the commands and the catalog give', () => {
    const kept = Object.fromEntries(filesBelow('man').map(({ path, text }) => [path.slice('man/'.length), text]));
    const stale = [...new Set([...Object.keys(kept), ...pages.keys()])].filter(
      (path) => kept[path] !== pages.get(path),
    );
    expect(stale, 'Write the pages anew: npm run man').toEqual([]);
  });

  it('is listed in package.json, where npm looks for what to install for man(1)', () => {
    const { man } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
    expect(man, 'Write the list anew: npm run man').toEqual([...pages.keys()].sort().map((path) => `man/${path}`));
  });

  it('has a page for each command, the import format and each page of help', () => {
    expect([...pages.keys()]).toEqual(
      expect.arrayContaining([
        'man1/molar.1',
        'man1/molar-patients-list.1',
        'man1/molar-patients-billingtypes-set.1',
        'man5/molar-import.5',
        'man7/molar-exit-codes.7',
        'man7/molar-filters.7',
      ]),
    );
  });

  it.each([
    ['man1/molar-patients-list.1', ['.B "molar patients list"', '\\-\\-modified\\-since', '$ molar patients list']],
    ['man1/molar-agingbalances-report.1', ['.B "molar aging report"', '.SS FILTER']],
    ['man1/molar-patients-get.1', ['.I ID', 'Id of the patient']],
    ['man5/molar-import.5', ['PatientV1:', 'ScheduleTemplateV1:', 'AccessToken:', '.B thumbNailId']],
    ['man7/molar-exit-codes.7', ['.B 130', 'auth.token_missing']],
    ['man7/molar-filters.7', ['preferredLocation.id == != \\->']],
  ])('%s holds its facts', (path, texts) => {
    for (const text of texts) expect(pages.get(path)).toContain(text);
  });

  it('renders without a warning of mandoc', ({ skip }) => {
    if (spawnSync('mandoc', ['-Tlint'], { input: '' }).error !== undefined) {
      // Whoever changes a page without mandoc is told by the checks of the branch.
      if (process.env.CI === 'true') expect.fail('mandoc is not installed.');
      skip('mandoc is not installed');
    }
    const folder = mkdtempSync(join(tmpdir(), 'molar-man-'));
    const names = [...pages].map(([path, text]) => {
      const name = path.replace('/', '-');
      writeFileSync(join(folder, name), text);
      return name;
    });
    const { status, stdout, stderr } = spawnSync('mandoc', ['-Tlint', ...names], { cwd: folder, encoding: 'utf8' });
    rmSync(folder, { recursive: true, force: true });
    expect({ status, stdout, stderr }).toEqual({ status: 0, stdout: '', stderr: '' });
  });
});
