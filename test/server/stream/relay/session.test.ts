import sql from 'sql-template-tag';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { beginEpoch } from '../../../../src/server/store/streamheads.ts';
import type { SentMessage } from '../../../../src/server/stream/outbox.ts';
import type { Broker } from '../../../../src/server/stream/relay/broker.ts';
import { type Confirmed, Session } from '../../../../src/server/stream/relay/session.ts';
import { ORGANIZATION, OTHER_ORGANIZATION } from '../../../support/ids.ts';
import { type TestService, testService } from '../../../support/service.ts';
import { writeMessages } from '../writing.ts';

let service: TestService;
let orgs: Map<string, number>;
let open: AbortController[] = [];
beforeEach(async () => {
  service = await testService();
  const rows = await service.service.store.read.all<{ id: string; org: number }>(
    sql`SELECT id, org FROM organizations`,
  );
  orgs = new Map(rows.map(({ id, org }) => [id, org]));
});
afterEach(async () => {
  for (const stopping of open) stopping.abort();
  open = [];
  await service.close();
});

const orgOf = (organization: string) => orgs.get(organization) as number;

const write = (count: number, organization = ORGANIZATION) =>
  writeMessages(service, { org: orgOf(organization), id: organization }, count);

async function removeUpTo(floor: number, organization = ORGANIZATION): Promise<void> {
  await service.service.store.write(async (tx) => {
    await tx.run(sql`UPDATE stream_heads SET floor = ${floor} WHERE org = ${orgOf(organization)}`);
    await tx.run(sql`DELETE FROM stream_messages WHERE org = ${orgOf(organization)} AND seq <= ${floor}`);
  });
}

const newestOf = async (organization: string) => (await service.service.stream.positionsOf(orgOf(organization))).newest;

/** A message in short. */
const shortly = ({ operation, routingKey, number }: SentMessage) =>
  `${routingKey.startsWith(`${ORGANIZATION}.`) ? 'own' : 'other'} ${operation === 'resync' ? 'resync ' : ''}${number}`;

/** A broker that does as it is told, and a session with it that begins behind everything that is there. */
async function session(from?: (org: number) => number) {
  const sent: SentMessage[] = [];
  const settle: ((taken: boolean) => void)[] = [];
  const [broken, stopping] = [new AbortController(), new AbortController()];
  open.push(stopping);
  const script = { confirms: true, isFull: false, makeRoom: () => {} };
  const broker: Broker = {
    broken: broken.signal,
    publish: (message, settled) => {
      sent.push(message);
      settle.push(settled);
      if (script.confirms) settled(true);
      return !script.isFull;
    },
    drained: () =>
      new Promise((resolve) => {
        script.makeRoom = resolve;
      }),
    close: async () => {},
  };
  const confirmed: Confirmed[] = [];
  const begin = new Map<number, { epoch: string; number: number }>();
  for (const org of orgs.values()) {
    const { epoch, newest } = await service.service.stream.positionsOf(org);
    begin.set(org, { epoch, number: from?.(org) ?? newest });
  }
  const made = new Session(
    service.service,
    broker,
    (org) => begin.get(org),
    stopping.signal,
    (more) => confirmed.push(...more),
  );
  const pumping = made.pump();
  const end = () => {
    stopping.abort();
    return pumping;
  };
  return { sent, settle, confirmed, broken, script, pumping, end, texts: () => sent.map(shortly) };
}

const turns = async (count = 20) => {
  for (let at = 0; at < count; at++) await new Promise(setImmediate);
};

