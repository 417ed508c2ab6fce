import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Checkpoint } from '../../../src/server/audit/checkpoints.ts';
import type { AuditKey, PublicKeys } from '../../../src/server/audit/keys.ts';
import { compareShipped, readRange, SignedCheckpoints } from '../../../src/server/audit/signatures.ts';
import { day, digestOf, lineOf, signingKeys, storeOf } from './signedcheckpoints.ts';

const signing = signingKeys();
const { signed, row } = signing;

interface Given {
  readonly keys?: PublicKeys | undefined;
  readonly comparing?: boolean;
}

/** What comes out of the checkpoints of a store, by number, and what is found. */
async function read(checkpoints: readonly Checkpoint[], given: Given = {}) {
  const { keys, comparing = false } = { keys: signing.key.own, ...given };
  const store = storeOf(checkpoints);
  const found = new SignedCheckpoints(store, keys, await readRange(store, keys), comparing);
  const out: number[] = [];
  for (let next = await found.next(); next !== undefined; next = await found.next())
    out.push((next as Checkpoint).number);
  const problems = found.problems.map(({ code, kind, id, problem }) => {
    expect([code, kind]).toEqual(['audit.checkpoint', 'checkpoint']);
    return `${id} ${problem}`;
  });
  return { out, problems, count: found.count, digests: found.digests };
}

/** Stands for what is said of a key that is made later. */
const UNKNOWN_PLACE = 'unknown';
const UNKNOWN = (by: AuditKey) => `was signed with the key ${by.id}, which is none of those given as --audit-key`;
const OTHER_BEFORE = 'does not follow the one before it, which was put in the place of another';
const CHANGED = 'was changed after it was signed';

