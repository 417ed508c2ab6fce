import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { type Citable, citable, deadCitations, disorder } from './citations.ts';
import { filesBelow, ROOT } from './tree.ts';

const textOf = (path: string) => readFileSync(join(ROOT, path), 'utf8');
const pages = citable(textOf('docs/decisions.md'), textOf('docs/contract.md'));

describe('the decisions and the contract', () => {
  it('have headings that count up from 1, each once', () => {
    expect(pages.decisions.length).toBeGreaterThan(50);
    expect(pages.sections).toHaveLength(8);
    expect(pages.headings.length).toBeGreaterThan(30);
    expect(disorder(pages.decisions)).toEqual([]);
    expect(disorder(pages.sections)).toEqual([]);
  });

  it('have everything that code, tests and pages cite', () => {
    const files = [
      ...['src', 'bin', 'test'].flatMap((folder) => filesBelow(folder, /\.(?:[jt]s|mjs)$/)),
      ...filesBelow('.', /\.md$/),
    ];
    expect(files.length).toBeGreaterThan(500);
    expect(files.flatMap((file) => deadCitations(file, pages))).toEqual([]);
  });
});

describe('the check of citations', () => {
  /** Written so that this file has no citation that leads nowhere. */
  const S = '\u00a7';
  const SPECIFICATION = '(specification';
  const there: Citable = {
    decisions: [1, 2, 3, 5],
    sections: [1, 2],
    headings: ['Patient', 'Patients', 'Errors', 'Limits', 'Endpoints', 'Events'],
  };
  const check = (text: string) => deadCitations({ path: 'a.ts', text }, there);

  it.each([
    ['decisions', '/** (specification, Patient; D1, D5). What D2 says, and D3’s. */'],
    ['a range', '(D1–D3)'],
    ['a decision in the name of a test', `it('D2 holds (D5)', () => {});`],
    ['data in quotes', `['D${9}', "D${9}", \`D${9}\`]`],
    [
      'words, paths and digits that look alike',
      `AD${9} D${800} xD${9} /D${9}/ #D${9}D${9} %D${9} \\uD${83}D ID=D${9} D${9}-x`,
    ],
    ['sections of the contract', `(contract ${S}1) of contract ${S}2, ${S}1 and ${S}2`],
    ['a section after a line break', ` * (contract\n * ${S}2)`],
    [
      'headings with rules, numbers and details',
      '(specification, Patients, rule 3) (specification, Patient rule 4; D1)',
    ],
    [
      'headings with a detail',
      '(specification, Errors: 408) (specification, Limits 2) (specification, Patient, Limits)',
    ],
    ['a heading after a line break', '// ways (specification,\n// Patients, rules 2 and 3)'],
    ['a heading below a chapter', '(specification, Endpoints, Events)'],
  ])('allows %s', (_name, text) => {
    expect(check(text)).toEqual([]);
  });

  it.each([
    ['an unknown decision', `\n/** Ages (D${4}). */`, 'a.ts:2 cites D4, which docs/decisions.md does not have'],
    ['one within a range', '(D3–D5)', 'a.ts:1 cites D4, which docs/decisions.md does not have'],
    ['one in the name of a test', `it('D${9} holds', f)`, 'a.ts:1 cites D9, which docs/decisions.md does not have'],
    ['the possessive of one', `D${9}'s`, 'a.ts:1 cites D9, which docs/decisions.md does not have'],
    ['an unknown section', `a\nb (contract ${S}3)`, 'a.ts:2 cites section 3, which docs/contract.md does not have'],
    ['a further one', `(contract ${S}1, ${S}8)`, 'a.ts:1 cites section 8, which docs/contract.md does not have'],
    ['a section of nothing', `(${S}1)`, 'a.ts:1 cites section 1 of no document that docs/ has'],
    ['a section of another page', `(office contract ${S}1)`, 'a.ts:1 cites section 1 of no document that docs/ has'],
    [
      'an unknown heading',
      `${SPECIFICATION}, Pets; D1)`,
      'a.ts:1 cites "Pets", which is no heading of the specification',
    ],
    [
      'a longer word',
      `\n${SPECIFICATION},\n * Errorss)`,
      'a.ts:2 cites "Errorss", which is no heading of the specification',
    ],
    [
      'an unknown second heading',
      `${SPECIFICATION}, Patient, Pets)`,
      'a.ts:1 cites "Pets", which is no heading of the specification',
    ],
  ])('complains about %s', (_name, text, problem) => {
    expect(check(text)).toEqual([problem]);
  });

  it.each([
    ['a gap', [1, 2, 4], ['4 is where 3 should be']],
    ['a heading that appears twice', [1, 2, 2], ['2 is where 3 should be']],
    ['a heading out of order', [2, 1], ['2 is where 1 should be', '1 is where 2 should be']],
    ['nothing in order', [1, 2, 3], []],
  ])('finds %s', (_name, numbers, problems) => {
    expect(disorder(numbers)).toEqual(problems);
  });

  it('reads the pages', () => {
    const decisions = '### D1 Ids\n\nSee D3.\n\n### D2 Order\n#### D7 No\n### D12\n';
    const contract =
      '## 1. One\n\n`a`\n## 2. Two\n## How the specification is cited\n\n`b`\n\n- `C`: `D`,\n  `E`.\n- `F`\n\nNot `G`.\n';
    expect(citable(decisions, contract)).toEqual({
      decisions: [1, 2],
      sections: [1, 2],
      headings: ['C', 'D', 'E', 'F'],
    });
  });
});
