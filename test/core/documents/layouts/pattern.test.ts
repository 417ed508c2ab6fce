import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { matchPattern, type PathFacts, readPattern } from '../../../../src/core/documents/layouts/pattern.ts';

const read = (pattern: string, path: string) => matchPattern(readPattern(pattern), path);

describe('a pattern of --layout', () => {
  it.each<[string, string, Omit<PathFacts, 'tags'> & { tags?: readonly string[] }]>([
    [
      '{id}_{*}/{tag}/{date}-{name}',
      '00114_Smith/X-Ray/2026-01-02-Bitewing-left',
      { id: '00114', date: '2026-01-02', name: 'Bitewing-left', tags: ['X-Ray'] },
    ],
    ['{chartNumber}/{name}', 'C-1 a/b', { chartNumber: 'C-1 a', name: 'b' }],
    [
      '{last}, {first} {birthDate}/{*}',
      'de la  Cruz, Ana Maria 19800229/x',
      { last: 'de la  Cruz', first: 'Ana Maria', birthDate: '1980-02-29' },
    ],
    ['{last}_{first}_{*}', 'Smith_Ann_scan_1', { last: 'Smith', first: 'Ann' }],
    ['{id}{date:MM-DD-YYYY}', '702-29-2024', { id: '7', date: '2024-02-29' }],
    ['{id} {date:DD.MM.YYYY}', ' 7   29.02.2024 ', { id: '7', date: '2024-02-29' }],
    ['{*}{date}{*}{id}', 'x9920260229920260228 1', { date: '2026-02-28', id: '1' }],
    ['{tag}/{tag}/{id}', 'a/b/5', { id: '5', tags: ['a', 'b'] }],
    ['Z\u00fcrich/{id}', 'Zu\u0308rich/5', { id: '5' }],
    ['{id}/{name}', '5/Mu\u0308ller', { id: '5', name: 'M\u00fcller' }],
  ])('%s reads %s', (pattern, path, facts) => {
    expect(read(pattern, path)).toEqual({ tags: [], ...facts });
  });

  it.each([
    ['{id}/{name}', 'a5/x'],
    ['{id}/{name}', '5/x/y'],
    ['{id}/{name}', '5'],
    ['{id} {date}', '5 2026-02-29'],
    ['{id} {date}', '5 01-02-2026'],
    ['{id} {date:MM-DD-YYYY}', '5 2026-01-02'],
    ['{id}_{name}', '5_ '],
    ['A/{id}', 'a/5'],
  ])('%s does not fit %s', (pattern, path) => {
    expect(read(pattern, path)).toBeUndefined();
  });

  it.each([
    ['{date}/{name}', 'it needs {id}, {chartNumber}, or {last} and {first}'],
    ['{last}/{birthDate}', 'it needs'],
    ['scans', 'it needs'],
    ['{id}/{nmae}', 'unknown field {nmae}'],
    ['{ID}', 'unknown field {ID}'],
    ['{}', 'unknown field {}'],
    ['{id}/{name', 'the brace of {name does not close'],
    ['{id}/{{name}', 'does not close'],
    ['{id}}', 'a } has no {'],
    ['{id}/{id}', '{id} stands twice'],
    ['{id}//{name}', 'has no name'],
    ['/{id}', 'has no name'],
    ['{id:MM}', 'only dates have a format'],
    ['{id} {date:MM-DD-YY}', 'only dates have a format'],
    ['{id} {date:MM/DD/YYYY}', 'only dates have a format'],
    ['{id} {date:MM-MM-DD-YYYY}', 'only dates have a format'],
  ])('%s is refused', (pattern, message) => {
    expect(() => readPattern(pattern)).toThrow(
      expect.objectContaining({
        exitCode: 2,
        message: expect.stringContaining(message),
        hint: expect.stringContaining('{*}'),
      }),
    );
  });

  const FIELD_NAMES = ['id', 'chartNumber', 'last', 'first', 'birthDate', 'date', 'tag', 'name', '*'];
  const REPEATED = new Set(['tag', '*']);
  const literal = fc.stringMatching(/^[-_ ,a1]{1,2}$/);
  const token = fc.oneof(
    literal,
    fc.constantFrom(...FIELD_NAMES).map((name) => ({ name })),
  );
  const part = fc.array(token, { minLength: 1, maxLength: 4 });
  type Part = readonly (string | { name: string })[];
  const isPattern = (parts: readonly Part[]) => {
    const names = parts.flat().flatMap((each) => (typeof each === 'string' ? [] : each.name));
    const once = names.filter((name) => !REPEATED.has(name));
    const found =
      names.includes('id') || names.includes('chartNumber') || (names.includes('last') && names.includes('first'));
    return found && new Set(once).size === once.length;
  };
  const parts = fc.array(part, { minLength: 1, maxLength: 2 }).filter(isPattern);
  /** Texts that the field may stand for, and such as look like it. */
  const filling = fc.oneof(
    fc.stringMatching(/^[-_ ,a1]{1,3}$/),
    fc.constantFrom('2026-01-02', '20260102', '2026-02-30', '77', ' 5'),
  );

  it('takes the shortest texts that let the whole fit, as trying all of them does', () => {
    const cases = parts.chain((pattern) =>
      fc.record({
        pattern: fc.constant(pattern),
        path: fc.tuple(
          ...pattern.map((tokens) =>
            fc.tuple(...tokens.map((each) => (typeof each === 'string' ? fc.constant(each) : filling))),
          ),
        ),
        noise: fc.option(fc.stringMatching(/^[-_ ,a1]{1,2}$/), { nil: '' }),
      }),
    );
    let fits = 0;
    fc.assert(
      fc.property(cases, ({ pattern, path, noise }) => {
        const text = pattern
          .map((tokens) => tokens.map((each) => (typeof each === 'string' ? each : `{${each.name}}`)).join(''))
          .join('/');
        const file = path.map((texts) => texts.join('')).join('/') + noise;
        const expected = byTrying(pattern, file);
        if (expected !== undefined) fits++;
        expect(read(text, file)).toEqual(expected);
      }),
      { numRuns: 2000 },
    );
    expect(fits).toBeGreaterThan(500);
  });

  it('is quick on a long name that does not fit', () => {
    const pattern = `{id}${'{*}-'.repeat(20)}{date}`;
    expect(read(pattern, `1${'-'.repeat(250)}`)).toBeUndefined();
  });
});

