import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { AuditEntry } from '../../../src/server/audit/entries.ts';
import type { ReadTrail } from '../../../src/server/audit/readtrail.ts';
import { AUDITED_REFUSALS, RefusalTrail, type RefusedRequest } from '../../../src/server/audit/refusals.ts';
import { StreamTrail } from '../../../src/server/audit/streamtrail.ts';
import type { Told } from '../../../src/server/stream/pages.ts';
import { TestClock } from '../../support/clock.ts';

beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] }));
afterEach(() => void vi.useRealTimers());

/** What is noted, in the place of a trail that writes it. */
function notes() {
  const noted: AuditEntry[] = [];
  const reads = { takesNotes: true, note: (entry: AuditEntry) => void noted.push(entry) };
  return { noted, reads };
}

function refusals() {
  const { noted, reads } = notes();
  const clock = new TestClock();
  const trail = new RefusalTrail(reads as unknown as ReadTrail, clock.now);
  const refuse = (address: string, more: Partial<RefusedRequest> = {}) =>
    trail.note({ status: 401, address, requestId: `of ${address}`, ...more });
  /** Entries as addresses with their counts; those of a single refusal have none. */
  const told = () => noted.map(({ actor, count }) => `${actor.address}${count === undefined ? '' : ` ${count}`}`);
  return { trail, refuse, noted, told, reads, clock };
}

const single = (count: number, address = 'a') => Array<string>(count).fill(address);

describe('refusals', () => {
  it('are those of who sent a request, or how often', () => {
    expect([...AUDITED_REFUSALS].sort()).toEqual([401, 403, 429]);
  });

  it('say when, who and what', () => {
    const { refuse, noted, clock } = refusals();
    clock.advance(1234);
    refuse('192.0.2.1', { status: 403, who: 'token 0a1b', client: 'desk', org: 7 });
    refuse('', { status: 429, requestId: '' });
    const actor = { who: 'token 0a1b', address: '192.0.2.1', requestId: 'of 192.0.2.1' };
    expect(noted).toEqual([
      { org: 7, at: clock.text(), actor, operation: 'refused', status: 403, client: 'desk', count: undefined },
      {
        ...{ org: null, at: clock.text(), actor: { who: '', address: null, requestId: null } },
        ...{ operation: 'refused', status: 429, client: undefined, count: undefined },
      },
    ]);
  });

  it('of one address have ten entries in a second, and one more for all others', async () => {
    const { refuse, told, noted, clock } = refusals();
    for (let n = 0; n < 10; n++) refuse('a');
    await vi.advanceTimersByTimeAsync(999);
    expect(told()).toEqual(single(10));
    for (let n = 0; n < 5; n++) refuse('a', { status: n === 4 ? 429 : 403, who: 'token', org: 1, client: 'desk' });
    refuse('b');
    expect(told()).toEqual([...single(10), 'b']);
    clock.advance(1000);
    await vi.advanceTimersByTimeAsync(1);
    expect(told()).toEqual([...single(10), 'b', 'a 5']);
    // The last one says how; the others may have come from others.
    expect(noted.at(-1)).toEqual({
      ...{ org: null, at: clock.text(), actor: { who: '', address: 'a', requestId: null } },
      ...{ operation: 'refused', status: 429, client: undefined, count: 5 },
    });
    for (let n = 0; n < 11; n++) refuse('a');
    expect(told().slice(12)).toEqual(single(10));
    await vi.advanceTimersByTimeAsync(1000);
    expect(told().slice(22)).toEqual(['a 1']);
    expect(vi.getTimerCount()).toBe(0);
  });

  it('of a thousand addresses are told apart, and those of others counted together', async () => {
    const { refuse, told } = refusals();
    for (let n = 0; n < 1000; n++) refuse(`a${n}`);
    expect(told()).toHaveLength(1000);
    refuse('late');
    refuse('later');
    refuse('a999');
    expect(told().slice(1000)).toEqual(['a999']);
    await vi.advanceTimersByTimeAsync(1000);
    expect(told().slice(1001)).toEqual(['null 2']);
    refuse('late');
    expect(told().at(-1)).toBe('late');
  });

  it('are counted while nothing can be noted, over as many seconds as that takes', async () => {
    const { refuse, told, reads } = refusals();
    reads.takesNotes = false;
    refuse('a');
    await vi.advanceTimersByTimeAsync(1000);
    refuse('a');
    refuse('b');
    await vi.advanceTimersByTimeAsync(1000);
    expect(told()).toEqual([]);
    reads.takesNotes = true;
    await vi.advanceTimersByTimeAsync(999);
    expect(told()).toEqual([]);
    await vi.advanceTimersByTimeAsync(1);
    expect(told()).toEqual(['a 2', 'b 1']);
    expect(vi.getTimerCount()).toBe(0);
  });

  it('that are counted are written at the end of a server, and not again', async () => {
    const { refuse, told, trail } = refusals();
    for (let n = 0; n < 12; n++) refuse('a');
    trail.end();
    expect(told()).toEqual([...single(10), 'a 2']);
    expect(vi.getTimerCount()).toBe(0);
    trail.end();
    expect(told()).toHaveLength(11);
  });
});

