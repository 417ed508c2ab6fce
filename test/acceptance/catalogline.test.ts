import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { LOCATIONS, ORGANIZATION, PATIENTS, TOKENS } from '../support/ids.ts';
import { bareRecords } from '../support/practice.ts';
import { buildChanged } from './changedbuild.ts';
import { type Ended, molar, type Served, serve, workplace } from './molar.ts';

let place: Awaited<ReturnType<typeof workplace>>;
/** A checkout whose catalog has a key and a field more, built. */
let changed: string;
let served: Served;

beforeAll(async () => {
  place = await workplace();
  changed = join(place.path, 'changed');
  const data = join(place.path, 'data');
  await writeFile(
    join(place.path, 'practice.ndjson'),
    bareRecords()
      .map((line) => `${JSON.stringify(line)}\n`)
      .join(''),
  );
  const imported = molar(place.path, ['server', 'import', 'practice.ndjson', '--data', data]);
  await buildChanged(changed);
  expect((await imported).code).toBe(0);
  served = await serve(place.path, ['--data', data], join(changed, 'bin/run.js'));
});
afterAll(async () => {
  await served?.stop();
  await place.remove();
});

const command = (...args: string[]): Promise<Ended> =>
  molar(
    place.path,
    args,
    { MOLAR_URL: served.url, MOLAR_TOKEN: TOKENS.full, MOLAR_ORGANIZATION: ORGANIZATION },
    '',
    join(changed, 'bin/run.js'),
  );

describe('a practice of the build before, served by one whose catalog has a filter key and a field more', () => {
  it('is ready', async () => {
    const response = await fetch(`${served.url}/readyz`);
    expect([response.status, await response.json()]).toEqual([200, { status: 'ready' }]);
  });

  it('takes a change of the field, and finds a record of before and a changed one by the key', async () => {
    const id = String(PATIENTS.ann);
    const update = await command(
      'patients',
      'update',
      id,
      '--set',
      'pronouns=they/them',
      '--set',
      'middleInitial=Q',
      '--json',
    );
    expect(JSON.parse(update.stdout)).toMatchObject({ pronouns: 'they/them', middleInitial: 'Q' });
    const list = (...args: string[]) =>
      command('patients', 'list', '--location', String(LOCATIONS.east), '--json', ...args);
    const ids = ({ stdout }: Ended) => (JSON.parse(stdout) as { id: number }[]).map((row) => row.id);
    expect(ids(await list('--middle-initial', 'Q'))).toEqual([PATIENTS.ann]);
    expect(ids(await list('--middle-initial', 'X'))).toEqual([]);
    const rows = JSON.parse((await list('--fields', 'id,pronouns')).stdout);
    expect(rows).toEqual([
      { id: PATIENTS.ann, pronouns: 'they/them' },
      { id: PATIENTS.bob, pronouns: null },
      { id: PATIENTS.cleo, pronouns: null },
    ]);
  });

  it('has both in help, in OpenAPI and in the man pages', async () => {
    expect((await command('patients', 'list', '--help')).stdout).toMatch(/--middle-initial=.*\n? *Middle initial/);
    const openapi = await (await fetch(`${served.url}/openapi.json`)).text();
    expect(openapi).toContain('middleInitial');
    expect(openapi).toContain('"pronouns"');
    expect((await molar(changed, [], {}, '', join(changed, 'bin/man.mjs'))).code).toBe(0);
    const page = (name: string) => readFile(join(changed, 'man/man1', name), 'utf8');
    expect(await page('molar-patients-list.1')).toContain('middle\\-initial');
    expect(await page('molar-patients-create.1')).toContain('pronouns');
  });

  it('passes the check', async () => {
    const report = await command('server', 'check', '--data', join(place.path, 'data'), '--json');
    expect(JSON.parse(report.stdout)).toMatchObject({ ok: true, problems: [] });
  });
});
