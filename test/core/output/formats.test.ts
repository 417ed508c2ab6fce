import { describe, expect, it } from 'vitest';
import type { FormatRow } from '../../../src/core/output/format.ts';
import {
  FORMATS,
  type Format,
  formatOfFile,
  formatsFor,
  isFormat,
  type OutputKind,
  terminalSafe,
} from '../../../src/core/output/formats.ts';
import { HARMFUL, POISON } from '../../cli/poison.ts';

const NAMES = Object.keys(FORMATS) as Format[];
/** What a terminal obeys without any drawing of molar's own having it. */
const HOSTILE = POISON.replaceAll('\u001b[31m', '');

describe('a format', () => {
  it('cannot be without a word on how its text is made safe for a terminal', () => {
    // @ts-expect-error: `terminal` is missing, which must not compile.
    const row: FormatRow = { about: 'x', extensions: [], content: 'records', isBuffered: false, isResumable: false };
    expect(row).not.toHaveProperty('terminal');
    for (const name of NAMES) expect(['function', 'string']).toContain(typeof FORMATS[name].terminal);
  });

  it.each(NAMES)('%s lets nothing harmful through to a terminal, or is refused there', (name) => {
    if (FORMATS[name].terminal === 'refused') expect(() => terminalSafe(name)).toThrow('not for a terminal');
    else expect(terminalSafe(name)(HOSTILE)).not.toMatch(HARMFUL);
  });

  it('that does not exist makes nothing safe', () => {
    expect(() => terminalSafe('psv' as Format)('a\u001b[2Jb')).toThrow();
    expect(() => terminalSafe('toString' as Format)('a\u001b[2Jb')).toThrow();
    expect(['csv', 'psv', 'toString'].map(isFormat)).toEqual([true, false, false]);
  });

  it.each(NAMES)('%s is resumed only where records are counted, and packed only where it is whole', (name) => {
    const { isResumable, counter, pack, isBuffered } = FORMATS[name];
    expect(isResumable).toBe(counter !== undefined);
    expect(isBuffered || pack === undefined).toBe(true);
  });

  it('has extensions that no other one has', () => {
    const extensions = NAMES.flatMap((name) => FORMATS[name].extensions);
    expect(extensions).toEqual([...new Set(extensions)]);
  });
});

describe('formatsFor', () => {
  it.each<[OutputKind, readonly Format[]]>([
    ['rows', ['table', 'json', 'ndjson', 'csv', 'tsv', 'xlsx']],
    ['files', ['json', 'ndjson', 'csv', 'tsv', 'xlsx']],
    ['record', ['table', 'json', 'ndjson', 'csv', 'tsv']],
    ['report', ['table', 'json', 'ndjson', 'csv', 'tsv', 'xlsx', 'html']],
    ['messages', ['table', 'json', 'ndjson']],
    ['value', ['json', 'ndjson']],
  ])('%s', (kind, formats) => {
    expect(formatsFor(kind)).toEqual(formats);
  });
});

describe('formatOfFile', () => {
  it.each([
    ['a.csv', 'csv'],
    ['a.JSON', 'json'],
    ['a.ndjson', 'ndjson'],
    ['a.jsonl', 'ndjson'],
    ['a.b.tsv', 'tsv'],
    ['a.TSV', 'tsv'],
    ['a.htm', 'html'],
    ['a.csv.gz', undefined],
    ['a.csv/b', undefined],
    ['a.', undefined],
    ['csv', undefined],
  ])('%s is %s', (path, format) => {
    expect(formatOfFile(path)).toBe(format);
  });
});
