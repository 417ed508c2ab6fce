import { copyFileSync, existsSync } from 'node:fs';
import { chmod, mkdir, readdir, readFile, rm, stat } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { backUp } from '../../../src/server/maintenance/backup/backup.ts';
import { restore } from '../../../src/server/maintenance/restore.ts';
import { downgradeScript } from '../../support/downgrade.ts';
import { onPostgres } from '../../support/postgres.ts';
import { preparedTest } from '../../support/preparedschemas.ts';
import {
  answers,
  check,
  copied,
  filesIn,
  inDatabase,
  linesOf,
  own,
  sharedBackup,
  stoppingAt,
  WORK,
} from './practices.ts';

const practice = sharedBackup();
const { fresh } = practice;
let before: Record<string, string>;
beforeAll(async () => {
  before = await answers({ data: await copied(practice.base, fresh()) });
});

describe('what was restored', () => {
  it('answers as the source did, to the byte', async () => {
    const data = fresh();
    const report = await restore(practice.backup, { data }, WORK);
    expect(report).toMatchObject({ backup: practice.backup, to: data, problems: [] });
    expect((await readdir(data)).filter((name) => !/-(?:wal|shm)$/.test(name)).sort()).toEqual([
      'audit.key',
      'files',
      'molar.sqlite',
    ]);
    expect(linesOf(await check({ data }, { deep: true }))).toEqual([]);
    expect(await answers({ data })).toEqual(before);
    await expect(stat(`${data}.part`)).rejects.toThrow('ENOENT');
  });

  it('may stand in an empty folder that is there, for its owner alone', async () => {
    const data = fresh();
    await mkdir(data);
    // As a copy on a medium without owners is.
    const open = await copied(practice.backup, fresh());
    await chmod(join(open, 'molar.sqlite'), 0o644);
    await restore(open, { data }, WORK);
    expect((await stat(data)).mode & 0o777).toBe(0o700);
    expect((await stat(join(data, 'molar.sqlite'))).mode & 0o777).toBe(0o600);
  });

  it('is made from a backup that cannot be written to, which stays as it is', async () => {
    const backup = await copied(practice.backup, fresh());
    // A folder changes when anything is made in it, and removed again.
    const state = async () => {
      const names = ['.', ...(await readdir(backup, { recursive: true }))].sort();
      return Promise.all(names.map(async (name) => [name, (await stat(join(backup, name))).mtimeMs]));
    };
    const before = await state();
    expect(before.flat()).not.toContain(join('files', 'incoming'));
    await restore(backup, { data: fresh() }, WORK);
    expect(await state()).toEqual(before);
  });

  it('is complete after an interruption, too', async () => {
    const data = fresh();
    await expect(restore(practice.backup, { data }, stoppingAt('Verifying files'))).rejects.toThrow('Stopped here.');
    await expect(stat(data)).rejects.toThrow('ENOENT');
    // A journal of the database that was there counts for no other.
    const other = await copied(practice.base, fresh());
    inDatabase(other, (connection) => {
      connection.exec('DELETE FROM patients');
      copyFileSync(join(other, 'molar.sqlite-wal'), join(`${data}.part`, 'molar.sqlite-wal'));
    });
    await restore(practice.backup, { data }, WORK);
    expect(linesOf(await check({ data }, { deep: true }))).toEqual([]);
  });

  it('may have its files in another folder, and the key of its log elsewhere', async () => {
    const [data, files, auditKey] = [fresh(), fresh(), fresh()];
    await restore(practice.backup, { data, files, auditKey }, WORK);
    expect([existsSync(auditKey), existsSync(join(data, 'audit.key'))]).toEqual([true, false]);
    expect(linesOf(await check({ data, files }, { deep: true }))).toEqual([]);
    expect(await filesIn(join(data, 'files')).catch(() => [])).toEqual([]);
  });

  it('tells of itself in the log, begins an epoch of the stream, and has no key of links of before', async () => {
    const data = fresh();
    const now = () => Date.UTC(2026, 4, 1);
    const report = await restore(practice.backup, { data }, { ...WORK, now });
    const manifest = JSON.parse(await readFile(join(practice.backup, 'manifest.json'), 'utf8'));
    const rows = Object.values(manifest.tables as Record<string, number>).reduce((sum, each) => sum + each, 0);
    expect(report).toMatchObject({ takenAt: manifest.takenAt, rows, files: manifest.files.count });
    const all = (from: string, query: string) =>
      inDatabase(from, (connection) => connection.prepare(query).all() as Record<string, unknown>[]);
    const log = "SELECT at, covers_all FROM audit_entries WHERE operation = 'server.restore'";
    expect(all(data, log)).toEqual([{ at: '2026-05-01T00:00:00.000Z', covers_all: 1 }]);
    const signed = 'SELECT reason, id, at FROM audit_checkpoints ORDER BY number DESC LIMIT 1';
    const [last] = all(data, 'SELECT last_id AS id FROM log_heads');
    expect(all(data, signed)).toEqual([{ reason: 'restore', id: last?.id, at: '2026-05-01T00:00:00.000Z' }]);
    const epoch = "SELECT value FROM settings WHERE name = 'stream_epoch'";
    expect(all(data, epoch)).toHaveLength(1);
    expect(all(data, epoch)).not.toEqual(all(practice.backup, epoch));
    expect(all(data, 'SELECT * FROM link_keys')).toEqual([]);
    expect((await stat(join(data, 'molar.sqlite-wal')).catch(() => ({ size: 0 }))).size).toBe(0);
  });

  it('of data of an earlier molar is of this version', async () => {
    const source = await copied(practice.base, fresh());
    inDatabase(source, (connection) => connection.exec(downgradeScript(3)));
    const old = fresh();
    await backUp({ data: source }, old, { ...WORK, version: '1' });
    const data = fresh();
    expect(await restore(old, { data }, WORK)).toMatchObject({ problems: [] });
    expect(linesOf(await check({ data }))).toEqual([]);
  });

  it('tells the problems that the data had', async () => {
    const source = await copied(practice.base, fresh());
    inDatabase(source, (connection) => connection.exec('DELETE FROM stream_messages WHERE org = 1 AND seq = 2'));
    const [lost = ''] = (await filesIn(join(source, 'files'))).filter((name) => name.endsWith('-original'));
    await rm(lost);
    const flawed = fresh();
    await backUp({ data: source }, flawed, { ...WORK, version: '1' });
    const checks = ['stream', 'files'].map((name) => `${name}: 1 problems that molar server check lists`);
    expect(await restore(flawed, { data: fresh() }, WORK)).toMatchObject({
      problems: [`${basename(lost)} is missing`, ...checks],
    });
  });

  preparedTest('in PostgreSQL answers the same, and can be backed up to a folder again', async (database) => {
    const url = own(database);
    // Its files are in the data folder where no other place is named.
    const to = { data: fresh(), database: url };
    const stopped = restore(practice.backup, to, stoppingAt('Verifying files'));
    await expect(stopped).rejects.toThrow('Stopped here.');
    expect(linesOf(await check(to))).toEqual([expect.stringContaining('a copy into it is not complete')]);
    expect(await restore(practice.backup, to, WORK)).toMatchObject({ problems: [] });
    const names = async (of: string) => (await filesIn(join(of, 'files'))).map((file) => basename(file));
    expect(await names(to.data)).toEqual(await names(practice.backup));
    expect(linesOf(await check(to, { deep: true }))).toEqual([]);
    const noted = "SELECT covers_all FROM audit_entries WHERE operation = 'server.restore'";
    expect(await onPostgres(async (client) => (await client.query(noted)).rows, url)).toEqual([{ covers_all: '1' }]);
    // Positions of the stream that were given before the restore are of another epoch.
    const epoch = "SELECT value FROM settings WHERE name = 'stream_epoch'";
    const there = await onPostgres(async (client) => (await client.query(epoch)).rows, url);
    const backedUp = inDatabase(practice.backup, (connection) => connection.prepare(epoch).all());
    expect([there.length, there]).toEqual([1, expect.not.arrayContaining(backedUp)]);
    const again = fresh();
    expect(await backUp(to, again, { ...WORK, version: '1' })).toMatchObject({ problems: [] });
    const data = fresh();
    await restore(again, { data }, WORK);
    expect(await answers({ data })).toEqual(before);
    await expect(restore(practice.backup, { data: fresh(), database: url, files: fresh() }, WORK)).rejects.toThrow(
      'is not empty: it has',
    );
  });
});

describe('a database with a trigger and a view', () => {
  it('is reported by a check, and a backup of it has none and can be restored', async () => {
    const source = await copied(practice.base, fresh());
    inDatabase(source, (connection) =>
      connection.exec(`CREATE TRIGGER mine BEFORE DELETE ON leases BEGIN DELETE FROM patients; END;
        CREATE VIEW "my "" own" AS SELECT * FROM patients;`),
    );
    const report = await check({ data: source });
    expect(report.problems.filter((problem) => problem.check === 'schema').map(({ message }) => message)).toEqual([
      'a trigger that is not of molar',
      'a view that is not of molar',
    ]);
    const other = fresh();
    await backUp({ data: source }, other, { ...WORK, version: '1.2.3' });
    const data = fresh();
    await restore(other, { data }, WORK);
    expect(linesOf(await check({ data }, { deep: true }))).toEqual([]);
    expect(await answers({ data })).toEqual(before);
  });
});
