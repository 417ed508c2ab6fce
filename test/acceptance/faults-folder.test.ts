import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { BEFORE, ExportBench } from '../support/faults/exportbench.ts';
import { FORMATS } from '../support/faults/exportscenario.ts';
import { MANY } from '../support/faults/manyrecords.ts';
import { runFaulty } from '../support/faults/runfaulty.ts';
import { seeded, seeds } from '../support/faults/seeded.ts';

const MOST_RUNS = 12;

let bench: ExportBench;

beforeAll(async () => {
  bench = await ExportBench.open();
});

afterAll(() => bench.close());

const happened = { 'done at once': 0, resumed: 0, 'partly done': 0 };

// In this order: the last test is about the others.
describe('an export of several resources in which things go wrong', { shuffle: false }, () => {
  it.each(seeds(5))('leaves each file whole or as it was, and comes to its end (seed %i)', async (seed) => {
    const random = seeded(seed);
    const format = FORMATS[seed % FORMATS.length] ?? 'csv';
    const wanted = MANY.filter(() => random() < 0.6).concat(MANY[0] ?? []);
    const records = [...new Set(wanted)];
    const expected = new Map<string, string>();
    for (const one of records) {
      expected.set(`${one.topic}.${format}`, await bench.wholeExport({ records: one, format, fields: undefined }));
    }
    const folder = join(dirname((await bench.target(`folder-${seed}`)).path), 'nightly');
    await mkdir(folder);
    for (const name of expected.keys()) await writeFile(join(folder, name), BEFORE);
    const line = ['export', ...records.map(({ topic }) => topic), '--to', folder, '--format', format];
    const told: string[] = [];
    for (let number = 0; number < MOST_RUNS; number++) {
      const bad = number < MOST_RUNS / 2;
      const at = 1 + Math.floor(random() * 60);
      const size = ['--page-size', random() < 0.5 ? '7' : '25', '--parallel', random() < 0.5 ? '1' : '4'];
      const { exitCode, stderr, plan } = await runFaulty(seed * 100 + number, [...line, ...size, '--resume'], {
        proxy: bench.proxy,
        share: bad ? 0.3 : 0.05,
        ...(bad && (random() < 0.6 ? { breaksAt: at } : { interruptAt: at })),
      });
      told.push(line.join(' '), `exit ${exitCode}`, stderr, plan.describe());
      const story = told.join('\n');
      const found = await filesOf(folder, [...expected.keys()]);
      const whole = [...expected].filter(([name, text]) => found.get(name) === text).length;
      const untouched = [...found.values()].filter((text) => text === BEFORE).length;
      expect(whole + untouched, story).toBe(expected.size);
      const summary = JSON.parse(await readFile(join(folder, 'summary.json'), 'utf8'));
      expect([summary.complete, summary.exitCode], story).toEqual([exitCode === 0, exitCode]);
      if (exitCode === 0) {
        happened[number === 0 ? 'done at once' : 'resumed']++;
        expect(whole, story).toBe(expected.size);
        const receipts = [...expected.keys()].map((name) => `${name}.receipt.json`);
        expect((await readdir(folder)).toSorted(), story).toEqual(
          [...expected.keys(), ...receipts, 'summary.json'].toSorted(),
        );
        return;
      }
      if (whole > 0) happened['partly done']++;
      expect([6, 7, 8, 130], story).toContain(exitCode);
    }
    throw new Error(`It did not come to its end.\n${told.join('\n')}`);
  });

  it('went wrong in every way', () => {
    expect(Object.entries(happened).filter(([, times]) => times === 0)).toEqual([]);
  });
});

async function filesOf(folder: string, names: readonly string[]): Promise<ReadonlyMap<string, string>> {
  const texts = names.map(async (name) => [name, await readFile(join(folder, name), 'utf8')] as const);
  return new Map(await Promise.all(texts));
}
