import { createHash } from 'node:crypto';
import {
  appendFile,
  link,
  mkdir,
  readdir,
  readFile,
  rename,
  rm,
  stat,
  symlink,
  truncate,
  writeFile,
} from 'node:fs/promises';
import { join, relative } from 'node:path';
import { describe, expect, it } from 'vitest';
import { backUp } from '../../../src/server/maintenance/backup/backup.ts';
import { refuseLinks } from '../../../src/server/maintenance/backup/planted.ts';
import { restore } from '../../../src/server/maintenance/restore.ts';
import { ownSchema } from '../../../src/server/maintenance/tables.ts';
import { preparedTest } from '../../support/preparedschemas.ts';
import { copied, filesIn, inDatabase, own, sharedBackup, WORK } from './practices.ts';

const practice = sharedBackup();
const { fresh } = practice;

/** Changes the manifest of a copy. */
async function edit(copy: string, change: Record<string, unknown>): Promise<string> {
  const file = join(copy, 'manifest.json');
  await writeFile(file, JSON.stringify({ ...JSON.parse(await readFile(file, 'utf8')), ...change }));
  return copy;
}

/** A copy of the backup with another manifest. */
const altered = async (change: Record<string, unknown>) => edit(await copied(practice.backup, fresh()), change);

/** Makes the manifest of an altered copy tell the hash that its database has now, as whoever altered it can. */
async function signed(copy: string): Promise<void> {
  const { database } = await manifestOf(copy);
  await edit(copy, { database: { ...database, sha256: sha256Of(await readFile(join(copy, 'molar.sqlite'))) } });
}

/** A copy of the backup with another list of files, of so many, that its manifest agrees with. */
async function listing(list: string, count: number): Promise<string> {
  const copy = await copied(practice.backup, fresh());
  await writeFile(join(copy, 'files.sha256'), list);
  const { files } = await manifestOf(copy);
  return edit(copy, { files: { ...files, sha256: sha256Of(list), count } });
}

const sha256Of = (bytes: string | Buffer) => createHash('sha256').update(bytes).digest('hex');

async function manifestOf(copy: string): Promise<Record<'database' | 'files', Record<string, unknown>>> {
  return JSON.parse(await readFile(join(copy, 'manifest.json'), 'utf8'));
}

