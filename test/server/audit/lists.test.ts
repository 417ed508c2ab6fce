import { describe, expect, it } from 'vitest';
import { type AuditEntry, auditRow } from '../../../src/server/audit/entries.ts';
import { holdsId, type IdMember, idListText, readIdList } from '../../../src/server/audit/idlist.ts';
import { ENTRY_COLUMNS } from '../../../src/server/store/auditlog.ts';

type Ids = readonly (number | string)[];

describe('an exact list', () => {
  it.each<[string, Ids | undefined, string | null]>([
    ['nothing', undefined, null],
    ['an empty list', [], null],
    ['one id', [7], '[7]'],
    ['two neighbours', [7, 8], '[7,8]'],
    ['three neighbours', [7, 8, 9], '[[7,9]]'],
    ['runs and single ids', [1, 2, 3, 5, 7, 8, 20, 21, 22, 23], '[[1,3],5,7,8,[20,23]]'],
    ['a run at the start and one id', [0, 1, 2, 9], '[[0,2],9]'],
    ['ids in another order', [9, 1, 3, 2, 100], '[[1,3],9,100]'],
    ['ids whose texts sort otherwise', [100, 20, 3], '[3,20,100]'],
    ['ids twice', [5, 5, 6, 6, 5], '[5,6]'],
    ['ids twice in order', [5, 5, 6], '[5,6]'],
    ['texts', ['b', 'a', 'b'], '["b","a"]'],
    ['texts that look like numbers', ['1', '2', '3'], '["1","2","3"]'],
    ['texts that would be neighbours as numbers', ['1', '11', '111'], '["1","11","111"]'],
    ['texts and numbers', [3, 'a', 2, 1], '["a",[1,3]]'],
  ])('of %s', (_name, ids, text) => {
    expect(idListText(ids)).toBe(text);
  });

  it.each<[string | null, readonly IdMember[]]>([
    [null, []],
    ['', []],
    ['[7]', [7]],
    ['[[1,3],"a",9]', [[1, 3], 'a', 9]],
    ['[[4,4]]', [[4, 4]]],
    // As entries had them before.
    ['5', [5]],
    ['5,6,17', [5, 6, 17]],
    ['0a1b2c3d4e5f,7', ['0a1b2c3d4e5f', 7]],
    ['123456789012345,1234567890123456', [123456789012345, '1234567890123456']],
    ['-1,+1,1.5,x1', ['-1', '+1', '1.5', 'x1']],
  ])('is read from %s', (text, members) => {
    expect(readIdList(text)).toEqual(members);
  });

  it.each([
    '[1,',
    '[{}]',
    '[1,{}]',
    '[null]',
    '[1.5]',
    '[true]',
    '[9007199254740993]',
    '[[1]]',
    '[[1,2,3]]',
    '[[2,1]]',
    '[["a","b"]]',
    '[[1,1.5]]',
  ])('is not read from %s', (text) => {
    expect(() => readIdList(text)).toThrow();
  });

  it('holds the ids that it was made of, and no others', () => {
    for (const ids of [[1], [1, 2, 3], [10, 11, 12, 14], [1, 5, 6, 7, 8, 40]]) {
      const members = readIdList(idListText(ids));
      for (let id = 0; id < 50; id++) expect([ids, id, holdsId(members, id)]).toEqual([ids, id, ids.includes(id)]);
    }
    expect(holdsId(['5'], 5)).toBe(false);
  });
});

const ACTOR = { who: 'token 0a1b', address: '192.0.2.1', requestId: 'r-1' };
const ENTRY: AuditEntry = { org: 3, at: '2026-03-02T12:00:00.000Z', actor: ACTOR, operation: 'patients.list' };

/** What is stored of an entry, by column. */
function stored(entry: Partial<AuditEntry> = {}): Record<string, unknown> {
  const { log, values } = auditRow({ ...ENTRY, ...entry });
  expect([log, values.length]).toEqual(['audit', ENTRY_COLUMNS.length]);
  return Object.fromEntries(ENTRY_COLUMNS.map((name, at) => [name, values[at]]));
}

describe('an entry as it is stored', () => {
  it('has null where nothing is said', () => {
    expect(stored()).toEqual({
      ...{ org: 3, at: ENTRY.at, who: 'token 0a1b', address: '192.0.2.1', request_id: 'r-1' },
      ...{ operation: 'patients.list', ids: null, record_count: null, filter_keys: null },
      ...{ patients: null, via: null, status: null, client: null, covers_all: null },
    });
    const nobody = { who: 'import', address: null, requestId: null };
    expect(stored({ org: null, actor: nobody })).toMatchObject({
      org: null,
      who: 'import',
      address: null,
      request_id: null,
    });
  });

  it.each<[Partial<AuditEntry>, Record<string, unknown>]>([
    [{ ids: [1, 2, 3] }, { ids: '[[1,3]]', record_count: 3, patients: null }],
    [{ ids: [] }, { ids: null, record_count: 0 }],
    [{ ids: [1], count: 0 }, { record_count: 0 }],
    [{ count: 9 }, { ids: null, record_count: 9 }],
    [
      { ids: [1], patients: [7, 5] },
      { ids: '[1]', patients: '[5,7]' },
    ],
    [{ patients: [5] }, { ids: null, patients: '[5]' }],
    [{ filterKeys: [] }, { filter_keys: null }],
    [{ filterKeys: ['a', 'b.id', 'a'] }, { filter_keys: 'a,b.id' }],
    [{ via: 'link' }, { via: 'link' }],
    [
      { status: 403, client: 'desk' },
      { status: 403, client: 'desk' },
    ],
    [{ all: true }, { covers_all: 1 }],
    [{ all: false }, { covers_all: null }],
  ])('of %j', (entry, expected) => {
    expect(stored(entry)).toMatchObject(expected);
  });

  it('says the same twice where the records are the patients', () => {
    const ids = [5, 6, 7];
    expect(stored({ ids, patients: ids })).toMatchObject({ ids: '[[5,7]]', patients: '[[5,7]]' });
  });

  it('has names as every store keeps them', () => {
    const name = (text: string) => {
      const row = stored({ actor: { who: text, address: text, requestId: null }, client: text });
      expect([row.address, row.client]).toEqual([row.who, row.who]);
      return row.who;
    };
    const long = 'x'.repeat(255);
    expect(name(long)).toBe(long);
    expect(name(`${long}y`)).toBe(long);
    expect(name('Zoë 東 ~')).toBe('Zoë 東 ~');
    expect(name('a\u0000b\u0007\u007fc')).toBe('a\u{FFFD}b\u{FFFD}\u{FFFD}c');
    expect(name('\u0000\u0007')).toBe('\u{FFFD}\u{FFFD}');
    expect(name('a\u{D800}b')).toBe('a\u{FFFD}b');
    expect(name(`\n${long}`)).toBe(`\u{FFFD}${'x'.repeat(254)}`);
    expect(name('')).toBe('');
  });
});