describe('a connection of a relay', () => {
  it('sends nothing more until the broker has room again, and nothing once it is to end', async () => {
    const first = (await newestOf(ORGANIZATION)) + 1;
    const { script, texts, end } = await session();
    script.isFull = true;
    await write(3);
    await expect.poll(texts).toEqual([`own ${first}`]);
    await turns();
    expect(texts()).toEqual([`own ${first}`]);
    script.makeRoom();
    await expect.poll(texts).toEqual([`own ${first}`, `own ${first + 1}`]);
    script.isFull = false;
    script.makeRoom();
    await expect.poll(texts).toHaveLength(3);
    script.isFull = true;
    await write(2);
    await expect.poll(texts).toHaveLength(4);
    const ended = end();
    script.makeRoom();
    await ended;
    expect(texts()).toHaveLength(4);
  });

  it('sends pages of 500 in turn, so that none of the organizations waits for all of another', async () => {
    const first = (await newestOf(OTHER_ORGANIZATION)) + 1;
    const begin = new Map([...orgs.values()].map((org) => [org, 0]));
    for (const [id, org] of orgs) begin.set(org, await newestOf(id));
    await write(1100);
    await write(2, OTHER_ORGANIZATION);
    const { texts, end } = await session((org) => begin.get(org) as number);
    await expect.poll(() => texts().length).toBe(1102);
    const at = texts().indexOf(`other ${first}`);
    expect(at).toBeLessThanOrEqual(500);
    expect(texts()[at + 1]).toBe(`other ${first + 1}`);
    await end();
  });

  it('tells of what is deleted while it is behind, and goes on behind it', async () => {
    const first = (await newestOf(ORGANIZATION)) + 1;
    const { script, sent, texts, end } = await session();
    script.isFull = true;
    await write(1);
    await expect.poll(texts).toHaveLength(1);
    await write(5);
    const floor = first + 3;
    await removeUpTo(floor);
    script.isFull = false;
    script.makeRoom();
    await expect.poll(texts).toHaveLength(4);
    expect(texts()).toEqual([`own ${first}`, `own resync ${floor}`, `own ${floor + 1}`, `own ${floor + 2}`]);
    expect(JSON.parse((sent[1] as SentMessage).text).payload).toEqual({ requested: 0, resumedAfter: floor });
    await end();
  });

  it('tells of another history, and goes on in that one, also when it ends while this is connected', async () => {
    const newest = await newestOf(ORGANIZATION);
    const own = orgOf(ORGANIZATION);
    const { sent, texts, confirmed, end } = await session((org) => (org === own ? newest + 1000 : 0));
    await expect.poll(texts).toContain(`own resync ${newest}`);
    const first = await service.service.stream.positionsOf(own);
    await write(1);
    await expect.poll(texts).toContain(`own ${newest + 1}`);
    // As after a failover to a standby that had not heard of it.
    await service.service.store.write(async (tx) => {
      await beginEpoch(tx);
      await tx.run(sql`UPDATE stream_heads SET seq = ${newest} WHERE org = ${own}`);
      await tx.run(sql`DELETE FROM stream_messages WHERE org = ${own} AND seq > ${newest}`);
    });
    await expect.poll(() => texts().filter((text) => text === `own resync ${newest}`)).toHaveLength(2);
    await write(1);
    const second = await service.service.stream.positionsOf(own);
    await expect.poll(texts).toContain(`own ${second.newest}`);
    // As where the history that follows has gone further before anybody looks.
    await service.service.store.write(beginEpoch);
    await write(2);
    const third = await service.service.stream.positionsOf(own);
    await expect.poll(texts).toContain(`own resync ${third.newest}`);
    await end();
    expect(new Set([first.epoch, second.epoch, third.epoch]).size).toBe(3);
    expect(confirmed.filter(({ org }) => org === own).map(({ position }) => position)).toEqual([
      { epoch: first.epoch, number: newest },
      { epoch: first.epoch, number: newest + 1 },
      { epoch: second.epoch, number: newest },
      { epoch: second.epoch, number: second.newest },
      { epoch: third.epoch, number: third.newest },
    ]);
    expect(sent).toHaveLength(confirmed.length);
  });

  it('says nothing of an organization that is gone, and sends what is left of it', async () => {
    const org = orgOf(OTHER_ORGANIZATION);
    const newest = await newestOf(OTHER_ORGANIZATION);
    const own = (await newestOf(ORGANIZATION)) + 1;
    await write(2, OTHER_ORGANIZATION);
    await removeUpTo(newest + 1, OTHER_ORGANIZATION);
    await service.service.store.write((tx) =>
      tx.run(sql`UPDATE organizations SET org = ${org + 1000} WHERE org = ${org}`),
    );
    const begun = await session((each) => (each === org ? 0 : own - 1));
    await expect.poll(begun.texts).toEqual([`other ${newest + 2}`]);
    // While it is connected, too.
    begun.script.isFull = true;
    await write(1);
    await expect.poll(begun.texts).toContain(`own ${own}`);
    await write(2, OTHER_ORGANIZATION);
    await removeUpTo(newest + 3, OTHER_ORGANIZATION);
    begun.script.isFull = false;
    begun.script.makeRoom();
    await expect.poll(begun.texts).toContain(`other ${newest + 4}`);
    expect(begun.texts().slice(2)).toEqual([`other ${newest + 4}`]);
    await begun.end();
  });

  it('waits at its stop for what is in flight, and counts it', async () => {
    const { script, settle, confirmed, texts, end } = await session();
    script.confirms = false;
    await write(2);
    await expect.poll(texts).toHaveLength(2);
    let over = false;
    const ended = end().then(() => {
      over = true;
    });
    await turns();
    expect(over).toBe(false);
    settle[1]?.(true);
    await turns();
    expect([over, confirmed.length]).toEqual([false, 0]);
    settle[0]?.(true);
    await ended;
    expect(confirmed).toHaveLength(2);
  });

  it('does not wait at its stop for a broker that is gone', async () => {
    const { script, texts, broken, end } = await session();
    script.confirms = false;
    await write(1);
    await expect.poll(texts).toHaveLength(1);
    const ended = end();
    await turns();
    broken.abort(new Error('cut'));
    expect(await Promise.race([ended.then(() => 'ended'), turns()])).toBe('ended');
  });

  it('ends with what the broker refused, or with why it is gone', async () => {
    const refusing = await session();
    refusing.script.confirms = false;
    await write(1);
    await expect.poll(refusing.texts).toHaveLength(1);
    refusing.settle[0]?.(false);
    await expect(refusing.pumping).rejects.toThrow('The broker refused a message.');
    expect(refusing.confirmed).toEqual([]);
    const cut = await session();
    cut.broken.abort(new Error('cut'));
    await expect(cut.pumping).rejects.toThrow('cut');
    // A channel that ends gives up what is unconfirmed, in the same turn in which its connection says why.
    const closed = await session();
    closed.script.confirms = false;
    await write(1);
    await expect.poll(closed.texts).toHaveLength(1);
    closed.settle[0]?.(false);
    closed.broken.abort(new Error('closed by an administrator'));
    await expect(closed.pumping).rejects.toThrow('closed by an administrator');
  });

  it('has 500 messages in flight at most, and waits for none of them once the connection is gone', async () => {
    const { script, texts, confirmed, settle, broken, pumping } = await session();
    script.confirms = false;
    await write(503);
    await expect.poll(() => texts().length).toBe(500);
    // One behind which others are missing makes no room.
    settle[1]?.(true);
    await turns();
    expect([texts().length, confirmed.length]).toEqual([500, 0]);
    settle[0]?.(true);
    await expect.poll(() => texts().length).toBe(502);
    await turns();
    expect([texts().length, confirmed.length]).toEqual([502, 2]);
    broken.abort(new Error('cut'));
    await expect(pumping).rejects.toThrow('cut');
    expect(texts()).toHaveLength(502);
  });

  it('sends at once what was written while it looked at another organization', async () => {
    const { stream } = service.service;
    const startAt = stream.startAt.bind(stream);
    const looked: number[] = [];
    vi.spyOn(stream, 'startAt').mockImplementation(async (org, position) => {
      const start = await startAt(org, position);
      if (looked.push(org) !== 2) return start;
      const [id = ''] = [...orgs].find(([, each]) => each === looked[0]) ?? [];
      await write(1, id);
      await stream.refresh();
      return start;
    });
    const { texts, end } = await session();
    await expect.poll(texts).toHaveLength(1);
    await end();
  });

  it('counts nothing that comes of a connection that has ended', async () => {
    const { script, settle, confirmed, texts, broken, pumping } = await session();
    script.confirms = false;
    await write(1);
    await expect.poll(texts).toHaveLength(1);
    broken.abort(new Error('cut'));
    await expect(pumping).rejects.toThrow('cut');
    settle[0]?.(true);
    expect(confirmed).toEqual([]);
  });
});
