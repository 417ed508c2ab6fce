import { describe, expect, it } from 'vitest';
import { proposePattern } from '../../../../src/core/documents/layouts/propose.ts';

describe('the pattern that is proposed', () => {
  it.each<[readonly string[], string | undefined]>([
    [['Smith, Ann 1980-02-29/2026-01-02-Bitewing.jpg'], '{last}, {first} {birthDate}/{date}-{name}'],
    [['Smith, Ann (02-29-1980)/X-Ray/Bitewing.jpg'], '{last}, {first} ({birthDate:MM-DD-YYYY})/{tag}/{name}'],
    [
      ['C-1001/Bitewing 01-02-2026.jpg', 'C-1002/Letter 02-02-2026.pdf', 'notes.txt'],
      '{chartNumber}/{name} {date:MM-DD-YYYY}',
    ],
    [['2026/7000000000114_Smith/a.pdf'], '{*}/{id}_{*}/{name}'],
    [['1001 - Smith/a.pdf'], '{chartNumber} - {*}/{name}'],
    [['inbox/Smith_Ann_19800229_20260102_Bitewing.jpg'], '{*}/{last}_{first}_{birthDate}_{date}_{name}'],
    [['inbox/c1001_Bitewing.jpg'], '{*}/{chartNumber}_{name}'],
    [['Letters/to whom it may concern.pdf'], undefined],
  ])('fits %j', (paths, pattern) => {
    expect(proposePattern(paths)?.pattern).toBe(pattern);
  });

  it('is the one that fits the most', () => {
    const charts = ['c1/a.pdf', 'c2/b.pdf'];
    expect(proposePattern(['Smith, Ann 1980-02-29/a.pdf', ...charts])).toEqual({
      pattern: '{chartNumber}/{name}',
      files: 3,
    });
  });
});
