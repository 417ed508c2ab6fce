import { createHash } from 'node:crypto';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { backUp } from '../../../src/server/maintenance/backup/backup.ts';
import { migrate } from '../../../src/server/maintenance/migrate.ts';
import { restore } from '../../../src/server/maintenance/restore.ts';
import { rowOf, rowsOf } from '../../support/calls.ts';
import { downgradeScript } from '../../support/downgrade.ts';
import { PDF } from '../../support/files.ts';
import { forgedLink } from '../../support/links.ts';
import { onPostgres, type TestDatabase } from '../../support/postgres.ts';
import { bareRecords } from '../../support/practice.ts';
import { preparedTest } from '../../support/preparedschemas.ts';
import { type TestService, testService } from '../../support/service.ts';
import { copied, inDatabase, own, scratch, WORK } from './practices.ts';

const PUBLIC = { token: null, organization: null } as const;

let place: Awaited<ReturnType<typeof scratch>>;
let base: string;
let backup: string;
/** A link that the original has given, and the secret of its key. */
let link: string;
let secret: string;

beforeAll(async () => {
  place = await scratch();
  base = join(place.path, 'base');
  backup = join(place.path, 'backup');
  const service = await testService(bareRecords(), { data: base });
  const made = await service.call('POST', '/documents', {
    body: { name: 'scan', mimeType: 'PDF', file: { content: PDF } },
  });
  link = (rowOf(made).storage as { original: string }).original;
  expect(await opens(service, link)).toBe(200);
  await backUp({ data: base }, backup, { ...WORK, version: '1.2.3' });
  await service.close();
  secret = secretsIn(base)[0] ?? '';
});
afterAll(() => place.remove());

let count = 0;
const fresh = () => join(place.path, `new-${++count}`);
const opens = async ({ call }: TestService, url: string) => (await call('GET', url, PUBLIC)).status;

function secretsIn(data: string): string[] {
  return inDatabase(data, (connection) =>
    (connection.prepare('SELECT secret FROM link_keys').all() as { secret: string }[]).map((row) => row.secret),
  );
}

const secretsThere = ({ url }: TestDatabase) =>
  onPostgres(async (client) => {
    const { rows } = await client.query<{ secret: string }>('SELECT secret FROM link_keys');
    return rows.map((row) => row.secret);
  }, url);

/** A copy of the backup whose database somebody has changed, and whose manifest says so. */
async function doctored(statements: string): Promise<string> {
  const copy = await copied(backup, fresh());
  inDatabase(copy, (connection) => connection.exec(statements));
  const file = join(copy, 'manifest.json');
  const manifest = JSON.parse(await readFile(file, 'utf8')) as { database: { sha256: string; bytes: number } };
  const bytes = await readFile(join(copy, 'molar.sqlite'));
  const sha256 = createHash('sha256').update(bytes).digest('hex');
  const database = { ...manifest.database, sha256, bytes: bytes.length };
  await writeFile(file, JSON.stringify({ ...manifest, database }));
  return copy;
}

const OLD_KEY = Buffer.alloc(32, 7).toString('base64');
const PLANTED = `INSERT INTO link_keys (id, secret, created_at) VALUES ('planted', '${OLD_KEY}', '2999-01-01T00:00:00.000Z')`;

describe('a key of download links', () => {
  it('is in no byte of a backup', async () => {
    const bytesOf = async (folder: string) => {
      const names = (await readdir(folder)).filter((name) => name.startsWith('molar.sqlite'));
      return Buffer.concat(await Promise.all(names.map((name) => readFile(join(folder, name)))));
    };
    expect((await bytesOf(base)).includes(secret)).toBe(true);
    expect((await bytesOf(backup)).includes(secret)).toBe(false);
    expect(secretsIn(backup)).toEqual([]);
  });

  it('is a new one after a restore, and links of the one place open nothing in the other', async () => {
    const data = fresh();
    await restore(backup, { data }, WORK);
    const restored = await testService([], { data });
    expect(await opens(restored, link)).toBe(403);
    expect(await opens(restored, forgedLink(link, secret))).toBe(403);
    const documents = rowsOf(await restored.call('GET', '/documents')) as { storage: { original: string } }[];
    const theirs = documents[0]?.storage.original ?? '';
    expect(new URL(theirs).pathname).toBe(new URL(link).pathname);
    expect(await opens(restored, theirs)).toBe(200);
    await restored.close();
    const original = await testService([], { data: base });
    expect([await opens(original, link), await opens(original, theirs)]).toEqual([200, 403]);
    await original.close();
  });

  it('is not taken from a backup into which somebody has put one', async () => {
    const data = fresh();
    await restore(await doctored(PLANTED), { data }, WORK);
    const restored = await testService([], { data });
    expect(await opens(restored, forgedLink(link, OLD_KEY, { key: 'planted' }))).toBe(403);
    await restored.close();
    expect(secretsIn(data)).not.toContain(OLD_KEY);
  });

  it('is not the one that an earlier molar has left in its backups', async () => {
    const early = await doctored(
      `UPDATE settings SET value = '${OLD_KEY}' WHERE name = 'store_id'; ${downgradeScript(8)}`,
    );
    const file = join(early, 'manifest.json');
    const manifest = JSON.parse(await readFile(file, 'utf8')) as object;
    await writeFile(file, JSON.stringify({ ...manifest, schema: 8 }));
    const kept = inDatabase(early, (connection) =>
      connection.prepare("SELECT value FROM settings WHERE name = 'signing_key'").get(),
    );
    expect(kept).toEqual({ value: OLD_KEY });
    const data = fresh();
    await restore(early, { data }, WORK);
    const restored = await testService([], { data });
    const [key = ''] = secretsIn(data);
    expect(key).toHaveLength(44);
    expect(key).not.toBe(OLD_KEY);
    expect(await opens(restored, forgedLink(link, OLD_KEY))).toBe(403);
    await restored.close();
  });

  preparedTest('is not carried to PostgreSQL by a restore', async (database) => {
    const to = { data: fresh(), database: own(database), files: fresh() };
    await restore(await doctored(PLANTED), to, WORK);
    expect(await secretsThere(database)).toEqual([]);
  });

  preparedTest('is not carried to PostgreSQL by a migration', async (database) => {
    await migrate({ data: base }, { data: fresh(), database: own(database) }, WORK);
    expect(await secretsThere(database)).toEqual([]);
  });
});