describe('a restore is refused', () => {
  const refused = async (from: string, what: string, to = fresh()) => {
    await expect(restore(from, { data: to }, WORK)).rejects.toMatchObject({
      name: 'StoreUnusable',
      message: expect.stringContaining(what),
    });
    await expect(stat(to)).rejects.toThrow('ENOENT');
  };

  it('into a folder that has something', async () => {
    const data = fresh();
    await mkdir(data);
    await writeFile(join(data, 'mine'), 'x');
    await expect(restore(practice.backup, { data }, WORK)).rejects.toThrow('is there already, and not empty.');
    expect(await readdir(data)).toEqual(['mine']);
  });

  it('with a list of another number of files, or of one that is more', async () => {
    const { files } = await manifestOf(practice.backup);
    const count = Number(files.count);
    for (const other of [count - 1, count + 1]) {
      await refused(
        await altered({ files: { ...files, count: other } }),
        `The backup lists ${count} files, not ${other}.`,
      );
    }
    const list = await readFile(join(practice.backup, 'files.sha256'), 'utf8');
    const more = await listing(`${list}${'0'.repeat(64)}  files/00/0000-original\n`, count + 1);
    await refused(more, 'The file 0000-original of the backup is missing.');
  });

  it.each([
    'x',
    `${'0'.repeat(63)}  files/00/00-original`,
    `${'0'.repeat(64)}  elsewhere/00/00-original`,
    `${'0'.repeat(64)}  files/00/../00`,
  ])('with a list that has the line %s', async (line) => {
    const copy = await listing(`${line}\n`, 1);
    await refused(copy, 'has a line that cannot be read');
  });

  it.each(['format', 'database', 'files', 'tables', 'schema'])('with a manifest without %s', async (name) => {
    await refused(await altered({ [name]: undefined }), 'is of a form that this molar does not know');
  });

  it('from what is no backup', async () => {
    await refused(practice.base, 'is no backup: manifest.json is missing');
    await refused(fresh(), 'is no backup: manifest.json is missing');
  });

  it('of a form or a schema that is not known', async () => {
    await refused(await altered({ format: 2 }), 'is of a form that this molar does not know');
    const { version } = await ownSchema();
    const newer = `was made by a newer molar (schema ${version + 1};`;
    await refused(await altered({ schema: version + 1 }), newer);
    // Before the database is asked for anything.
    const database = 'postgres://nobody@127.0.0.1:1/nothing';
    await expect(
      restore(await altered({ schema: version - 1 }), { data: fresh(), database }, WORK),
    ).rejects.toMatchObject({
      message: `The backup is of an earlier molar (schema ${version - 1}; PostgreSQL takes ${version}).`,
      next: 'Restore it to a folder, and migrate that with molar server migrate.',
    });
  });

  preparedTest('to PostgreSQL when it follows another catalog, and leaves both as they are', async (database) => {
    const source = await copied(practice.base, fresh());
    inDatabase(source, (connection) =>
      connection.exec("UPDATE schema_state SET value = 'other' WHERE name = 'fingerprint'"),
    );
    const other = fresh();
    expect(await backUp({ data: source }, other, { ...WORK, version: '1' })).toMatchObject({ checked: false });
    const files = await filesIn(other);
    const to = { data: fresh(), database: own(database), files: fresh() };
    await expect(restore(other, to, WORK)).rejects.toMatchObject({
      name: 'StoreUnusable',
      message: 'The backup is of another version of molar; PostgreSQL takes this one only.',
      next: 'Restore it to a folder, and migrate that with molar server migrate.',
    });
    expect(await filesIn(other)).toEqual(files);
    expect(await restore(other, { data: fresh() }, WORK)).toMatchObject({ problems: [] });
    // Nothing was begun there that would be in the way.
    expect(await restore(practice.backup, to, WORK)).toMatchObject({ problems: [] });
  });

  it('of a database that was changed, or served since', async () => {
    const copy = await copied(practice.backup, fresh());
    inDatabase(copy, (connection) => connection.exec("UPDATE settings SET value = 'x'"));
    await refused(copy, 'molar.sqlite of the backup is not what was backed up');
  });

  it('of a list of files that was changed, or is missing', async () => {
    const copy = await copied(practice.backup, fresh());
    await appendFile(join(copy, 'files.sha256'), '\n');
    await refused(copy, 'files.sha256 of the backup is not what was backed up');
    await rm(join(copy, 'files.sha256'));
    await refused(copy, 'files.sha256 of the backup is missing');
  });

  it.each([
    ['missing', (file: string) => rm(file), 'of the backup is missing'],
    ['cut short', (file: string) => truncate(file, 3), 'is not what was backed up'],
    [
      'changed',
      async (file: string) => writeFile(file, 'x'.repeat((await stat(file)).size)),
      'is not what was backed up',
    ],
  ])('with a file that is %s', async (_name, damage, what) => {
    const copy = await copied(practice.backup, fresh());
    const [first = ''] = await filesIn(join(copy, 'files'));
    await damage(first);
    await refused(copy, what);
  });

  it.each([
    ['trigger', 'CREATE TRIGGER mine AFTER INSERT ON patients BEGIN DELETE FROM audit_entries; END'],
    ['view', 'CREATE VIEW mine AS SELECT * FROM patients'],
  ])('with a %s in its database, whose hash is right', async (type, planted) => {
    const copy = await copied(practice.backup, fresh());
    inDatabase(copy, (connection) => connection.exec(planted));
    await signed(copy);
    await refused(copy, `The database of the backup has a ${type} that is not of molar: mine.`);
  });

  it.each<[string, (file: string, elsewhere: string) => Promise<void>]>([
    ['symbolic link', (file, elsewhere) => symlink(elsewhere, file)],
    ['hard link', (file, elsewhere) => link(elsewhere, file)],
  ])('with a %s in the place of any of its files', async (_name, plant) => {
    for (const name of ['molar.sqlite', 'manifest.json', 'files.sha256', 'files/**', 'more']) {
      const copy = await copied(practice.backup, fresh());
      const [first = ''] = await filesIn(join(copy, 'files'));
      const file = name === 'files/**' ? first : join(copy, name);
      const elsewhere = fresh();
      await (name === 'more' ? writeFile(elsewhere, 'x') : rename(file, elsewhere));
      await plant(file, elsewhere);
      await refused(copy, `that is no file of its own: ${relative(copy, file)}`);
    }
  });

  it('with a folder that is elsewhere', async () => {
    const copy = await copied(practice.backup, fresh());
    const elsewhere = fresh();
    await rename(join(copy, 'files'), elsewhere);
    await symlink(elsewhere, join(copy, 'files'));
    await refused(copy, 'that is no file of its own: files');
  });

  it.each(['molar.sqlite-wal', 'molar.sqlite-journal'])(
    'with %s, whose pages would count instead of those of the database, and not with an empty one',
    async (name) => {
      const copy = await copied(practice.backup, fresh());
      await writeFile(join(copy, name), '');
      await refuseLinks(copy);
      await writeFile(join(copy, name), 'x');
      await refused(copy, `The backup has ${name}, which no backup has.`);
    },
  );

  it('with files into a place that has others', async () => {
    const files = fresh();
    await mkdir(join(files, '01'), { recursive: true });
    await writeFile(join(files, '01', '0123-original'), 'x');
    await expect(restore(practice.backup, { data: fresh(), files }, WORK)).rejects.toThrow(
      'The file storage is not empty: it has 0123-original',
    );
  });
});
