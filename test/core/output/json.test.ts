import { describe, expect, it } from 'vitest';
import { exactJson, jsonFormatter, lineCounter, ndjsonFormatter } from '../../../src/core/output/json.ts';

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

  it('goes on behind records that are written already', () => {
    const [before, after] = [jsonFormatter(), jsonFormatter(2)];
    const written = before.begin() + before.rows([{ id: 1 }, { id: 2 }]) + after.rows([{ id: 3 }]) + after.end();
    expect(JSON.parse(written)).toEqual([{ id: 1 }, { id: 2 }, { id: 3 }]);
    expect(jsonFormatter(1).end()).toBe('\n]\n');
  });
});

describe('exactJson', () => {
  it.each<[unknown, string]>([
    [{ id: 9007199254740993n, in: [9007199254740995n, null] }, '{"id":9007199254740993,"in":[9007199254740995,null]}'],
    [{ a: undefined, 'b"': 'x"\n', c: undefined }, '{"b\\"":"x\\"\\n"}'],
    [{ a: { b: undefined, c: -1n } }, '{"a":{"c":-1}}'],
    [[undefined, true], '[null,true]'],
    [undefined, 'null'],
  ])('writes %o as JSON does, with all digits', (value, text) => {
    expect(exactJson(value)).toBe(text);
  });
});

describe('lineCounter', () => {
  it.each([
    ['[\n{"a":"{"},\n{"a":1}\n]\n', 2],
    ['[]\n', 0],
    ['{"a":1}\n{"a":2}\n{"a":3}', 3],
    ['', 0],
  ])('counts the records of %j, however its bytes arrive', (text, records) => {
    for (const size of [1, 2, 100]) {
      const counter = lineCounter();
      const bytes = Buffer.from(text);
      for (let at = 0; at < bytes.length; at += size) counter.take(bytes.subarray(at, at + size));
      expect(counter.total()).toBe(records);
    }
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
