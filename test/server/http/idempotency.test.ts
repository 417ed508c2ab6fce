import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import sql from 'sql-template-tag';
import { expect, it } from 'vitest';
import { IdempotencyKeys } from '../../../src/server/http/idempotency.ts';
import { idsOf, refusalOf } from '../../support/calls.ts';
import { PDF } from '../../support/files.ts';
import { bareRecords } from '../../support/practice.ts';
import { preparedTest } from '../../support/preparedschemas.ts';
import { testService } from '../../support/service.ts';

it('an Idempotency-Key outlives the server (D46), and is the key of this file', async () => {
  const data = await mkdtemp(join(tmpdir(), 'molar-keys-'));
  const body = { name: 'once', mimeType: 'PDF', file: { content: PDF } };
  const headers = { 'idempotency-key': 'over-restarts' };
  const answers: string[] = [];
  for (let start = 0; start < 3; start++) {
    const service = await testService(bareRecords(), { data });
    const called = await service.call('POST', '/documents', { body, headers });
    expect([called.status, called.headers['idempotency-replayed']]).toEqual([201, start === 0 ? undefined : 'true']);
    answers.push(called.text);
    const bytes = Buffer.from(PDF, 'base64');
    // Longer, and of the same length.
    for (const other of [
      Buffer.concat([bytes, Buffer.from('\n')]),
      Buffer.concat([bytes.subarray(0, -1), Buffer.from('x')]),
    ]) {
      const file = { content: other.toString('base64') };
      const another = await service.call('POST', '/documents', { body: { ...body, file }, headers });
      expect(refusalOf(another)).toEqual({ status: 400, errors: ['idempotency.body_differs Idempotency-Key'] });
    }
    expect(idsOf(await service.call('GET', '/documents'))).toEqual([1]);
    await service.close();
  }
  expect(new Set(answers).size).toBe(1);
  await rm(data, { recursive: true });
});

preparedTest('of two servers that got the same request one does it, whatever comes of the other', async (database) => {
  const servers = [
    await testService(bareRecords(), { database: database.url }),
    await testService([], { database: database.url }),
  ] as const;
  try {
    const { store } = servers[0].service;
    const row = await store.read.get<{ org: number }>(sql`SELECT MIN(org) AS org FROM organizations`);
    const scope = { org: row?.org ?? 0, token: 'one', route: 'tags.create', name: 'twice' };
    const [first, second] = await Promise.all(
      servers.map(({ service }) => new IdempotencyKeys(service).claim(scope, 'the same')),
    );
    const answer = { status: 201, answer: '{}' };
    const saved = () => store.read.all(sql`SELECT answer FROM idempotency_keys`);
    await first?.service.store.write(async (tx) => first.store(tx, answer));
    const late = [
      () => second?.service.store.write(async (tx) => second.store(tx, { ...answer, answer: 'again' })),
      // As where the record of the first is in its way.
      () => second?.service.store.write(() => Promise.reject(new Error('It is there.'))),
    ];
    for (const write of late) {
      await expect(write()).rejects.toMatchObject({ status: 409, problems: [{ code: 'idempotency.running' }] });
    }
    expect(await saved()).toEqual([{ answer: '{}' }]);
    // Of another token it is another request.
    const other = await new IdempotencyKeys(servers[1].service).claim({ ...scope, token: 'two' }, 'the same');
    await other.service.store.write((tx) => other.store(tx, answer));
    expect(await saved()).toHaveLength(2);
  } finally {
    for (const server of servers) await server.close();
  }
});
