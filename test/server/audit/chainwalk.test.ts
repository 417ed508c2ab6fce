import { describe, expect, it } from 'vitest';
import { ChainWalk } from '../../../src/server/audit/chain.ts';
import type { Link } from '../../../src/server/audit/checkpoints.ts';
import type { AuditRow } from '../../../src/server/audit/export.ts';
import { hashAfter } from '../../support/evidence.ts';

const EMPTY: Link = { id: 0, hash: '' };

/** An entry, its values in the order of the columns. */
function entry(id: number, who = `token ${id}`): Omit<AuditRow, 'hash'> {
  const first = { id, org: 1, at: '2026-03-02T12:00:00.000Z', who, address: null, request_id: null };
  const second = { operation: 'patients.get', ids: `[${id}]`, record_count: 1, filter_keys: null };
  return { ...first, ...second, patients: null, via: null, status: null, client: null, covers_all: null };
}

/** So many entries that follow each other, behind a floor. */
function log(count: number, floor = EMPTY, who?: string): AuditRow[] {
  const rows: AuditRow[] = [];
  for (let n = 1; n <= count; n++) {
    const row = { ...entry(floor.id + n, who), hash: '' };
    rows.push({ ...row, hash: hashAfter(rows.at(-1)?.hash ?? floor.hash, { ...row }) });
  }
  return rows;
}

const linkOf = (row: AuditRow | undefined): Link => ({ id: row?.id ?? 0, hash: row?.hash ?? '' });
const WHOLE = log(6);
const END = linkOf(WHOLE.at(-1));

interface Walked {
  readonly rows?: readonly AuditRow[];
  readonly floor?: Link;
  /** Entry and hash of each checkpoint. */
  readonly marks?: readonly Link[];
  readonly noted?: Link;
  readonly head?: Link;
}

async function walked({ rows = WHOLE, floor = EMPTY, marks = [], noted, head = END }: Walked) {
  const left = marks.map((mark, at) => ({ ...mark, number: at + 1 }));
  const walk = new ChainWalk(floor, async () => left.shift(), noted);
  for (const row of rows) await walk.next(row);
  await walk.compareHead(head);
  const problems = walk.problems.map(({ code, kind, id, problem }) => `${code} ${kind} ${id} ${problem}`);
  return { problems, entries: walk.entries, first: walk.first };
}

const found = async (what: Walked) => (await walked(what)).problems;

/** The same entries without some, by their numbers. */
const without = (...ids: number[]) => WHOLE.filter(({ id }) => !ids.includes(id));

/** The same entries with another one put in at a number, and those from there on moved up. */
function inserted(rows: readonly AuditRow[], id: number): AuditRow[] {
  const moved = rows.map((row) => (row.id < id ? row : { ...row, id: row.id + 1 }));
  return moved.toSpliced(id - 1, 0, { ...entry(id, 'token nobody'), hash: 'f'.repeat(64) });
}

/** The same entries from a number on with other values, and hashes and a head that were made anew. */
function madeAnew(from: number): { readonly rows: AuditRow[]; readonly head: Link } {
  const kept = WHOLE.slice(0, from - 1);
  const rows = [...kept, ...log(WHOLE.length - kept.length, linkOf(kept.at(-1)), 'token nobody')];
  return { rows, head: linkOf(rows.at(-1)) };
}

const changed = (id: number) => WHOLE.with(id - 1, { ...(WHOLE[id - 1] as AuditRow), who: 'token nobody' });
const ALTERED = 'was changed after it was written, or the entry before it was';
const INSERTED = 'was inserted: the one behind it follows the one before it';
const NOWHERE = 'stands where no entry can be';

