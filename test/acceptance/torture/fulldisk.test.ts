import { randomBytes } from 'node:crypto';
import { copyFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { molarIn } from '../inprocess.ts';
import { workplace } from '../molar.ts';
import { imageUploads, sha256 } from './contents.ts';
import { sqliteEvidence } from './evidence.ts';
import { compareContent, compareFiles } from './files.ts';
import { FIRST_PATIENT, writePractice } from './practice.ts';
import { type Answered, Connections, dataOf } from './request.ts';
import { type SmallDisk, smallDisk } from './smalldisk.ts';

/** More than any disk or file of these tests takes. */
const MANY = 20_000;

let place: Awaited<ReturnType<typeof workplace>>;
let disk: SmallDisk;

beforeEach(async () => {
  place = await workplace();
  await writePractice(place.path);
  disk = smallDisk(place.path);
  await copyFile(join(place.path, 'practice.ndjson'), join(disk.folder, 'practice.ndjson'));
  const imported = await molarIn(disk.folder, ['server', 'import', 'practice.ndjson', '--data', 'd']);
  expect(imported, imported.stderr).toMatchObject({ code: 0 });
});

afterEach(async () => {
  await disk.remove();
  await place.remove();
});

const tag = (text: string) => {
  const body = { tagText: text, isPredefined: false, tagType: 'PAYMENT_TAG' };
  return { method: 'POST', path: '/transactiontags', body, key: text, requestId: text } as const;
};

const upload = (name: string, bytes: Buffer, file: object = {}) => {
  const body = { name, mimeType: 'PDF', file: { content: bytes.toString('base64'), ...file } };
  return { method: 'POST', path: '/documents', body, key: name, requestId: name } as const;
};

function expectFull(answer: Answered | undefined): void {
  expect(answer, answer?.text).toMatchObject({ status: 503 });
  const { errors } = JSON.parse(answer?.text ?? '') as { errors: { code: string; description: string }[] };
  expect(errors).toMatchObject([{ code: 'server.unavailable', description: expect.stringMatching(/disk .* full/) }]);
}

test('a server on a full disk says so, reads nothing that it cannot record, and goes on when there is space', async () => {
  let clients = new Connections(await disk.serve());
  const kept = randomBytes(300_000);
  const document = await clients.send(upload('kept', kept));
  const { id } = dataOf(document as Answered) as { id: number };
  expect(await clients.send(tag('before'))).toMatchObject({ status: 201 });
  clients = new Connections(await disk.fill());
  const acknowledged = ['before'];
  let refused: Answered | undefined;
  for (let n = 0; n < MANY && refused === undefined; n += 20) {
    const texts = Array.from({ length: 20 }, (_, at) => `tag-${n + at}`);
    const answers = await Promise.all(texts.map((text) => clients.send(tag(text))));
    for (const [at, answer] of answers.entries()) {
      if (answer?.status === 201) acknowledged.push(texts[at] ?? '');
      else refused = answer;
    }
  }
  expectFull(refused);
  expectFull(await clients.send(upload('large', randomBytes(3_000_000))));
  const [image] = await imageUploads();
  const picture = { ...image, name: 'picture' };
  expectFull(await clients.send({ method: 'POST', path: '/documents', body: picture, key: 'picture', requestId: 'p' }));
  const city = { city: 'Elsewhere' };
  expectFull(await clients.send({ method: 'PUT', path: `/patients/${FIRST_PATIENT}`, body: city, requestId: 'put' }));
  // What cannot be recorded in the audit log is not read (D54).
  const list = { method: 'GET', path: '/transactiontags?lastId=0&pageSize=1' } as const;
  expect(await clients.send(list)).toMatchObject({ status: 503 });

  clients = new Connections(await disk.empty());
  await expect.poll(async () => (await clients.send(list))?.status).toBe(200);
  expect(await compareContent(clients, id, { original: sha256(kept) })).toEqual([]);
  const large = randomBytes(600_000);
  for (const again of [tag('after'), upload('large', large)]) {
    expect(await clients.send(again)).toMatchObject({ status: 201, replayed: false });
  }
  expect(await disk.stop('SIGTERM')).toBe(0);
  const data = join(disk.folder, 'd');
  const evidence = await sqliteEvidence(data);
  expect(compareFiles(evidence, join(data, 'files'), false)).toEqual([]);
  const stored = [...(evidence.records.get('transactiontags')?.values() ?? [])].map((json) => JSON.parse(json).tagText);
  expect(stored.toSorted()).toEqual([...acknowledged, 'after'].toSorted());
  const checked = await molarIn(disk.folder, ['server', 'check', '--deep', '--data', 'd']);
  expect(checked, checked.stdout + checked.stderr).toMatchObject({ code: 0 });
});

test('a server and an import that begin on a full disk say so and leave everything as it is', async () => {
  const begin = [
    ['serve', '--port', '0', '--data', 'd'],
    ['serve', '--port', '0', '--data', 'new'],
    ['server', 'import', 'practice.ndjson', '--data', 'd'],
  ];
  for (const args of begin) {
    const ended = await disk.molarWhenFull(args);
    expect(ended, ended.stderr).toMatchObject({ code: 9, stdout: '', stderr: expect.stringMatching(/disk/) });
    expect(ended.stderr).not.toContain('defect');
  }
  const checked = await molarIn(disk.folder, ['server', 'check', '--data', 'd']);
  expect(checked, checked.stdout + checked.stderr).toMatchObject({ code: 0 });
});

test('a read-only data folder is told with a next step', async () => {
  for (const args of [
    ['serve', '--port', '0', '--data', 'd'],
    ['server', 'import', 'practice.ndjson', '--data', 'd'],
    ['server', 'check', '--data', 'd'],
  ]) {
    const ended = await disk.molarWhenReadOnly(args);
    expect(ended, ended.stderr).toMatchObject({
      code: 9,
      stderr: expect.stringMatching(/permission|read-only|written/),
    });
    expect(ended.stderr).toMatch(/^Next: /m);
    expect(ended.stderr).not.toContain('defect');
  }
  const checked = await molarIn(disk.folder, ['server', 'check', '--data', 'd']);
  expect(checked, checked.stdout + checked.stderr).toMatchObject({ code: 0 });
});
