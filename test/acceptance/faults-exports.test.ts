import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Format } from '../../src/core/output/formats.ts';
import { BEFORE, ExportBench } from '../support/faults/exportbench.ts';
import { exportLine, FORMATS, MOST_RUNS, scenarioOf } from '../support/faults/exportscenario.ts';
import { MANY } from '../support/faults/manyrecords.ts';
import { runFaulty } from '../support/faults/runfaulty.ts';
import { seeds } from '../support/faults/seeded.ts';

let bench: ExportBench;

beforeAll(async () => {
  bench = await ExportBench.open();
});

afterAll(() => bench.close());

describe('an export in which nothing goes wrong', () => {
  it.each(MANY)('of $topic has every record once', async (records) => {
    const fields = 'id,lastModified';
    const rows = (text: string) => text.trim().split('\n');
    const idsOf: Partial<Record<Format, (text: string) => unknown[]>> = {
      csv: (text) =>
        rows(text)
          .slice(1)
          .map((row) => Number(row.split(',')[0])),
      tsv: (text) =>
        rows(text)
          .slice(1)
          .map((row) => Number(row.split('\t')[0])),
      ndjson: (text) => rows(text).map((row) => JSON.parse(row).id),
      json: (text) => JSON.parse(text).map(({ id }: { id: number }) => id),
    };
    for (const format of FORMATS) {
      const text = await bench.wholeExport({ records, format, fields });
      expect(idsOf[format]?.(text), format).toEqual(records.ids);
    }
  });
});

const happened = { 'done at once': 0, resumed: 0, 'started over': 0, interrupted: 0, 'out of attempts': 0 };

// In this order: the last test is about the others.
describe('an export in which things go wrong', { shuffle: false }, () => {
  it.each(seeds(12))('is whole or not there, and comes to its end (seed %i)', async (seed) => {
    const { exported, run: runOf } = scenarioOf(seed);
    const expected = await bench.wholeExport(exported);
    const target = await bench.target(`seed-${seed}`);
    const told: string[] = [];
    for (let number = 0; number < MOST_RUNS; number++) {
      const { seed: runSeed, flags, resumes, faults } = runOf(number);
      const resume = number > 0 && resumes;
      const line = [
        ...exportLine(exported),
        ...flags,
        '--out',
        target.path,
        '--receipt',
        ...(resume ? ['--resume'] : []),
      ];
      const { exitCode, stderr, stdout, plan } = await runFaulty(runSeed, line, { proxy: bench.proxy, ...faults });
      told.push(line.join(' '), `exit ${exitCode}`, stderr, plan.describe());
      const story = told.join('\n');
      expect(stdout, story).toHaveLength(0);
      if (exitCode === 0) {
        happened[number === 0 ? 'done at once' : resume ? 'resumed' : 'started over']++;
        expect(await target.text(), story).toBe(expected);
        expect(await target.beside(), story).toEqual(['.receipt.json']);
        expect(JSON.parse(await readFile(`${target.path}.receipt.json`, 'utf8')), story).toMatchObject({
          complete: true,
          rows: exported.records.ids.length,
          firstId: exported.records.ids[0],
          lastId: exported.records.ids.at(-1),
          sha256: createHash('sha256').update(expected).digest('hex'),
        });
        return;
      }
      expect([7, 8, 130], story).toContain(exitCode);
      happened[exitCode === 130 ? 'interrupted' : 'out of attempts']++;
      expect(await target.text(), story).toBe(BEFORE);
      expect(await target.beside(), story).toEqual(['.part', '.part.json']);
    }
    throw new Error(`It did not come to its end.\n${told.join('\n')}`);
  });

  it('went wrong in every way', () => {
    expect(Object.entries(happened).filter(([, times]) => times === 0)).toEqual([]);
  });
});
