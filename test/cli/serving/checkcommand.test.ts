import { describe, expect, it } from 'vitest';
import { checkExitCode, checkText } from '../../../src/cli/serving/checkcommand.ts';
import { PLAIN } from '../../../src/core/output/style.ts';

const CHECK = { title: 'What it looks at', checked: 1200, problems: 0, skipped: null };

const SOUND: Parameters<typeof checkExitCode>[0] = {
  ok: true,
  place: '/srv/molar',
  served: false,
  checks: [
    { ...CHECK, name: 'database' },
    { ...CHECK, name: 'links' },
  ],
  problems: [],
  repaired: null,
};

const problem = (id: number | string | null, more: object = {}) => ({
  check: 'links',
  table: 'patients',
  organization: 'org-1',
  id,
  message: 'leads nowhere',
  ...more,
});

describe('the text', () => {
  it('is a table and one line when nothing is wrong', () => {
    expect(checkText(SOUND, undefined, PLAIN)).toBe(
      [
        'check     checked  problems  what',
        '────────  ───────  ────────  ────────────────',
        'database     1200         0  What it looks at',
        'links        1200         0  What it looks at',
        '',
        'No problems in /srv/molar.',
        '',
      ].join('\n'),
    );
  });

  it('lists problems with where they are, and says how many are not shown', () => {
    const problems = [
      problem(5),
      problem('X → 7', { organization: null }),
      problem(null, { table: null, organization: null }),
      ...Array.from({ length: 8 }, (_, index) => problem(100 + index)),
    ];
    const checks = [{ ...CHECK, name: 'links', problems: 1234 }];
    const text = checkText({ ...SOUND, ok: false, served: true, checks, problems }, undefined, PLAIN);
    expect(text.split('\n').slice(4, 8)).toEqual([
      'links',
      '  patients 5 of org-1: leads nowhere',
      '  patients X → 7: leads nowhere',
      '  leads nowhere',
    ]);
    expect(text.split('\n').slice(-5)).toEqual([
      '  patients 106 of org-1: leads nowhere',
      '  and 1,224 more',
      '',
      '1,234 problems in /srv/molar (in use by a server).',
      '',
    ]);
  });

  it('says what was not checked, and what was repaired', () => {
    const checks = [{ ...CHECK, name: 'links', skipped: 'the schema is another' }];
    const repaired = [{ what: 'sequences raised', count: 3 }];
    const text = checkText({ ...SOUND, checks, repaired }, undefined, PLAIN);
    expect(text).toContain('not checked: the schema is another');
    expect(text).toContain('Repaired: 3 sequences raised.\nNo problems');
    expect(checkText({ ...SOUND, repaired: [] }, undefined, PLAIN)).toContain('Nothing was repaired.\n');
  });
});

it.each([
  ['nothing is wrong', { ok: true }, 0],
  ['everything was repaired', { ok: true, repaired: [{ what: 'x', count: 1 }] }, 0],
  ['something is wrong', { ok: false }, 9],
  ['nothing could be repaired', { ok: false, repaired: [] }, 9],
  ['some was repaired, some is left', { ok: false, repaired: [{ what: 'x', count: 1 }] }, 6],
])('exits as it must when %s', (_name, change, code) => {
  expect(checkExitCode({ ...SOUND, ...change })).toBe(code);
});
