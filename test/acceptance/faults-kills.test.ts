import { readFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { BEFORE, ExportBench } from '../support/faults/exportbench.ts';
import { exportLine, FORMATS } from '../support/faults/exportscenario.ts';
import { FaultPlan } from '../support/faults/faultplan.ts';
import { MANY, type ManyRecords } from '../support/faults/manyrecords.ts';
import { runFaulty } from '../support/faults/runfaulty.ts';
import { seeded } from '../support/faults/seeded.ts';
import { ORGANIZATION, TOKENS } from '../support/ids.ts';
import { exit, start, text } from './molar.ts';

const EXIT_CODES = { SIGKILL: null, SIGINT: 130, SIGTERM: 143 } as const;
const CASES = Array.from({ length: 4 }, (_, at) => {
  const signal = (['SIGKILL', 'SIGINT', 'SIGKILL', 'SIGTERM'] as const)[at % 4] ?? 'SIGKILL';
  return { seed: 1000 + at, signal };
});

let bench: ExportBench;

beforeAll(async () => {
  bench = await ExportBench.open();
});

afterAll(() => bench.close());

/**
 * Runs the real program, and sends it a signal while its request of that number is on its way. Answers are slow, so
 * that a run takes longer than the second after which it first writes down how far it has come.
 */
async function killed(line: readonly string[], folder: string, signal: NodeJS.Signals, request: number, delay: number) {
  const onRequest = (number: number) => {
    if (number === request) void sleep(delay).then(() => child.kill(signal));
  };
  await bench.proxy.follow(
    new FaultPlan({ seed: request, share: 1, most: 1000, kinds: ['slow'], slow: 60, onRequest }),
  );
  const env = { MOLAR_URL: bench.proxy.url, MOLAR_ORGANIZATION: ORGANIZATION, MOLAR_TOKEN: TOKENS.full };
  const child = start(folder, line, env);
  const [code, stderr] = await Promise.all([exit(child), text(child.stderr)]);
  await bench.proxy.idle();
  return { code, stderr };
}

const happened = { 'cut short': 0, 'gone on with rows': 0, 'gone on from a checkpoint': 0 };

// In this order: the last test is about the others.
describe('an export that is killed', { shuffle: false }, () => {
  it.each(CASES)('with $signal is gone on with to the same bytes (seed $seed)', async ({ seed, signal }) => {
    const random = seeded(seed);
    const records = MANY[Math.floor(random() * 2)] as ManyRecords;
    const exported = {
      records,
      format: FORMATS[(seed + Math.floor(seed / 4)) % FORMATS.length] ?? 'csv',
      fields: undefined,
    };
    const expected = await bench.wholeExport(exported);
    const target = await bench.target(`${signal}-${seed}`);
    const line = [...exportLine(exported), '--out', target.path, '--parallel', String(1 + (seed % 2))];
    const request = 1 + Math.floor(random() * records.ids.length);
    const { code, stderr } = await killed([...line, '--page-size', '1'], target.folder, signal, request, random() * 20);
    if ((await target.text()) === expected) return;
    happened['cut short']++;
    expect([code, await target.text()], stderr).toEqual([EXIT_CODES[signal], BEFORE]);
    expect(await target.beside(), stderr).toEqual(expect.arrayContaining(['.part', '.part.json']));
    const { rows } = JSON.parse(await readFile(`${target.path}.part.json`, 'utf8')) as { rows: number };
    if (rows > 0) happened['gone on with rows']++;
    // Whoever is asked to end writes down how far it is; here it must have done so before.
    if (rows > 0 && signal === 'SIGKILL') happened['gone on from a checkpoint']++;
    // The rest meets faults too, as few as the attempts are enough for.
    const again = await runFaulty(seed, [...line, '--page-size', '4', '--resume'], { proxy: bench.proxy });
    expect(again.exitCode, again.stderr + again.plan.describe()).toBe(0);
    expect(await target.text(), again.plan.describe()).toBe(expected);
    // What was written is not asked for again.
    expect(/lastId=0\b/.test(again.plan.describe())).toBe(rows === 0);
    expect(await target.beside()).toEqual([]);
  });

  it('was cut short most of the time, and in the middle some of the time', () => {
    expect(happened['cut short']).toBeGreaterThan(CASES.length / 2);
    expect(happened['gone on with rows']).toBeGreaterThan(CASES.length / 4);
    expect(happened['gone on from a checkpoint']).toBeGreaterThan(0);
  });
});