const ACTOR = { who: 'token', address: '192.0.2.1', requestId: 'r-1' };

function listener() {
  const { noted, reads } = notes();
  const clock = new TestClock();
  const disclosed: AuditEntry[] = [];
  const disclose = vi.fn(async (entry: AuditEntry) => void disclosed.push(entry));
  const service = { reads: { ...reads, disclose } as unknown as ReadTrail, clock: clock.now };
  const trail = new StreamTrail(service, 3, ACTOR);
  const told = (messages: number, ids: readonly number[], patients: readonly number[]) =>
    trail.add({ messages, records: ids, patients, bytes: Buffer.alloc(9) } as unknown as Told);
  return { trail, told, noted, disclosed, disclose, clock };
}

describe('what a listener of the stream gets', () => {
  const entry = (clock: TestClock, operation: string) => ({ org: 3, at: clock.text(), actor: ACTOR, operation });

  it('is noted before the first of it, and nobody listens when that fails', async () => {
    const { trail, disclosed, disclose, clock } = listener();
    await trail.begin();
    expect(disclosed).toEqual([entry(clock, 'stream.listen')]);
    disclose.mockImplementation(() => Promise.reject(new Error('full')));
    await expect(trail.begin()).rejects.toThrow('full');
  });

  it('is noted five seconds after the first of it, with all that came meanwhile', async () => {
    const { told, noted, clock } = listener();
    told(2, [1, 2], [11]);
    await vi.advanceTimersByTimeAsync(4000);
    told(1, [3], [12, 13]);
    await vi.advanceTimersByTimeAsync(999);
    expect(noted).toEqual([]);
    clock.advance(5000);
    await vi.advanceTimersByTimeAsync(1);
    expect(noted).toEqual([{ ...entry(clock, 'stream.send'), ids: [1, 2, 3], patients: [11, 12, 13], count: 3 }]);
    told(1, [4], []);
    await vi.advanceTimersByTimeAsync(5000);
    expect(noted.slice(1)).toMatchObject([{ ids: [4], patients: [], count: 1 }]);
    await vi.advanceTimersByTimeAsync(60_000);
    expect(noted).toHaveLength(2);
  });

  it('is noted at once when it is 5,000 messages', async () => {
    const { told, noted } = listener();
    told(4999, [1], []);
    expect(noted).toEqual([]);
    told(1, [2], []);
    expect(noted).toMatchObject([{ operation: 'stream.send', ids: [1, 2], count: 5000 }]);
    expect(vi.getTimerCount()).toBe(0);
    told(4999, [3], []);
    expect(noted).toHaveLength(1);
    await vi.advanceTimersByTimeAsync(5000);
    expect(noted.slice(1)).toMatchObject([{ ids: [3], count: 4999 }]);
  });

  it('is told at the end: what was not noted yet, and how much it was in all', async () => {
    const { trail, told, noted, clock } = listener();
    told(3, [1], [11]);
    await vi.advanceTimersByTimeAsync(5000);
    told(2, [2], [12]);
    trail.end();
    expect(noted.slice(1)).toEqual([{ ...entry(clock, 'stream.end'), ids: [2], patients: [12], count: 5 }]);
    expect(vi.getTimerCount()).toBe(0);
  });
});
