import fc from 'fast-check';
import { expect, it } from 'vitest';
import { PatientIds } from '../../../src/server/import/patientids.ts';

const range = fc.tuple(fc.integer({ min: 1, max: 60 }), fc.integer({ min: 0, max: 5 }));

it('holds exactly the ids that were added, in order (property)', () => {
  fc.assert(
    fc.property(fc.array(range, { maxLength: 40 }), (added) => {
      const ids = new PatientIds();
      const expected = new Set<number>();
      for (const [first, more] of added) {
        ids.add(first, first + more);
        for (let id = first; id <= first + more; id++) expected.add(id);
      }
      expect(ids.told()).toEqual({ patients: [...expected].sort((a, b) => a - b) });
    }),
  );
});

it('takes neighbours for one range, from whichever end they come', () => {
  for (const down of [false, true]) {
    const ids = new PatientIds();
    for (let n = 1; n <= 2500; n++) ids.add(down ? 2501 - n : n);
    expect(ids.told()).toEqual({ patients: Array.from({ length: 2500 }, (_, n) => n + 1) });
  }
});

it('goes on from what was kept of it, and tells of everybody for good once it has', () => {
  const ids = new PatientIds();
  ids.add(5, 7);
  const more = PatientIds.of(ids.kept());
  more.add(9);
  expect([more.told(), more.kept()]).toEqual([
    { patients: [5, 6, 7, 9] },
    [
      [5, 7],
      [9, 9],
    ],
  ]);
  const all = PatientIds.of(null);
  all.add(5);
  expect([all.told(), all.kept()]).toEqual([{ all: true }, null]);
});

it.each([
  ['2000 of them', 2000, 0, false],
  ['one more', 2001, 0, true],
  ['200,000 ids', 1000, 199, false],
  ['more ids', 1001, 199, true],
])('tells of everybody from so many ranges or ids on: %s', (_name, ranges, more, isAll) => {
  const ids = new PatientIds();
  for (let n = 0; n < ranges; n++) ids.add(n * 1000, n * 1000 + more);
  const told = ids.told();
  if (isAll) expect(told).toEqual({ all: true });
  else expect((told as { patients: readonly number[] }).patients).toHaveLength(ranges * (more + 1));
});
