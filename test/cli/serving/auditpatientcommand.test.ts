import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import AuditPatient from '../../../src/commands/server/audit/patient.ts';
import { PATIENTS } from '../../support/ids.ts';
import { bareRecords } from '../../support/practice.ts';
import { testService } from '../../support/service.ts';
import { runCommand } from '../runcommand.ts';

/** More than is printed at once, in both forms. */
const READS = 800;
const [PATIENT = 0] = Object.values(PATIENTS);

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'molar-trail-'));
  const service = await testService(bareRecords(), { data: folder });
  for (let read = 0; read < READS; read++) await service.call('GET', `/patients/${PATIENT}`);
  await service.close();
});
afterAll(() => rm(folder, { recursive: true }));

const trail = (...flags: string[]) =>
  runCommand('server:audit:patient', AuditPatient, [String(PATIENT), '--data', folder, ...flags]);

it('has each entry of a long trail once, as JSON and as lines', async () => {
  const { entries } = JSON.parse((await trail('--json')).stdout) as { entries: { id: number; operation: string }[] };
  const reads = entries.filter(({ operation }) => operation === 'patients.get');
  expect(new Set(reads.map(({ id }) => id)).size).toBe(READS);
  expect(entries.map(({ id }) => id)).toEqual([...new Set(entries.map(({ id }) => id))].sort((a, b) => a - b));
  const { stdout } = await trail();
  expect(stdout.match(/^\d+/gm)?.map(Number)).toEqual(entries.map(({ id }) => id));
  expect(stdout.length).toBeGreaterThan(65_536);
});
