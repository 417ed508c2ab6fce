import sql from 'sql-template-tag';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Store, Transaction } from '../../../../src/server/store/store.ts';
import { Cursors } from '../../../../src/server/stream/relay/cursors.ts';
import { type TestService, testService } from '../../../support/service.ts';

const EPOCH = '0a1b2c3d';
const at = (number: number) => ({ epoch: EPOCH, number });

let service: TestService;
let orgs: readonly number[];
beforeEach(async () => {
  service = await testService();
  const rows = await service.service.store.read.all<{ org: number }>(sql`SELECT org FROM stream_heads ORDER BY org`);
  orgs = rows.map(({ org }) => org);
});
afterEach(() => service.close());

/** Cursors whose store does this before each write. */
function cursorsOf(beforeWrite: () => Promise<void> = async () => {}, target = 'relay a') {
  const { store } = service.service;
  const write: Store['write'] = async (work) => {
    await beforeWrite();
    return store.write(work);
  };
  return new Cursors({ ...store, write }, target);
}

/** What the next server reads. */
async function saved(target = 'relay a'): Promise<(number | undefined)[]> {
  const cursors = cursorsOf(undefined, target);
  await cursors.load();
  return orgs.map((org) => cursors.of(org)?.number);
}

const [one, other] = [() => orgs[0] as number, () => orgs[1] as number];

describe('how far a broker has come', () => {
  it('is kept for each organization and each broker, with its epoch', async () => {
    const cursors = cursorsOf();
    cursors.reach(one(), at(7));
    cursors.reach(other(), at(5));
    cursors.reach(one(), at(8));
    await cursors.save();
    expect(await saved()).toEqual([8, 5]);
    const read = cursorsOf();
    await read.load();
    expect(read.of(one())).toEqual(at(8));
    expect(await saved('relay b')).toEqual([0, 0]);
  });

  it('begins, for a broker of which nothing is known, behind what is deleted already', async () => {
    await service.service.store.write((tx) => tx.run(sql`UPDATE stream_heads SET floor = 4 WHERE org = ${other()}`));
    expect(await saved('relay new')).toEqual([0, 4]);
    // Once only: what is deleted later is missed.
    await service.service.store.write((tx) => tx.run(sql`UPDATE stream_heads SET floor = 6 WHERE org = ${other()}`));
    expect(await saved('relay new')).toEqual([0, 4]);
  });

  it('is read as another server has left it, whatever was reached here and not saved', async () => {
    const cursors = cursorsOf();
    await cursors.load();
    const elsewhere = cursorsOf();
    elsewhere.reach(one(), at(3));
    await elsewhere.save();
    cursors.reach(one(), at(9));
    await cursors.load();
    expect(cursors.of(one())).toEqual(at(3));
    // The other server goes on, and is not put back to where it was when that was read.
    elsewhere.reach(one(), at(5));
    await elsewhere.save();
    await cursors.save();
    expect(await saved()).toEqual([5, 0]);
    await service.service.store.write((tx) => tx.run(sql`DELETE FROM relay_positions WHERE org = ${one()}`));
    await cursors.load();
    expect(cursors.of(one())).toBeUndefined();
  });

  it('is saved the next time when it could not be', async () => {
    let failing = true;
    const cursors = cursorsOf(async () => {
      if (failing) throw new Error('the disk is full');
    });
    cursors.reach(one(), at(3));
    await cursors.save();
    failing = false;
    await cursors.save();
    expect(await saved()).toEqual([3, undefined]);
  });

  it('is saved as it is at the end, also what is reached while it is being saved', async () => {
    let writes = 0;
    const cursors = cursorsOf(async () => {
      if (writes++ === 0) cursors.reach(one(), at(4));
    });
    cursors.reach(one(), at(3));
    await cursors.save();
    await cursors.save();
    await cursors.save();
    expect([await saved(), writes]).toEqual([[4, undefined], 2]);
  });

  it('is saved in one order, whichever was reached first, so that two servers never wait for each other', async () => {
    const { store } = service.service;
    const order: unknown[] = [];
    const write: Store['write'] = (work) =>
      store.write((tx) => {
        const run: Transaction['run'] = (query) => {
          order.push(query.values[0]);
          return tx.run(query);
        };
        return work(Object.create(tx, { run: { value: run } }));
      });
    const cursors = new Cursors({ ...store, write }, 'relay a');
    cursors.reach(other(), at(5));
    cursors.reach(one(), at(7));
    await cursors.save();
    expect(order).toEqual([one(), other()]);
    expect(await saved()).toEqual([7, 5]);
  });

  it('is not known where what was saved cannot be read', async () => {
    const cursors = cursorsOf();
    cursors.reach(one(), at(7));
    cursors.reach(other(), at(5));
    await cursors.save();
    await service.service.store.write((tx) =>
      tx.run(sql`UPDATE relay_positions SET position = 'x-y' WHERE org = ${one()}`),
    );
    expect(await saved()).toEqual([undefined, 5]);
  });

  it('is behind by the messages of all organizations that are not reached', () => {
    const cursors = cursorsOf();
    const head = (org: number, seq: number) => ({ org, seq, floor: 0, base: 0 });
    const heads = [head(one(), 10), head(other(), 20)];
    expect(cursors.lag(heads)).toBe(30);
    cursors.reach(one(), at(8));
    expect(cursors.lag(heads)).toBe(22);
    cursors.reach(other(), at(20));
    expect(cursors.lag(heads)).toBe(2);
  });
});
