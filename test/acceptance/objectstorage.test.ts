import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { ListObjectsV2Command } from '@aws-sdk/client-s3';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { testDatabase } from '../support/postgres.ts';
import { describeS3 } from '../support/s3.ts';
import { testPostgres } from '../support/services.ts';
import { molarIn } from './inprocess.ts';
import {
  connection,
  hasEnded,
  ORGANIZATION,
  PATIENT,
  type Served,
  serve,
  TOKEN,
  workplace,
  writeFixture,
} from './molar.ts';

let place: Awaited<ReturnType<typeof workplace>>;
let used = 0;
let running: Served[];

/** Bytes of a file that is sent in two parts. */
const LARGE = 9_000_000;

const HEADERS = { authorization: `Bearer ${TOKEN}`, 'organization-id': ORGANIZATION };

async function started(...args: readonly string[]): Promise<Served> {
  const served = await serve(place.path, [...args, '--log-level', 'silent']);
  running.push(served);
  return served;
}

interface Document {
  readonly id: number;
  readonly storage: { readonly original: string };
}

async function upload(served: Served, file: string): Promise<Document> {
  const args = ['documents', 'upload', file, '--name', 'scan', '--patient', String(PATIENT), '--json'];
  const ran = await molarIn(place.path, args, connection(served.url));
  expect([ran.code, ran.stderr]).toEqual([0, '']);
  return JSON.parse(ran.stdout) as Document;
}

async function document({ url }: Served, id: number): Promise<Document | undefined> {
  const answer = await fetch(`${url}/api/v1/documents/${id}`, { headers: HEADERS });
  return answer.ok ? ((await answer.json()) as { data: Document }).data : undefined;
}

const bytesAt = async (url: string | undefined) => Buffer.from(await (await fetch(url ?? '')).arrayBuffer());

await describeS3('molar serve --files s3://…', (s3) => {
  let files: string;

  beforeEach(async () => {
    place = await workplace();
    running = [];
    used += 1;
    // Beside a database, servers stage files in the user's own data folder.
    vi.stubEnv('XDG_DATA_HOME', place.path);
    files = `s3://${s3.bucket}/acceptance/${used}`;
    await writeFixture(place.path, 1);
  });

  afterEach(async () => {
    vi.unstubAllEnvs();
    s3.failing();
    await Promise.all(running.map(({ child, stop }) => !hasEnded(child) && stop()));
    await place.remove();
  });

  async function keys(): Promise<string[]> {
    const list = new ListObjectsV2Command({ Bucket: s3.bucket, Prefix: `acceptance/${used}/` });
    return ((await s3.client.send(list)).Contents ?? []).map(({ Key = '' }) => Key);
  }

  test('keeps documents there and none on its own disk, and leaves nothing of an upload that it was killed in', async () => {
    const content = Buffer.concat([Buffer.from('%PDF-1.7\n'), randomBytes(LARGE)]);
    await writeFile(join(place.path, 'large.pdf'), content);
    const first = await started('--data', 'd', '--files', files, '--import', 'fixture.ndjson');
    const { id, storage } = await upload(first, 'large.pdf');
    expect((await bytesAt(storage.original)).equals(content)).toBe(true);
    expect([(await keys()).length, await readdir(join(place.path, 'd', 'uploads'))]).toEqual([1, []]);
    expect(existsSync(join(place.path, 'd', 'files'))).toBe(false);
    // The first part arrives, the second is never answered.
    s3.failing((asked) => /partNumber=2/.test(asked.url ?? ''));
    s3.requests.length = 0;
    const body = { name: 'scan', mimeType: 'PDF', file: { content: content.toString('base64') } };
    const headers = { ...HEADERS, 'content-type': 'application/json' };
    const posted = fetch(`${first.url}/api/v1/documents`, { method: 'POST', headers, body: JSON.stringify(body) });
    const failed = expect(posted).rejects.toThrow();
    while (s3.requests.filter((request) => request.endsWith('?partNumber')).length < 2) await sleep(20);
    await first.stop('SIGKILL');
    await failed;
    s3.failing();
    expect(await readdir(join(place.path, 'd', 'uploads'))).toHaveLength(1);

    const second = await started('--data', 'd', '--files', files);
    const listed = (await (await fetch(`${second.url}/api/v1/documents`, { headers: HEADERS })).json()) as {
      data: Document[];
    };
    expect(listed.data.map((each) => each.id)).toEqual([id]);
    expect([await readdir(join(place.path, 'd', 'uploads')), (await keys()).length]).toEqual([[], 1]);
    const part = await fetch((await document(second, id))?.storage.original ?? '', {
      headers: { range: 'bytes=8500000-8500099' },
    });
    expect([part.status, Buffer.from(await part.arrayBuffer())]).toEqual([206, content.subarray(8_500_000, 8_500_100)]);
    await fetch(`${second.url}/api/v1/documents/${id}`, { method: 'DELETE', headers: HEADERS });
    expect(await keys()).toEqual([]);
  });

  test('does not start without its bucket, and says what to do', async () => {
    const ran = await molarIn(place.path, ['serve', '--port', '0', '--data', 'd', '--files', 's3://nosuch/molar']);
    expect(ran.code).toBeGreaterThan(0);
    expect(ran.stderr).toMatch(/There is no bucket nosuch at http:/);
    expect(ran.stderr).toMatch(/Next: Make the bucket/);
  });

  test('has the documents of every server on one database', async (context) => {
    if ((await testPostgres()) === undefined) return context.skip('needs PostgreSQL');
    const database = await testDatabase();
    try {
      const content = Buffer.from('%PDF-1.7\n');
      await writeFile(join(place.path, 'scan.pdf'), content);
      const shared = ['--database', database.url, '--files', files];
      await molarIn(place.path, ['server', 'import', 'fixture.ndjson', ...shared]);
      const [first, second] = [await started(...shared), await started(...shared)];
      const { id } = await upload(first, 'scan.pdf');
      await first.stop('SIGKILL');
      const seen = await document(second, id);
      expect(seen?.storage.original.startsWith(second.url)).toBe(true);
      expect((await bytesAt(seen?.storage.original)).equals(content)).toBe(true);
    } finally {
      await Promise.all(running.map(({ child, stop }) => child.signalCode === null && stop()));
      await database.drop();
    }
  });
});
