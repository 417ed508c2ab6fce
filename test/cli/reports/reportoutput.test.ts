import { describe, expect, it } from 'vitest';
import type { Context } from '../../../src/cli/context.ts';
import { inPages, jsonDocument, mapped, writeReport } from '../../../src/cli/reports/reportoutput.ts';

function* upTo(last: number): Generator<number> {
  for (let number = 1; number <= last; number++) yield number;
}

const textOf = (parts: Readonly<Record<string, unknown>>) => [...jsonDocument(parts)].join('');

describe('jsonDocument', () => {
  it('writes lists an entry a line, and everything else on one', () => {
    const parts = { records: [{ id: '1' }, { id: '2' }], none: [], totals: { balance: 1.5 }, check: null };
    expect(textOf(parts)).toBe(
      '{\n"records": [\n{"id":"1"},\n{"id":"2"}\n],\n"none": [],\n"totals": {"balance":1.5},\n"check": null\n}\n',
    );
  });

  it('writes a list that is made meanwhile in pieces, as if it had been there', () => {
    const pieces = [...jsonDocument({ rows: mapped(upTo(1001), (number) => ({ number })), end: 'x' })];
    const whole = textOf({ rows: Array.from({ length: 1001 }, (_, at) => ({ number: at + 1 })), end: 'x' });
    expect(pieces.join('')).toBe(whole);
    expect(JSON.parse(whole)).toMatchObject({ rows: { length: 1001, 1000: { number: 1001 } }, end: 'x' });
    expect(Math.max(...pieces.map(({ length }) => length))).toBeLessThan(whole.length / 2 + 100);
  });

  it('keeps text that has an iterator of its own whole', () => {
    expect(textOf({ name: 'ab' })).toBe('{\n"name": "ab"\n}\n');
  });
});

describe('inPages', () => {
  it.each([
    [0, []],
    [1, [1]],
    [500, [500]],
    [501, [500, 1]],
    [1200, [500, 500, 200]],
  ])('makes of %i rows pages of %j', async (count, sizes) => {
    const pages: (readonly number[])[] = [];
    for await (const { rows } of inPages(upTo(count))) pages.push(rows);
    expect(pages.map(({ length }) => length)).toEqual(sizes);
    expect(pages.flat()).toEqual([...upTo(count)]);
  });
});

describe('writeReport', () => {
  const written = async (format: 'table' | 'csv', isPaged: boolean) => {
    const parts = { screen: '', pager: '' };
    const stdout = {
      write: async (text: string) => {
        parts.screen += text;
      },
    };
    const page = async (text: string) => {
      parts.pager += text;
      return isPaged;
    };
    const context = { streams: { stdout, page }, signal: new AbortController().signal } as unknown as Context;
    await writeReport({ format, out: undefined, toTerminal: true }, context, async () => 'two\nlines\n');
    return parts;
  };

  it('shows tables by the pager, once they are whole, and other formats as they are', async () => {
    expect(await written('table', true)).toEqual({ screen: '', pager: 'two\nlines\n' });
    expect(await written('table', false)).toEqual({ screen: 'two\nlines\n', pager: 'two\nlines\n' });
    expect(await written('csv', true)).toEqual({ screen: 'two\nlines\n', pager: '' });
  });
});
