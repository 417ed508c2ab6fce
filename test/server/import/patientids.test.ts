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