describe('a walk along the entries', () => {
  it('counts them and tells the first, which may be behind a floor', async () => {
    expect(await walked({})).toEqual({ problems: [], entries: 6, first: 1 });
    const floor = linkOf(WHOLE[3]);
    expect(await walked({ rows: WHOLE.slice(4), floor })).toEqual({ problems: [], entries: 2, first: 5 });
    expect(await walked({ rows: [], head: EMPTY })).toEqual({ problems: [], entries: 0, first: null });
    expect(await found({ rows: [], floor, head: floor })).toEqual([]);
  });

  it.each<[string, Walked, string[]]>([
    ['the first entry', { rows: without(1) }, ['audit.missing entry 1 is missing']],
    ['one in the middle', { rows: without(3) }, ['audit.missing entry 3 is missing']],
    ['several', { rows: without(2, 3, 4) }, ['audit.missing entry 2 to 4 are missing']],
    [
      'some here and some there',
      { rows: without(1, 3, 4) },
      ['audit.missing entry 1 is missing', 'audit.missing entry 3 to 4 are missing'],
    ],
    ['the last', { rows: without(6) }, ['audit.missing entry 6 is missing at the end']],
    ['the last ones', { rows: without(4, 5, 6) }, ['audit.missing entry 4 to 6 are missing at the end']],
    ['all', { rows: [] }, ['audit.missing entry 1 to 6 are missing at the end']],
    ['those behind a floor', { rows: WHOLE.slice(4), floor: linkOf(WHOLE[2]) }, ['audit.missing entry 4 is missing']],
  ])('finds missing: %s', async (_name, what, expected) => {
    expect(await found(what)).toEqual(expected);
  });

  it.each([1, 3, 6])('finds entry %i changed, and nothing else', async (id) => {
    expect(await found({ rows: changed(id) })).toEqual([`audit.altered entry ${id} ${ALTERED}`]);
  });

  it('finds every value changed, also to none', async () => {
    for (const name of Object.keys(entry(1)).filter((column) => column !== 'id')) {
      for (const value of ['other', null]) {
        if (WHOLE[2]?.[name as keyof AuditRow] === value) continue;
        const rows = WHOLE.with(2, { ...(WHOLE[2] as AuditRow), [name]: value });
        expect([name, await found({ rows })]).toEqual([name, [`audit.altered entry 3 ${ALTERED}`]]);
      }
    }
  });

  it('finds a hash changed, with which the next entry does not agree either', async () => {
    const rows = WHOLE.with(2, { ...(WHOLE[2] as AuditRow), hash: '0'.repeat(64) });
    expect(await found({ rows })).toEqual([3, 4].map((id) => `audit.altered entry ${id} ${ALTERED}`));
  });

  it('finds two entries that changed places', async () => {
    const [, second, third] = WHOLE as [AuditRow, AuditRow, AuditRow];
    const rows = WHOLE.with(1, { ...third, id: 2 }).with(2, { ...second, id: 3 });
    expect((await found({ rows }))[0]).toMatch(/^audit\.\w+ entry 2 /);
  });

  it.each([1, 2, 5, 6])('finds an entry inserted as %i, and nothing else of those that were moved up', async (id) => {
    const head = { id: 7, hash: END.hash };
    expect(await found({ rows: inserted(WHOLE, id), head })).toEqual([`audit.inserted entry ${id} ${INSERTED}`]);
  });

  it('finds several inserted, and what else is wrong behind them under the numbers of before', async () => {
    const twice = inserted(inserted(WHOLE, 2), 5);
    const head = { id: 8, hash: END.hash };
    const both = [2, 5].map((id) => `audit.inserted entry ${id} ${INSERTED}`);
    expect(await found({ rows: twice, head })).toEqual(both);
    const fewer = twice.filter(({ id }) => id !== 7);
    expect(await found({ rows: fewer, head })).toEqual([...both, 'audit.missing entry 5 is missing']);
    expect(await found({ rows: twice.slice(0, -1), head })).toEqual([
      ...both,
      'audit.missing entry 6 is missing at the end',
    ]);
  });

  it('finds rows where no entry can be, and counts them', async () => {
    const before = { ...entry(0), hash: 'x' };
    expect(await walked({ rows: [before, ...WHOLE] })).toEqual({
      problems: [`audit.inserted entry 0 ${NOWHERE}`],
      entries: 7,
      first: 0,
    });
    const twice = WHOLE.toSpliced(3, 0, { ...entry(3), hash: 'x' });
    expect(await found({ rows: twice })).toEqual([`audit.inserted entry 3 ${NOWHERE}`]);
    const floor = linkOf(WHOLE[3]);
    expect(await found({ rows: WHOLE.slice(3), floor })).toEqual([`audit.inserted entry 4 ${NOWHERE}`]);
  });

  it('finds a head with another hash, or that is behind the end', async () => {
    const problem = ['audit.altered head null does not record entry 6 as the end'];
    expect(await found({ head: { ...END, hash: '0'.repeat(64) } })).toEqual(problem);
    expect(await found({ head: linkOf(WHOLE[2]) })).toEqual(problem);
    expect(await found({ head: EMPTY })).toEqual(problem);
  });

  it('tells a hundred problems at most', async () => {
    const rows = log(150).map((row) => ({ ...row, who: 'token nobody' }));
    expect(await found({ rows, head: linkOf(rows.at(-1)) })).toHaveLength(100);
    const fewer = log(100).map((row) => ({ ...row, who: 'token nobody' }));
    expect(await found({ rows: fewer, head: EMPTY })).toHaveLength(100);
  });
});

/** What is said of hashes that were made anew behind entry `first`, where checkpoint `number` about entry `upTo` has another. */
function anew(first: number, upTo: number, number: number): string {
  const which = first === upTo ? 'was changed' : `or one after it, up to ${upTo}, was changed`;
  return `audit.altered entry ${first} ${which}, and hashes were made anew: checkpoint ${number} has another`;
}