/** Every way to cut a text into one piece for each token, the shortest first pieces first; the first that is right. */
function* cuts(text: string, pieces: number): Generator<string[]> {
  if (pieces === 0) {
    if (text === '') yield [];
    return;
  }
  for (let length = 1; length <= text.length; length++)
    for (const rest of cuts(text.slice(length), pieces - 1)) yield [text.slice(0, length), ...rest];
}

function byTrying(pattern: readonly (readonly (string | { name: string })[])[], path: string): unknown {
  const texts = path.split('/');
  if (texts.length !== pattern.length) return undefined;
  const facts: Record<string, unknown> & { tags: string[] } = { tags: [] };
  for (const [at, tokens] of pattern.entries()) {
    const right = [...cuts(texts[at] ?? '', tokens.length)].find((pieces) =>
      tokens.every((token, index) => {
        const piece = pieces[index] ?? '';
        if (typeof token === 'string') return piece === token;
        if (token.name === '*') return true;
        const value = piece.trim();
        if (token.name === 'id') return value !== '' && [...value].every((each) => each >= '0' && each <= '9');
        if (token.name === 'date' || token.name === 'birthDate') return dateOf(value) !== undefined;
        return value !== '';
      }),
    );
    if (right === undefined) return undefined;
    for (const [index, token] of tokens.entries()) {
      if (typeof token === 'string' || token.name === '*') continue;
      const value = (right[index] ?? '').trim();
      if (token.name === 'tag') facts.tags.push(value);
      else facts[token.name] = token.name === 'date' || token.name === 'birthDate' ? dateOf(value) : value;
    }
  }
  return facts;
}

function dateOf(text: string): string | undefined {
  const dashed = text.length === 8 ? `${text.slice(0, 4)}-${text.slice(4, 6)}-${text.slice(6)}` : text;
  if (dashed.length !== 10 || [0, 1, 2, 3].some((at) => !/\d/.test(dashed[at] ?? ''))) return undefined;
  const time = Date.parse(`${dashed}T00:00:00Z`);
  return Number.isNaN(time) || new Date(time).toISOString().slice(0, 10) !== dashed ? undefined : dashed;
}