describe('the checkpoints of a store', () => {
  it('are genuine and follow each other', async () => {
    const all = row(5);
    expect(await read(all)).toMatchObject({ out: [1, 2, 3, 4, 5], problems: [], count: 5, digests: new Map() });
    const { digests } = await read(all, { comparing: true });
    expect([...digests]).toEqual(all.map((checkpoint) => [checkpoint.number, digestOf(checkpoint)]));
    expect(await read([])).toMatchObject({ out: [], problems: [], count: 0 });
  });

  it.each<[string, (all: Checkpoint[]) => Checkpoint[], number[], string[]]>([
    ['one is missing', (all) => all.toSpliced(2, 1), [1, 2, 4, 5, 6], ['3 is missing']],
    ['several are missing', (all) => all.toSpliced(1, 3), [1, 5, 6], ['2 to 4 are missing']],
    ['the first is missing', (all) => all.slice(1), [2, 3, 4, 5, 6], ['1 is missing']],
    ['the first ones are missing', (all) => all.slice(2), [3, 4, 5, 6], ['1 to 2 are missing']],
    [
      'one was changed',
      (all) => all.with(2, { ...(all[2] as Checkpoint), entries: 9 }),
      [1, 2, 4, 5, 6],
      [`3 ${CHANGED}`],
    ],
    [
      'one was put in the place of another',
      (all) => all.with(2, signed(3, { entries: 9, previous: all[2]?.previous ?? '' })),
      [1, 2, 3, 5, 6],
      [`4 ${OTHER_BEFORE}`],
    ],
    [
      'the first says that there was one before',
      (all) => [signed(1, { previous: 'x' }), ...all.slice(6)],
      [],
      [`1 ${OTHER_BEFORE}`],
    ],
    [
      'some are of a key that is not known',
      (all) => all.with(1, signed(2, {}, signing.other)).with(3, signed(4, {}, signing.other)),
      [1, 3, 5, 6],
      [`2 ${UNKNOWN_PLACE}`],
    ],
  ])('show it when %s', async (_name, change, out, problems) => {
    const found = await read(change(row(6)));
    expect(found.problems).toEqual(problems.map((problem) => problem.replace(UNKNOWN_PLACE, UNKNOWN(signing.other))));
    expect(found.out).toEqual(out);
  });

  it('are all taken as they are where no key is given', async () => {
    const all = row(4).with(1, signed(2, { previous: digestOf(row(1)[0] as Checkpoint) }, signing.other));
    const { problems, out } = await read(all, { keys: undefined });
    expect([out, problems]).toEqual([[1, 2, 4], [`3 ${OTHER_BEFORE}`]]);
  });

  it('begin behind those that retention has removed', async () => {
    const removed = { id: 20, hash: 'hash 2', checkpoints: 2 };
    const all = [signed(3, { previous: 'of one that is gone' })];
    all.push(signed(4, { previous: digestOf(all[0] as Checkpoint), removed }));
    expect(await read(all)).toMatchObject({ out: [3, 4], problems: [] });
    expect((await read(all.slice(1))).problems).toEqual(['3 is missing']);
    expect(await readRange(storeOf(all), signing.key.own)).toEqual({ last: 4, removed, restored: undefined });
  });

  it('are those that there were when they began to be read, and that retention has left', async () => {
    const six = row(6);
    const numbersOf = async (range: Awaited<ReturnType<typeof readRange>>) => {
      const found = new SignedCheckpoints(storeOf(six), signing.key.own, range, false);
      const numbers: number[] = [];
      for (let next = await found.next(); next !== undefined; next = await found.next())
        numbers.push((next as Checkpoint).number);
      return numbers;
    };
    const range = await readRange(storeOf(six.slice(0, 4)), signing.key.own);
    expect(await numbersOf(range)).toEqual([1, 2, 3, 4]);
    expect(await numbersOf({ ...range, removed: { id: 20, hash: 'hash 2', checkpoints: 2 } })).toEqual([3, 4]);
  });

  it('before a restore may be of keys that are not known any more, that of the restore may not', async () => {
    const before = row(3, signing.other);
    const restore = signed(4, { reason: 'restore', previous: digestOf(before[2] as Checkpoint) });
    const after = signed(5, { previous: digestOf(restore) });
    expect(await read([...before, restore, after])).toMatchObject({ out: [1, 2, 3, 4, 5], problems: [] });
    const foreign = signed(4, { reason: 'restore', previous: digestOf(before[2] as Checkpoint) }, signing.other);
    expect(await read([...before, foreign])).toMatchObject({ out: [], problems: [`1 ${UNKNOWN(signing.other)}`] });
    const changed = before.with(1, { ...(before[1] as Checkpoint), entries: 9 });
    expect(
      (await read([...changed, restore], { keys: new Map([...signing.key.own, ...signing.other.own]) })).problems,
    ).toEqual([`2 ${CHANGED}`]);
  });
});

describe('what a store says of its checkpoints', () => {
  it('is the last restore that is genuine, and the removal', async () => {
    const removed = { id: 5, hash: 'hash of 5', checkpoints: 0 };
    const restores = [1, 2].map((number) => signed(number, { reason: 'restore', removed }));
    const all = [...restores, signed(3, { reason: 'restore' }, signing.other)];
    expect(await readRange(storeOf(all), signing.key.own)).toMatchObject({
      last: 3,
      removed,
      restored: { number: 2, at: day(2) },
    });
    expect(await readRange(storeOf(all), undefined)).toMatchObject({ restored: { number: 3 } });
    const changed = all.with(1, { ...(all[1] as Checkpoint), entries: 9 });
    expect(await readRange(storeOf(changed), signing.key.own)).toMatchObject({ restored: { number: 1 } });
  });

  it('is nothing where nothing was removed, and what the store says where there is none', async () => {
    const nothing = { id: 0, hash: '', checkpoints: 0 };
    expect(await readRange(storeOf(row(1)), signing.key.own)).toEqual({
      last: 1,
      removed: nothing,
      restored: undefined,
    });
    const anchor = { id: 7, hash: 'hash of 7', checkpoints: 0 };
    expect(await readRange(storeOf([]), signing.key.own)).toEqual({ last: 0, removed: anchor, restored: undefined });
  });
});

