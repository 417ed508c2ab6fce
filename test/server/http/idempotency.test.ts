import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { idsOf } from '../../support/calls.ts';
import { PDF } from '../../support/files.ts';
import { bareRecords } from '../../support/practice.ts';
import { testService } from '../../support/service.ts';

it('an Idempotency-Key outlives the server (D46)', async () => {
  const data = await mkdtemp(join(tmpdir(), 'molar-keys-'));
  const body = { name: 'once', mimeType: 'PDF', file: { content: PDF } };
  const answers: string[] = [];
  for (let start = 0; start < 3; start++) {
    const service = await testService(bareRecords(), { data });
    const called = await service.call('POST', '/documents', { body, headers: { 'idempotency-key': 'over-restarts' } });
    expect([called.status, called.headers['idempotency-replayed']]).toEqual([201, start === 0 ? undefined : 'true']);
    answers.push(called.text);
    expect(idsOf(await service.call('GET', '/documents'))).toEqual([1]);
    await service.close();
  }
  expect(new Set(answers).size).toBe(1);
  await rm(data, { recursive: true });
});
