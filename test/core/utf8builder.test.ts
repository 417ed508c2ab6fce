import { describe, expect, it } from 'vitest';
import { Utf8Builder } from '../../src/core/utf8builder.ts';

const textOf = ({ bytes, length }: Utf8Builder) => bytes.toString('utf8', 0, length);

describe('ByteText', () => {
  it('grows as it has to and keeps what stands in it', () => {
    const out = new Utf8Builder(2);
    out.text('Zoë 𠮷');
    out.append(Buffer.from(' and more'));
    expect(textOf(out)).toBe('Zoë 𠮷 and more');
  });

  it('takes bytes where room was made', () => {
    const out = new Utf8Builder(1);
    out.reserve(4);
    out.put(0x61);
    out.copy(Buffer.from('xbcd'), 1, 4);
    expect(textOf(out)).toBe('abcd');
  });

  it('begins again in the same memory', () => {
    const out = new Utf8Builder(16);
    const { bytes } = out;
    out.text('abc');
    out.clear();
    out.text('x');
    expect(textOf(out)).toBe('x');
    expect(out.bytes).toBe(bytes);
  });
});
