import { chmod, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import MirrorReset from '../../../src/commands/mirror/reset.ts';
import MirrorStatus from '../../../src/commands/mirror/status.ts';
import MirrorSync from '../../../src/commands/mirror/sync.ts';
import { openConnection } from '../../../src/sqlite/open.ts';
import { jsonFailure, runCommand, type World } from '../../cli/runcommand.ts';
import type { Faithful, Options } from '../../faithful/service.ts';
import type { Fields } from '../../faithful/store.ts';
import { OWNER_ONLY } from '../../support/capabilities.ts';
import { mirrorFolder, openFaithful, runOnline } from './mirroring.ts';
import { answered } from './network.ts';
import { queried, TABLES, wrongRows } from './oracle.ts';

let service: Faithful;
let folder: string;
let file: string;

async function start(options: Partial<Options> = {}): Promise<void> {
  service = await openFaithful({ seed: 'file', ...options });
}

beforeEach(async () => {
  ({ folder, file } = await mirrorFolder());
});

function sync(words: readonly string[], world: World = {}) {
  const env = { ...service.env, MOLAR_CONFIG_DIR: folder, ...world.env };
  return runOnline('mirror:sync', MirrorSync, words, { ...world, env });
}

const status = (words: readonly string[]) =>
  runCommand('mirror:status', MirrorStatus, words, { env: { MOLAR_CONFIG_DIR: folder } });

describe('the file of a mirror', () => {
  it('is beside the configuration when no other is named, for its owner alone', async () => {
    await start();
    const ran = await sync(['patients', '--json']);
    expect(ran).toMatchObject({ exitCode: 0, stderr: '' });
    const { file: made } = JSON.parse(ran.stdout);
    expect(made).toBe(join(folder, 'mirror', 'default.db'));
    expect((await stat(made)).mode & 0o777).toBe(OWNER_ONLY.file);
    expect((await stat(join(folder, 'mirror'))).mode & 0o777).toBe(OWNER_ONLY.folder);
    // Also one that another program has opened to others.
    await chmod(made, 0o644);
    expect(await sync(['patients'])).toMatchObject({ exitCode: 0 });
    expect((await stat(made)).mode & 0o777).toBe(OWNER_ONLY.file);
    const { resources, complete } = JSON.parse((await status(['--json'])).stdout);
    expect(complete).toBe(false);
    expect(resources).toHaveLength(11);
  });

  it('is of one organization and one address', async () => {
    await start();
    await sync(['transactiontags', '--to', file]);
    const before = service.requests.length;
    const other = await sync(['--to', file, '--json'], { env: { MOLAR_ORGANIZATION: 'another' } });
    expect(jsonFailure(other)).toMatchObject({ exitCode: 2 });
    const moved = service.url.replace('127.0.0.1', 'localhost');
    const elsewhere = await sync(['--to', file, '--json'], { env: { MOLAR_URL: moved } });
    expect(jsonFailure(elsewhere)).toMatchObject({ exitCode: 2 });
    expect(service.requests).toHaveLength(before);
    const told = await sync(['transactiontags', '--to', file, '--moved'], { env: { MOLAR_URL: moved } });
    expect(told.exitCode, told.stderr).toBe(0);
    expect(JSON.parse((await status(['--to', file, '--json'])).stdout).url).toBe(moved);
    expect(queried(file, 'SELECT DISTINCT url FROM _mirror')).toEqual([{ url: moved }]);
  });

  it('is compared with a new address whole, whichever runs it takes', async () => {
    let isDown = false;
    let left = Number.POSITIVE_INFINITY;
    await start({
      moods: { pageCap: 10 },
      practice: { patients: 250, transactions: 20 },
      faults: (kind) => {
        const fails = isDown || (kind.includes('/patients?') && --left < 0);
        return fails ? { kind: 'error500', after: false } : undefined;
      },
    });
    expect((await sync(['transactions', 'transactiontags', '--to', file])).exitCode).toBe(0);
    left = 12;
    expect((await sync(['patients', '--to', file])).exitCode).toBe(8);
    expect(queried(file, 'SELECT count(*) AS rows FROM patients')).toEqual([{ rows: 100 }]);
    // What another store has may differ without having changed since.
    for (const resource of ['transactions', 'patients'] as const) {
      const [gone, other] = service.records(resource) as [Fields, Fields];
      const changed = resource === 'patients' ? { lastName: 'Other' } : { amount: 12.34 };
      service.edit(resource, Number(other.id), { ...changed, lastModified: other.lastModified });
      service.remove(resource, Number(gone.id));
    }
    left = Number.POSITIVE_INFINITY;
    const env = { MOLAR_URL: service.url.replace('127.0.0.1', 'localhost') };
    isDown = true;
    expect((await sync(['transactions', '--to', file, '--moved'], { env })).exitCode).toBe(8);
    isDown = false;
    expect((await sync(['transactiontags', '--to', file], { env })).exitCode).toBe(0);
    const later = await sync(['transactions', 'patients', '--to', file], { env });
    expect(later.exitCode, later.stderr).toBe(0);
    for (const resource of ['transactions', 'patients'] as const)
      expect(wrongRows(file, resource, service.records(resource))).toEqual([]);
  });

  it('is left as it is when it is something else', async () => {
    await start();
    await writeFile(file, 'a letter');
    for (const words of [
      ['--to', file],
      ['--to', file, '--moved'],
    ])
      expect((await sync(words)).exitCode).toBe(9);
    const reset = await runCommand('mirror:reset', MirrorReset, ['--to', file, '--yes'], {});
    expect(reset.exitCode).toBe(9);
    expect(await readFile(file, 'utf8')).toBe('a letter');
    await rm(file);
    const connection = openConnection(file);
    connection.exec('CREATE TABLE letters (id INTEGER PRIMARY KEY)');
    connection.close();
    const before = await readFile(file);
    expect((await sync(['--to', file])).exitCode).toBe(9);
    expect((await readFile(file)).equals(before)).toBe(true);
    expect(service.requests).toHaveLength(0);
  });

  it('keeps its choice of columns', async () => {
    await start();
    const words = ['patients', '--to', file, '--columns', 'patients:lastName,phones'];
    expect((await sync(words)).exitCode).toBe(0);
    expect((await sync([...words.slice(0, -1), 'patients:phones,lastName'])).exitCode).toBe(0);
    expect((await sync(['--to', file, '--columns', 'patients:firstName'])).exitCode).toBe(2);
    const [row = {}] = queried(file, 'SELECT * FROM patients');
    expect(Object.keys(row)).toEqual(['id', 'last_name', '_synced_at', '_record']);
    const kept = () => {
      const records = queried(file, 'SELECT _record FROM patients').map(({ _record }) => JSON.parse(String(_record)));
      return [...new Set(records.flatMap(Object.keys))].sort();
    };
    expect(kept()).toEqual(['id', 'lastName', 'phones']);
    expect(service.requests.every(({ path, query }) => path !== '/api/v1/patients' || query.responseFields)).toBe(true);
    // Whatever the service sends.
    await rm(file);
    const openNetwork = answered((url) => url.replace(/responseFields=[^&]*&?/, ''));
    expect((await sync(words, { openNetwork })).exitCode).toBe(0);
    expect(kept()).toEqual(['id', 'lastName', 'phones']);
  });

  it('is not asked for while it is fresh', async () => {
    await start();
    await sync(['patients', '--to', file]);
    const before = service.requests.length;
    const fresh = await sync(['patients', '--to', file, '--fresh', '15m', '--json']);
    expect(JSON.parse(fresh.stdout)).toMatchObject({ requests: 0, complete: true });
    expect(service.requests).toHaveLength(before);
    await sync(['patients', 'events', '--to', file, '--fresh', '15m']);
    expect(service.requests.length).toBeGreaterThan(before);
  });

  it('is removed by reset alone, and missing afterwards', async () => {
    await start();
    await sync(['transactiontags', '--to', file]);
    const world = { env: { MOLAR_CONFIG_DIR: folder } };
    expect((await runCommand('mirror:reset', MirrorReset, ['--to', file], world)).exitCode).toBe(2);
    expect((await runCommand('mirror:reset', MirrorReset, ['--to', file, '--yes'], world)).exitCode).toBe(0);
    expect((await status(['--to', file])).exitCode).toBe(4);
  });
});

describe('what a mirror does not believe', () => {
  it.each([
    ['transactiontags', 100, 51, 8],
    ['transactiontags', 100, 50, 0],
    ['transactiontags', 99, 99, 0],
    ['patients', 120, 119, 0],
  ] as const)(
    'of %s, %i there, a list that lacks %i, unless there is a count: %i',
    async (name, rows, lacking, code) => {
      await start({ practice: { tags: rows, patients: rows } });
      await sync([name, '--to', file]);
      for (const { id } of service.records(name).slice(0, lacking)) service.remove(name, Number(id));
      const ran = await sync([name, '--to', file, '--json']);
      expect(ran.exitCode, ran.stderr).toBe(code);
      if (code !== 0) expect(jsonFailure(ran)).toMatchObject({ code: 'pages.incomplete' });
      const left = code === 0 ? rows - lacking : rows;
      expect(queried(file, `SELECT count(*) AS rows FROM ${TABLES[name]}`)).toEqual([{ rows: left }]);
    },
  );
});

describe('what a mirror has read', () => {
  it.each(['transactiontags', 'patients'])('is not taken for nothing when it was lost meanwhile: %s', async (name) => {
    await start({ practice: { tags: 20, patients: 20 } });
    const words = [name, 'events', '--to', file, '--json'];
    expect((await sync(words)).exitCode).toBe(0);
    const rows = `SELECT count(*) AS rows FROM ${TABLES[name]}`;
    const before = queried(file, rows);
    service.onRequest = ({ path }) => {
      if (path !== '/api/v1/events') return;
      const connection = openConnection(file);
      connection.exec('DELETE FROM _staged; DELETE FROM _found');
      connection.close();
    };
    expect(jsonFailure(await sync(words))).toMatchObject({ exitCode: 8, code: 'pages.incomplete' });
    expect(queried(file, rows)).toEqual(before);
    service.onRequest = undefined;
    expect((await sync(words)).exitCode).toBe(0);
    expect(queried(file, rows)).toEqual(before);
  });
});

describe('versions', () => {
  it('of a table that is only loaded in part begin when it is whole, one of each record', async () => {
    let left = 12;
    await start({
      moods: { pageCap: 10 },
      practice: { patients: 250 },
      faults: (kind) => (kind.includes('/patients?') && --left < 0 ? { kind: 'error500', after: false } : undefined),
    });
    expect((await sync(['patients', '--to', file])).exitCode).toBe(8);
    expect(queried(file, 'SELECT count(*) AS rows FROM patients')).toEqual([{ rows: 100 }]);
    left = Number.POSITIVE_INFINITY;
    const ran = await sync(['patients', '--to', file, '--history']);
    expect(ran.exitCode, ran.stderr).toBe(0);
    const counted = 'SELECT count(*) AS versions, count(DISTINCT id) AS records, sum(_valid_to IS NULL) AS current';
    expect(queried(file, `${counted} FROM patients_history`)).toEqual([{ versions: 250, records: 250, current: 250 }]);
  });

  it('begin with what is there, and tell of changes and deletions', async () => {
    await start();
    await sync(['patients', '--to', file]);
    await sync(['patients', '--to', file, '--history']);
    const [one, two] = service.records('patients').map(({ id }) => Number(id)) as [number, number];
    service.edit('patients', one, { lastName: 'Changed' });
    service.remove('patients', two);
    await sync(['patients', '--to', file]);
    const versions = queried(
      file,
      `SELECT id, last_name, _operation, _valid_to IS NULL AS current, _valid_from = _valid_to AS point
      FROM patients_history WHERE id IN (${one}, ${two}) ORDER BY rowid`,
    );
    expect(versions.map(({ id, _operation, current, point }) => [id, _operation, current, point])).toEqual(
      expect.arrayContaining([
        [one, 'CREATE', 0, 0],
        [two, 'CREATE', 0, 0],
        [one, 'UPDATE', 1, null],
        [two, 'DELETE', 0, 1],
      ]),
    );
    expect(versions).toHaveLength(4);
    expect(queried(file, `SELECT id FROM patients_deleted`)).toEqual([{ id: two }]);
    expect(queried(file, `SELECT count(*) AS rows FROM patient_phones WHERE patient_id = ${two}`)).toEqual([
      { rows: 0 },
    ]);
  });
});