interface Compared {
  readonly stored?: readonly Checkpoint[];
  readonly shipped?: number;
  readonly removed?: number;
  readonly restored?: number;
}

/** Compares the lines of a file with what a store has; `removed`: up to which checkpoint, `restored`: on which day. */
async function compared(
  lines: readonly string[],
  { stored = row(5), shipped = 5, removed = 0, restored }: Compared = {},
) {
  const file = join(signing.folder, 'shipped');
  await writeFile(file, lines.map((line) => `${line}\n`).join(''));
  const found = await compareShipped(file, {
    keys: signing.key.own,
    range: {
      last: 5,
      removed: { id: 0, hash: '', checkpoints: removed },
      restored: restored === undefined ? undefined : { number: 5, at: day(restored) },
    },
    digests: new Map(stored.map((checkpoint) => [checkpoint.number, digestOf(checkpoint)])),
    shipped,
  });
  return found.map(({ code, kind, id, problem }) => {
    expect(kind).toBe('checkpoint');
    return `${code} ${id} ${problem}`;
  });
}

const all = () => row(5).map(lineOf);
const FILE_CHANGED = 'of the file was changed after it was signed';
const UNREADABLE = 'of the file cannot be read';
const LOST = 'is not in the database, which is older, or another';

describe('a file of shipped checkpoints', () => {
  it('agrees with what the store has, in whichever order', async () => {
    expect(await compared(all())).toEqual([]);
    expect(await compared(all().reverse())).toEqual([]);
    expect(await compared([...all(), ...all()])).toEqual([]);
    expect(await compared(all().flatMap((line) => ['', line, '']))).toEqual([]);
  });

  it('may lack what was never shipped, and no more', async () => {
    expect(await compared(all().slice(0, 3), { shipped: 3 })).toEqual([]);
    expect(await compared(all().slice(0, 3), { shipped: 4 })).toEqual([
      'audit.shortened 4 is in the database, and not in the file',
    ]);
    expect(await compared(all().slice(0, 2))).toEqual([
      'audit.shortened 3 and 2 more are in the database, and not in the file',
    ]);
    expect(await compared([], { shipped: Number.POSITIVE_INFINITY })).toEqual([
      'audit.shortened 1 and 4 more are in the database, and not in the file',
    ]);
  });

  it('shows what the store does not have any more', async () => {
    const stored = row(3);
    expect(await compared(all().slice(0, 4), { stored })).toEqual([`audit.rolled-back 4 was shipped and ${LOST}`]);
    expect(await compared([...all()].reverse(), { stored: row(2) })).toEqual([
      `audit.rolled-back 3 was shipped, and 2 more, and ${LOST}`,
    ]);
    const fork = [...row(4), signed(5, { entries: 9 })];
    expect(await compared(all(), { stored: fork })).toEqual([`audit.rolled-back 5 was shipped and ${LOST}`]);
  });

  it('may have what retention has removed from the store', async () => {
    expect(await compared(all(), { stored: row(5).slice(2), removed: 2 })).toEqual([]);
    expect(await compared(all(), { stored: row(5).slice(2), removed: 1 })).toEqual([
      `audit.rolled-back 2 was shipped and ${LOST}`,
    ]);
  });

  it('may have what a restore has left behind, of keys that are not known any more, too', async () => {
    const stored = row(2);
    expect(await compared(all(), { stored, restored: 6 })).toEqual([]);
    expect(await compared(all(), { stored, restored: 5 })).toEqual([`audit.rolled-back 5 was shipped and ${LOST}`]);
    const foreign = [...row(2), signed(3, {}, signing.other), signed(4, {}, signing.other)].map(lineOf);
    expect(await compared(foreign, { stored, restored: 5 })).toEqual([]);
    const unknown = `of the file ${UNKNOWN(signing.other)}`;
    expect(await compared(foreign, { stored, restored: 4 })).toEqual([`audit.checkpoint 4 ${unknown}`]);
    // Said once of each key.
    expect(await compared(foreign, { stored })).toEqual([`audit.checkpoint 3 ${unknown}`]);
  });

  it('may have what a restore has left behind that retention has removed since', async () => {
    const lines = [signed(2, { reason: 'restore', at: day(9) }), signed(6), signed(7, { at: day(9) })].map(lineOf);
    expect(await compared(lines, { stored: [], removed: 3 })).toEqual([`audit.rolled-back 7 was shipped and ${LOST}`]);
    expect(await compared(lines, { stored: [], removed: 1 })).toHaveLength(1);
    expect((await compared(lines, { stored: [], removed: 1 }))[0]).toMatch(
      /^audit\.rolled-back 2 was shipped, and 2 more/,
    );
    const earlier = [lineOf(signed(1, { reason: 'restore', at: day(3) })), ...lines.slice(1)];
    expect((await compared(earlier, { stored: [], removed: 3 }))[0]).toMatch(
      /^audit\.rolled-back 6 was shipped, and 1 more/,
    );
    // The latest restore counts, in whichever order they were shipped.
    const inOtherOrder = [
      ...lines.slice(0, 1),
      lineOf(signed(1, { reason: 'restore', at: day(3) })),
      ...lines.slice(1),
    ];
    expect(await compared(inOtherOrder, { stored: [], removed: 3 })).toEqual([
      `audit.rolled-back 7 was shipped and ${LOST}`,
    ]);
    const minute = [signed(2, { at: day(9) }), signed(6)].map(lineOf);
    expect(await compared(minute, { stored: [], removed: 3 })).toEqual([`audit.rolled-back 6 was shipped and ${LOST}`]);
  });

  it('shows lines that were changed', async () => {
    const changed = all().with(1, lineOf({ ...(row(5)[1] as Checkpoint), entries: 9 }));
    expect(await compared(changed)).toEqual([`audit.checkpoint 2 ${FILE_CHANGED}`]);
  });

  it.each(['nonsense{', 'null', '7', '[]', '{}', '"text"'])('shows a line that cannot be read: %s', async (line) => {
    expect(await compared(all().toSpliced(2, 0, line))).toEqual([`audit.checkpoint 3 ${UNREADABLE}`]);
    expect(await compared([line, ...all()])).toEqual([`audit.checkpoint 1 ${UNREADABLE}`]);
    expect(await compared([...all(), line])).toEqual([`audit.checkpoint 6 ${UNREADABLE}`]);
  });

  it.each(['number', 'at', 'hash', 'reason', 'previous', 'key', 'signature'])(
    'shows a line without %s, or with another type of it',
    async (name) => {
      for (const value of [undefined, null, name === 'number' ? '3' : 3, name === 'number' ? 1.5 : {}]) {
        const line = JSON.stringify({ ...row(5)[2], [name]: value });
        expect(await compared(all().toSpliced(2, 0, line))).toEqual([`audit.checkpoint 3 ${UNREADABLE}`]);
      }
    },
  );

  it('may have a line that a crash cut short, where it stands whole behind itself', async () => {
    const cut = (all()[2] ?? '').slice(0, 50);
    expect(await compared(all().toSpliced(2, 0, cut))).toEqual([]);
    expect(await compared(all().toSpliced(3, 0, cut))).toEqual([`audit.checkpoint 4 ${UNREADABLE}`]);
    expect(await compared([...all(), cut])).toEqual([`audit.checkpoint 6 ${UNREADABLE}`]);
    expect(await compared(all().toSpliced(2, 0, cut, ''))).toEqual([`audit.checkpoint 3 ${UNREADABLE}`]);
  });
});