const marksAt = (...ids: number[]) => ids.map((id) => linkOf(WHOLE[id - 1]));
const wrong = (id: number): Link => ({ id, hash: '0'.repeat(64) });

describe('checkpoints on the way', () => {
  it.each<[string, Walked, string[]]>([
    ['agree', { marks: marksAt(2, 4, 4, 6) }, []],
    ['show what was made anew behind one of them', { ...madeAnew(3), marks: marksAt(2, 4) }, [anew(3, 4, 2)]],
    ['name the very entry that they are about', { ...madeAnew(3), marks: marksAt(2, 3) }, [anew(3, 3, 2)]],
    ['show it from the first entry on', { ...madeAnew(1), marks: marksAt(4) }, [anew(1, 4, 1)]],
    ['show it of the first entry', { ...madeAnew(1), marks: marksAt(1, 6) }, [anew(1, 1, 1)]],
    ['say it once', { ...madeAnew(3), marks: marksAt(2, 4, 5, 6) }, [anew(3, 4, 2)]],
    [
      'say it again where others have agreed meanwhile',
      { marks: [wrong(2), ...marksAt(3), wrong(5)] },
      [anew(1, 2, 1), anew(4, 5, 3)],
    ],
    [
      'say nothing more of what the entries show themselves',
      { rows: changed(3), marks: [...marksAt(2), wrong(4)] },
      [`audit.altered entry 3 ${ALTERED}`],
    ],
    [
      'say it where only earlier entries show something',
      { rows: changed(2), marks: [...marksAt(2), wrong(4)] },
      [`audit.altered entry 2 ${ALTERED}`, anew(3, 4, 2)],
    ],
    ['count behind a floor', { rows: WHOLE.slice(3), floor: linkOf(WHOLE[2]), marks: [wrong(5)] }, [anew(4, 5, 1)]],
    ['are passed when they are before it', { rows: WHOLE.slice(3), floor: linkOf(WHOLE[2]), marks: [wrong(2)] }, []],
    [
      'are passed when their entry is missing',
      { rows: without(3), marks: [wrong(3)] },
      ['audit.missing entry 3 is missing'],
    ],
    [
      'show entries that are missing at the end',
      { rows: without(5, 6), head: linkOf(WHOLE[3]), marks: marksAt(2, 6) },
      ['audit.missing entry 5 to 6 are missing at the end: checkpoint 2 had them'],
    ],
    [
      'show the last one of them',
      { rows: without(4, 5, 6), head: linkOf(WHOLE[2]), marks: marksAt(3, 4, 6, 5) },
      ['audit.missing entry 4 to 6 are missing at the end: checkpoint 3 had them'],
    ],
    [
      'show one',
      { rows: without(6), head: linkOf(WHOLE[4]), marks: marksAt(6) },
      ['audit.missing entry 6 is missing at the end: checkpoint 1 had them'],
    ],
    [
      'say nothing of what the head says already',
      { rows: without(6), marks: marksAt(5, 6) },
      ['audit.missing entry 6 is missing at the end'],
    ],
    [
      'say how many the head does not know of',
      { rows: without(4, 5, 6), head: linkOf(WHOLE[4]), marks: marksAt(6) },
      [
        'audit.missing entry 4 to 5 are missing at the end',
        'audit.missing entry 6 is missing at the end: checkpoint 1 had them',
      ],
    ],
  ])('%s', async (_name, what, expected) => {
    expect(await found(what)).toEqual(expected);
  });
});

describe('an end that was noted', () => {
  const floor = linkOf(WHOLE[2]);
  const GONE = 'was deleted by retention since it was recorded and can no longer be compared';
  it.each<[string, Walked, string[]]>([
    ['is among the entries', { noted: linkOf(WHOLE[3]) }, []],
    ['is the last', { noted: END }, []],
    ['is that of an empty log', { noted: EMPTY }, []],
    ['is the floor', { rows: WHOLE.slice(3), floor, noted: floor }, []],
    [
      'is the floor, of another hash',
      { rows: WHOLE.slice(3), floor, noted: wrong(3) },
      ['audit.altered entry 3 is not the entry that was recorded as the end'],
    ],
    [
      'is before the floor',
      { rows: WHOLE.slice(3), floor, noted: linkOf(WHOLE[1]) },
      [`audit.missing entry 2 ${GONE}`],
    ],
    [
      'is of another hash',
      { noted: wrong(4) },
      ['audit.altered entry 4 is not the entry that was recorded as the end'],
    ],
    ['is still to come', { noted: wrong(9) }, ['audit.missing entry 9 was recorded as the end and no longer exists']],
  ])('%s', async (_name, what, expected) => {
    expect(await found(what)).toEqual(expected);
  });
});
