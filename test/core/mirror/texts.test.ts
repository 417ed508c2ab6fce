import { describe, expect, it } from 'vitest';
import { memberText, memberTexts } from '../../../src/core/mirror/jsonmembers.ts';
import { readOneRecord, readRecords } from '../../../src/core/mirror/records.ts';
import { pageTexts } from '../../../src/core/mirror/recordtexts.ts';
import { Draws } from '../../faithful/random.ts';

const draws = new Draws('texts of records');
const STRINGS = [
  '',
  'a b',
  'é\u2028',
  '"',
  '\\',
  '\\"}],',
  '{[',
  'ends with \\',
  '\u0000',
  '😀',
  '"data":[',
  '123456789012345678901',
];

function value(depth: number): unknown {
  const kind = draws.whole(depth > 0 ? 1 : 3, 7);
  if (kind === 1)
    return Object.fromEntries(STRINGS.filter(() => draws.chance(0.2)).map((name) => [name, value(depth - 1)]));
  if (kind === 2) return Array.from({ length: draws.whole(0, 3) }, () => value(depth - 1));
  return [null, true, draws.whole(-99, 99), -1.25e-7, draws.one(STRINGS)][kind - 3];
}

const record = (id: number) => ({ id, name: draws.one(STRINGS), ...(value(2) as object), last: value(2) });
const records = Array.from({ length: 12 }, (_, index) => record(index + 1));
const texts = records.map((each) => JSON.stringify(each));
const envelope = { meta: { data: [{ id: 7 }], note: 'a "data":[ b' }, other: [1, { data: 2 }] };

/** A page whose parts are in one order or the other. */
const pages = [
  `{"data":[${texts.join(',')}],"meta":{"a":[{"b":"]"}]},"warnings":[]}`,
  `${JSON.stringify(envelope).slice(0, -1)},"data":[${texts.join(',')}]}`,
  '{"data":[]}',
  '{"data":[{}]}',
];

interface Read {
  readonly text: string;
  readonly values: unknown;
}

/** What the product reads of a page, and what JSON says of it; undefined for what is no page. */
function read(page: string): unknown[] | undefined {
  const rows = readRecords(Buffer.from(page))?.data;
  return Array.isArray(rows) ? (rows as Read[]).map(({ values }) => values) : undefined;
}

describe('the texts of records', () => {
  it.each(pages)('of a page are those that stand there, and say what JSON says', (page) => {
    const { data, ...rest } = JSON.parse(page);
    expect(read(page)).toEqual(data);
    const parts = pageTexts(Buffer.from(page));
    expect(parts?.records).toEqual(page.includes('{"id"') ? texts : data.map(() => '{}'));
    expect(JSON.parse(parts?.envelope ?? '')).toEqual({ ...rest, data: [] });
    const { meta } = rest;
    if (meta !== undefined) expect(readRecords(Buffer.from(page))).toMatchObject({ meta });
  });

  it('of a page that is cut off anywhere, or has a sign that does not belong there, are none', () => {
    const page = `{"meta":{"a":[1,"\\"x"]},"data":[${texts.slice(0, 2).join(',')},{"id":3,"a":[{"b":"]}"}]}]}`;
    for (let length = 0; length < page.length; length++)
      expect([length, read(page.slice(0, length))]).toEqual([length, undefined]);
    for (let at = 0; at < page.length; at++) {
      for (const sign of [']', '}', '{', ',', ':', '"', '1', ' ']) {
        // Half of a surrogate pair is another character in UTF-8.
        const changed = Buffer.from(page.slice(0, at) + sign + page.slice(at)).toString();
        let wanted: unknown;
        try {
          wanted = JSON.parse(changed).data;
        } catch {
          wanted = undefined;
        }
        const isList =
          Array.isArray(wanted) && wanted.every((each) => typeof each === 'object' && !Array.isArray(each));
        const found = read(changed);
        if (isList) expect([changed, found]).toEqual([changed, wanted]);
        else if (found !== undefined && wanted === undefined) expect([changed, found]).toEqual([changed, undefined]);
      }
    }
  });

  it('of one record are that of the record', () => {
    for (const [index, text] of texts.entries()) {
      const one = readOneRecord(Buffer.from(`{"warnings":[],"data":${text}}`))?.data as unknown as Read;
      expect([one.text, one.values]).toEqual([text, records[index]]);
    }
    expect(readOneRecord(Buffer.from('{ "data": {"id": 5} }'))?.data).toMatchObject({ text: '{"id":5}' });
    expect(readOneRecord(Buffer.from('{"data":null}'))).toMatchObject({ data: null });
    expect(readOneRecord(Buffer.from('no JSON'))).toBeUndefined();
    expect(readRecords(Buffer.from('{"data":{"id":5}}'))?.data).toEqual({ id: 5 });
    expect(readRecords(Buffer.from('{"data":[{"id":5},5]}'))?.data).toEqual([{ id: 5 }, 5]);
  });
});

describe('the members of an object', () => {
  it('are as they are written, each by the name that is meant, the last one of a name', () => {
    for (const [index, text] of texts.entries()) {
      const members = memberTexts(text);
      expect([...(members?.keys() ?? [])]).toEqual(Object.keys(records[index] as object));
      expect(`{${[...(members?.values() ?? [])].join()}}`).toBe(text);
      for (const [name, each] of Object.entries(records[index] as object))
        expect(memberText(text, name)).toBe(JSON.stringify(each));
    }
    expect(memberTexts('{}')).toEqual(new Map());
    expect(memberText('{"a":1,"b":2,"\\u0061":3}', 'a')).toBe('3');
    expect(memberText('{"a":1}', 'b')).toBeUndefined();
  });

  it.each([
    '',
    '[]',
    '["a":1]',
    '{"a":1',
    '{"a"1}',
    '{"a":1;"b":2}',
    '{a:1}',
    '{1:1}',
    '{"a":1,}',
    '{,"a":1}',
    '{"a":}',
    ' {}',
    '{ }',
    '{"a": 1}',
    '{"a":1 }',
    '{"a":1]',
  ])('of %j are none', (text) => {
    expect(memberTexts(text)).toBeUndefined();
    expect(memberText(text, 'a')).toBeUndefined();
  });
});
