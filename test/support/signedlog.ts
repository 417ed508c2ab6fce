import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, expect, vi } from 'vitest';
import { lastNumber, minute, WAITING, writeEntry } from './evidence.ts';
import { bareRecords } from './practice.ts';
import { putBack, rawRows, setAside } from './rawsql.ts';
import { type TestService, testService } from './service.ts';

/** A checkpoint as the database has it. */
export interface RawCheckpoint {
  readonly number: number;
  readonly at: string;
  readonly id: number;
  readonly hash: string;
  readonly entries: number;
  readonly reason: string;
  readonly previous: string;
  readonly key: string;
  readonly signature: string;
}

/**
 * A service with three minutes of entries, signed and shipped to a file, for all tests of a file: each of them finds log
 * and file as they were. `ends`: the last entry of each minute.
 */
export function signedLog() {
  let folder = '';
  let service: TestService;
  const ends: number[] = [];
  const file = () => join(folder, 'checkpoints.ndjson');
  const lines = async () => (await readFile(file(), 'utf8')).trim().split('\n');
  const rawCheckpoints = () => rawRows<RawCheckpoint>(service, 'SELECT * FROM audit_checkpoints ORDER BY number');
  const shipped = async () => {
    await vi.waitFor(async () => expect(await service.keeper.metrics()[0]?.read()).toBe(0), WAITING);
    expect(JSON.parse((await lines()).at(-1) ?? '')).toMatchObject({ number: await lastNumber(service) });
  };
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'molar-evidence-'));
    const audit = { auditKey: join(folder, 'keys', 'audit.key'), auditCheckpoints: file() };
    service = await testService(bareRecords(), { audit });
    for (let round = 0; round < 3; round++) {
      for (let n = 0; n < 3; n++) await writeEntry(service);
      await minute(service);
      ends.push((await rawCheckpoints()).at(-1)?.id ?? 0);
    }
    await shipped();
    await setAside(service);
    await writeFile(join(folder, 'kept'), await readFile(file()));
  });
  beforeEach(async () => {
    await putBack(service);
    await writeFile(file(), await readFile(join(folder, 'kept')));
  });
  afterAll(async () => {
    await service.close();
    await rm(folder, { recursive: true });
  });
  return {
    get folder() {
      return folder;
    },
    get service() {
      return service;
    },
    ends,
    ...{ file, lines, rawCheckpoints, shipped },
  };
}
