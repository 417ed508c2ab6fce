import { createHash } from 'node:crypto';
import { readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { backUp } from '../../../src/server/maintenance/backup/backup.ts';
import type { Manifest } from '../../../src/server/maintenance/backup/manifest.ts';
import { rowsOf } from '../../support/calls.ts';
import { testService } from '../../support/service.ts';
import {
  answers,
  check,
  copied,
  filesIn,
  inDatabase,
  linesOf,
  made,
  sharedPractice,
  stoppingAt,
  WORK,
} from './practices.ts';

const practice = sharedPractice();
const OPTIONS = { ...WORK, version: '1.2.3' };
/** A backup of the practice, at which some tests only look (a server would write to it), and what was told of it. */
let whole: { readonly target: string; readonly report: Awaited<ReturnType<typeof backUp>> };
beforeAll(async () => {
  const target = practice.fresh();
  whole = { target, report: await backUp({ data: practice.base }, target, OPTIONS) };
});
const sha256 = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex');

describe('a backup', () => {
  it('is a data folder that answers as the source does, with what it has told by its manifest', async () => {
    const { target, report } = whole;
    const manifest = JSON.parse(await readFile(join(target, 'manifest.json'), 'utf8')) as Manifest;
    const list = await readFile(join(target, 'files.sha256'), 'utf8');
    const database = await readFile(join(target, 'molar.sqlite'));
    const files = await filesIn(join(target, 'files'));
    expect(report).toMatchObject({ backup: target, files: files.length, checked: true, problems: [] });
    expect(manifest).toMatchObject({
      format: 1,
      molar: '1.2.3',
      takenAt: report.takenAt,
      database: { name: 'molar.sqlite', bytes: database.length, sha256: sha256(database) },
      files: { list: 'files.sha256', sha256: sha256(Buffer.from(list)), count: files.length },
      problems: 0,
    });
    const counted = inDatabase(practice.base, (connection) =>
      connection.prepare('SELECT COUNT(*) AS rows FROM patients').get(),
    );
    expect({ rows: manifest.tables.patients }).toEqual(counted);
    const hashes = await Promise.all(
      files.map(async (name) => `${sha256(await readFile(name))}  ${name.slice(target.length + 1)}`),
    );
    expect(list.trim().split('\n').sort()).toEqual(hashes.sort());
    const served = await copied(target, practice.fresh());
    expect(linesOf(await check({ data: served }, { deep: true }))).toEqual([]);
    const source = await copied(practice.base, practice.fresh());
    expect(await answers({ data: served })).toEqual(await answers({ data: source }));
  });

  it('is for its owner alone', async () => {
    expect((await stat(whole.target)).mode & 0o777).toBe(0o700);
    for (const entry of await readdir(whole.target, { recursive: true, withFileTypes: true })) {
      const { mode } = await stat(join(entry.parentPath, entry.name));
      expect({ name: entry.name, mode: mode & 0o777 }).toEqual({
        name: entry.name,
        mode: entry.isDirectory() ? 0o700 : 0o600,
      });
    }
  });

  it('leaves nothing else behind, and the source as it was', async () => {
    const source = await copied(practice.base, practice.fresh());
    const before = await filesIn(source);
    const target = practice.fresh();
    await backUp({ data: source }, target, OPTIONS);
    expect((await readdir(target)).sort()).toEqual(['files', 'files.sha256', 'manifest.json', 'molar.sqlite']);
    expect(await readdir(join(target, 'files'))).not.toContain('incoming');
    await expect(stat(`${target}.part`)).rejects.toThrow('ENOENT');
    expect((await filesIn(source)).filter((name) => !/-(?:wal|shm)$/.test(name))).toEqual(
      before.filter((name) => !/-(?:wal|shm)$/.test(name)),
    );
  });

  it('has no file that was to be removed, and none of a document that is gone', async () => {
    const source = await copied(practice.base, practice.fresh());
    const [first = ''] = await filesIn(join(source, 'files'));
    const name = `${first.slice(first.lastIndexOf('/') + 1).slice(0, 2)}00-original`;
    await writeFile(join(first, '..', name), 'x');
    inDatabase(source, (connection) => connection.exec(`INSERT INTO file_removals (name) VALUES ('${name}')`));
    const target = practice.fresh();
    expect(await backUp({ data: source }, target, OPTIONS)).toMatchObject({ problems: [] });
    expect((await filesIn(target)).some((path) => path.endsWith(name))).toBe(false);
    expect(linesOf(await check({ data: target }))).toEqual([]);
  });

  it('is made of data with problems, which it tells', async () => {
    const source = await copied(practice.base, practice.fresh());
    const [first = ''] = (await filesIn(join(source, 'files'))).filter((name) => name.endsWith('-original'));
    await rm(first);
    inDatabase(source, (connection) => connection.exec('DELETE FROM stream_messages WHERE org = 1 AND seq = 2'));
    const target = practice.fresh();
    const { problems } = await backUp({ data: source }, target, OPTIONS);
    expect(problems).toEqual([
      `${first.slice(first.lastIndexOf('/') + 1)} is missing`,
      '1 problems that molar server check lists',
    ]);
    expect(JSON.parse(await readFile(join(target, 'manifest.json'), 'utf8'))).toMatchObject({ problems: 2 });
  });

  it('tells each file that is lost, however many', async () => {
    const source = await copied(practice.base, practice.fresh());
    inDatabase(source, (connection) => {
      const row = connection.prepare('SELECT * FROM documents LIMIT 1').get() as Record<string, unknown>;
      const names = Object.keys(row);
      const insert = connection.prepare(`INSERT INTO documents (${names}) VALUES (${names.map((name) => `@${name}`)})`);
      for (let n = 0; n < 501; n++)
        insert.run({ ...row, id: 10_000 + n, guid: `00${n}`, base_fold: `${n}`, variants: 'original' });
    });
    const { problems } = await backUp({ data: source }, practice.fresh(), OPTIONS);
    const lost = Array.from({ length: 501 }, (_, n) => `00${n}-original is missing`);
    expect(problems.filter((problem) => problem.endsWith('is missing')).sort()).toEqual(lost.sort());
  });

  it('is made of data of an earlier molar, unchecked', async () => {
    const source = await copied(practice.base, practice.fresh());
    inDatabase(source, (connection) => connection.exec('DELETE FROM schema_migrations WHERE version > 3'));
    expect(await backUp({ data: source }, practice.fresh(), OPTIONS)).toMatchObject({ checked: false, problems: [] });
  });

  it('is an entry of the log before anything is copied, there and in the backup', async () => {
    const source = await copied(practice.base, practice.fresh());
    const entries = (data: string) =>
      inDatabase(data, (connection) =>
        connection
          .prepare("SELECT id, at, covers_all FROM audit_entries WHERE operation = 'server.backup' AND id > 0")
          .all(),
      );
    const before = entries(source).length;
    const seen: unknown[] = [];
    let ms = Date.UTC(2026, 4, 1);
    const progress = (what: string) => {
      seen.push(entries(source).length);
      // What is written from here on is not in the backup, however long that takes.
      if (what === 'Copying pages of the database') ms += 3_600_000;
    };
    const target = practice.fresh();
    const now = () => ms;
    const report = await backUp({ data: source }, target, { ...OPTIONS, now, progress });
    expect(seen[0]).toBe(before + 1);
    expect(entries(source).slice(before)).toEqual([
      { id: expect.any(Number), at: '2026-05-01T00:00:00.000Z', covers_all: 1 },
    ]);
    expect(entries(target)).toEqual(entries(source));
    expect(report.takenAt).toBe('2026-05-01T00:00:00.000Z');
  });

  it('has nothing of what is of its moment and its store alone, in one file without a journal', async () => {
    const source = await copied(practice.base, practice.fresh());
    const statements = [
      "INSERT INTO leases (name, holder, until) VALUES ('a lease', 'x', 1)",
      "INSERT INTO rate_buckets (caller, tokens, at, granted) VALUES ('a caller', 1, 1, 1)",
      "INSERT INTO link_keys (id, secret, created_at) VALUES ('a key', 'x', '2999-01-01T00:00:00.000Z')",
    ];
    inDatabase(source, (connection) => {
      for (const statement of statements) connection.exec(statement);
    });
    const target = practice.fresh();
    await backUp({ data: source }, target, OPTIONS);
    const left = ['leases', 'rate_buckets', 'link_keys', 'file_removals'].map((table) =>
      inDatabase(target, (connection) => connection.prepare(`SELECT COUNT(*) FROM ${table}`).pluck().get()),
    );
    expect(left).toEqual([0, 0, 0, 0]);
    const mode = inDatabase(target, (connection) => connection.pragma('journal_mode', { simple: true }));
    expect(mode).toBe('delete');
  });

  it('tells how many rows, files and bytes it has', async () => {
    const { target, report } = whole;
    const files = await filesIn(join(target, 'files'));
    const sizes = await Promise.all(
      [join(target, 'molar.sqlite'), ...files].map(async (file) => (await stat(file)).size),
    );
    expect(report).toMatchObject({ files: files.length, shared: 0, bytes: sizes.reduce((sum, size) => sum + size, 0) });
    const {
      tables,
      database,
      files: listed,
    } = JSON.parse(await readFile(join(target, 'manifest.json'), 'utf8')) as Manifest;
    const counted = Object.keys(tables).map((table) =>
      inDatabase(target, (connection) => connection.prepare(`SELECT COUNT(*) FROM ${table}`).pluck().get()),
    );
    expect(Object.values(tables)).toEqual(counted);
    expect(report.rows).toBe(Object.values(tables).reduce((sum, rows) => sum + rows, 0));
    expect(report.sha256).toBe(database.sha256);
    expect(listed.bytes + database.bytes).toBe(report.bytes);
  });

  it('tells files that were changed, and all else that is wrong with files', async () => {
    const source = await copied(practice.base, practice.fresh());
    const [first = '', second = '', third = ''] = (await filesIn(join(source, 'files'))).filter((name) =>
      name.endsWith('-original'),
    );
    await writeFile(first, Buffer.alloc((await stat(first)).size, 'x'));
    await writeFile(second, 'short');
    await rm(third);
    const { problems } = await backUp({ data: source }, practice.fresh(), OPTIONS);
    expect(problems).toEqual(
      [
        `${basename(third)} is missing`,
        ...[first, second].map((file) => `${basename(file)} was changed`).sort(),
        '1 problems of files that molar server check lists',
      ].sort((a, b) => problems.indexOf(a) - problems.indexOf(b)),
    );
  });

  it('goes on with the files that an interrupted one has', async () => {
    const target = practice.fresh();
    const stopped = { ...OPTIONS, ...stoppingAt('Copying pages of the database') };
    await expect(backUp({ data: practice.base }, target, stopped)).rejects.toThrow('Stopped here.');
    expect((await stat(`${target}.part`)).isDirectory()).toBe(true);
    await expect(stat(target)).rejects.toThrow('ENOENT');
    const kept = await filesIn(join(`${target}.part`, 'files'));
    const times = await Promise.all(kept.map(async (name) => (await stat(name)).mtimeMs));
    // As a power cut leaves a file: not under its name yet, and with other bytes.
    const [cut = ''] = kept;
    const { size } = await stat(cut);
    await rm(cut);
    await writeFile(join(`${target}.part`, 'files/incoming', basename(cut)), Buffer.alloc(size));
    expect(await backUp({ data: practice.base }, target, OPTIONS)).toMatchObject({ problems: [], files: kept.length });
    const there = await filesIn(join(target, 'files'));
    expect((await Promise.all(there.map(async (name) => (await stat(name)).mtimeMs))).slice(1)).toEqual(times.slice(1));
  });

  it('has no file of a document that was deleted since an interrupted one', async () => {
    const source = await copied(practice.base, practice.fresh());
    const target = practice.fresh();
    const stopped = { ...OPTIONS, ...stoppingAt('Copying pages of the database') };
    await expect(backUp({ data: source }, target, stopped)).rejects.toThrow('Stopped here.');
    const kept = (await filesIn(join(`${target}.part`, 'files'))).map((file) => basename(file));
    const service = await testService([], { data: source });
    const [document] = rowsOf(await service.call('GET', '/documents'));
    expect((await service.call('DELETE', `/documents/${document?.id}`)).status).toBeLessThan(300);
    await service.close();
    const report = await backUp({ data: source }, target, OPTIONS);
    const left = (await filesIn(join(target, 'files'))).map((file) => basename(file));
    expect(kept).toContain(`${document?.guidName}-original`);
    expect(left.sort()).toEqual(kept.filter((name) => !name.startsWith(`${document?.guidName}-`)).sort());
    expect(report).toMatchObject({ problems: [], files: left.length });
    expect(linesOf(await check({ data: target }, { deep: true }))).toEqual([]);
  });

  it('of documents that are deleted meanwhile has a later state, with all its files', async () => {
    const source = await copied(practice.base, practice.fresh());
    const service = await testService([], { data: source });
    const { id } = await made(service, '/documents', {
      name: 'short',
      mimeType: 'PDF',
      file: { content: 'JVBERi0xLjQK' },
    });
    let waiting: Promise<unknown> | undefined;
    const progress = (what: string) => {
      // Of the first look at files: the state that is taken next still has the document.
      if (what === 'Copying files') waiting ??= service.call('DELETE', `/documents/${id}`);
    };
    const target = practice.fresh();
    const report = await backUp({ data: source }, target, { ...OPTIONS, progress });
    await waiting;
    await service.close();
    expect(report.problems).toEqual([]);
    expect(linesOf(await check({ data: target }, { deep: true }))).toEqual([]);
  });

  it('has a later state where a document is deleted before its file is copied', async () => {
    const source = await copied(practice.base, practice.fresh());
    const [first = ''] = (await filesIn(join(source, 'files'))).filter((name) => name.endsWith('-original'));
    const guid = basename(first).replace('-original', '');
    await rm(first);
    const documents = (data: string) =>
      inDatabase(data, (connection) =>
        connection.prepare('SELECT COUNT(*) FROM documents WHERE guid = ?').pluck().get(guid),
      );
    expect(documents(source)).toBe(1);
    let isLooked = false;
    const progress = (what: string) => {
      isLooked ||= what === 'Copying files';
    };
    // The time is asked for when a state was taken.
    const now = () => {
      if (isLooked)
        inDatabase(source, (connection) => connection.prepare('DELETE FROM documents WHERE guid = ?').run(guid));
      return Date.now();
    };
    const target = practice.fresh();
    const { problems } = await backUp({ data: source }, target, { ...OPTIONS, progress, now });
    expect(documents(target)).toBe(0);
    expect(problems.filter((problem) => problem.includes('is missing'))).toEqual([]);
  });
});
