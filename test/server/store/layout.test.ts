import { describe, expect, it } from 'vitest';
import { columnText } from '../../../src/server/store/layout.ts';

describe('columnText', () => {
  it.each(['', 'Smith', 'x'.repeat(500)])('keeps a text that is no longer than 500 whole', (text) => {
    expect(columnText(text)).toBe(text);
  });

  it('keeps the beginning of a longer one, and tells it from others that begin alike', () => {
    const [one, other] = ['1', '2'].map((end) => columnText('\u4e00'.repeat(9_000) + end)) as [string, string];
    expect(one.startsWith('\u4e00'.repeat(500))).toBe(true);
    expect(one).not.toBe(other);
    // An index of PostgreSQL takes no more than some 2,700 bytes.
    expect(Buffer.byteLength(one)).toBeLessThan(2_000);
  });
});
