import { describe, expect, it } from 'vitest';
import { jsonFormatter, ndjsonFormatter } from '../../../src/core/output/json.ts';

describe('jsonFormatter', () => {
  it.each([
    [[[]], '[]\n'],
    [[[{ id: 1 }]], '[\n{"id":1}\n]\n'],
    [[[{ id: 1 }, { id: 2 }], [], [{ id: 3 }]], '[\n{"id":1},\n{"id":2},\n{"id":3}\n]\n'],
  ])('writes %j as one array', (pages, text) => {
    const formatter = jsonFormatter();
    const written = formatter.begin() + pages.map((page) => formatter.rows(page)).join('') + formatter.end();
    expect(written).toBe(text);
    expect(JSON.parse(written)).toEqual(pages.flat());
  });
});

describe('ndjsonFormatter', () => {
  it('writes an object a line and nothing for nothing', () => {
    const formatter = ndjsonFormatter();
    expect(formatter.begin() + formatter.rows([{ a: 'x\ny' }, { a: null }]) + formatter.end()).toBe(
      '{"a":"x\\ny"}\n{"a":null}\n',
    );
    expect(ndjsonFormatter().rows([])).toBe('');
  });
});
