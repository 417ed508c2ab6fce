import { describe, expect, it } from 'vitest';
import type { Context } from '../../../src/cli/context.ts';
import { ByteProgress, byteText, RowProgress, rowText, TaskProgress } from '../../../src/cli/terminal/progress.ts';

/** A terminal whose progress line is kept, and a clock that is set by hand. */
function terminal() {
  const shown: string[] = [];
  const time = { now: 0 };
  const startProgress = async () => ({
    show: (text: string) => void shown.push(text),
    stop: () => void shown.push(''),
  });
  const context = { clock: { now: () => time.now }, streams: { startProgress } } as unknown as Context;
  return { context, shown, time };
}

const settled = () => new Promise((done) => setImmediate(done));

describe('the progress of transfers', () => {
  it.each([
    [
      { done: 3, files: 40, bytes: 12_500_000, total: 300_200_000, rate: 2_100_000 },
      '3 of 40 files, 12.5 of 300.2 MB, 2.1 MB/s, about 2 min 17 s left',
    ],
    [{ done: 0, files: 1, bytes: 0, total: 5_000_000, rate: 0 }, '0 of 1 files, 0.0 of 5.0 MB'],
    [{ done: 2, files: undefined, bytes: 5_000_000, total: undefined, rate: 500_000 }, '2 files, 5.0 MB, 0.5 MB/s'],
    [{ done: 1, files: 1, bytes: 5_000_000, total: 5_000_000, rate: 500_000 }, '1 of 1 files, 5.0 of 5.0 MB, 0.5 MB/s'],
  ])('is told as %o', (standing, text) => {
    expect(byteText({ doing: 'Uploaded', ...standing })).toBe(`Uploaded ${text}`);
  });

  it('is shown from the first second on, with the rate of the last ten', async () => {
    const { context, shown, time } = terminal();
    const progress = new ByteProgress(context, { doing: 'Uploaded', files: 2, total: 300_000_000, quiet: false });
    const send = async (second: number, bytes: number) => {
      time.now = second * 1000;
      progress.onBytes(bytes);
      await settled();
      return shown.at(-1);
    };
    expect(await send(0.5, 1_000_000)).toBeUndefined();
    expect(await send(2, 19_000_000)).toBe('Uploaded 0 of 2 files, 20.0 of 300.0 MB, 10.0 MB/s, about 28 s left');
    for (let second = 3; second <= 20; second++) await send(second, 1_000_000);
    expect(shown.at(-1)).toBe('Uploaded 0 of 2 files, 38.0 of 300.0 MB, 1.0 MB/s, about 4 min 22 s left');
    progress.onSkipped(200_000_000);
    expect(await send(21, 2_000_000)).toBe('Uploaded 0 of 2 files, 40.0 of 100.0 MB, 1.1 MB/s, about 55 s left');
    expect(await send(22, -40_000_000)).toBe('Uploaded 0 of 2 files, 0.0 of 100.0 MB');
    progress.onDone();
    await settled();
    expect(shown.at(-1)).toBe('Uploaded 1 of 2 files, 0.0 of 100.0 MB');
    await progress.stop();
    expect(shown.at(-1)).toBe('');
  });

  it('is not shown where nobody wants it', async () => {
    const { context, shown, time } = terminal();
    const progress = new ByteProgress(context, { doing: 'Uploaded', files: 2, quiet: true });
    time.now = 5000;
    progress.onBytes(5_000_000);
    await progress.stop();
    expect(shown).toEqual([]);
  });
});

describe('rowText', () => {
  const standing = { rows: 12_500, sinceFirst: 12_000, elapsed: 6000, total: 40_000, many: 'patients' };
  it.each([
    ['with a known total', {}, '12,500 of 40,000 patients, 2,000 a second, about 14 s left'],
    ['without one', { total: undefined }, '12,500 patients, 2,000 a second'],
    ['with a total that was too low', { total: 12_000 }, '12,500 patients, 2,000 a second'],
    ['before a rate can be told', { sinceFirst: 0 }, '12,500 of 40,000 patients'],
    ['when it takes long', { sinceFirst: 12 }, '12,500 of 40,000 patients, 2 a second, about 3 h 49 min left'],
  ])('%s', (_name, own, text) => {
    expect(rowText({ ...standing, ...own })).toBe(text);
  });
});

describe('the progress of rows', () => {
  it('has a rate without those of the first page, for which the run had to begin', async () => {
    const { context, shown, time } = terminal();
    const progress = new RowProgress(context, false, 'patients');
    time.now = 900;
    progress.at(500);
    time.now = 2000;
    progress.at(2500);
    progress.total = 10_500;
    time.now = 4000;
    progress.at(4500);
    await settled();
    expect(shown).toEqual([
      '2,500 patients, 1,000 a second',
      '4,500 of 10,500 patients, 1,000 a second, about 6 s left',
    ]);
  });
});

describe('the progress of a task', () => {
  it('counts what it works on, and begins anew with the next', async () => {
    const { context, shown, time } = terminal();
    const progress = new TaskProgress(context);
    progress.at('documents', 12_000);
    time.now = 1000;
    progress.at('documents', 500);
    progress.at('patients', 7);
    progress.at('patients', 3);
    await settled();
    await progress.stop();
    progress.at('patients', 1);
    await settled();
    expect(shown).toEqual(['documents: 12,500', 'patients: 7', 'patients: 10', '']);
  });
});
