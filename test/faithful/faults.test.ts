import { afterEach, describe, expect, it } from 'vitest';
import { ask, rowsOf } from './asking.ts';
import { type Fault, faultsOf } from './faults.ts';
import { type Faithful, startFaithful } from './service.ts';

const TAG = { method: 'POST', body: { tagText: 'Late', isPredefined: false, tagType: 'PAYMENT_TAG' } };

describe('faults', () => {
  let service: Faithful | undefined;
  afterEach(() => service?.close());

  it('are the same for a seed, however requests of other kinds interleave', () => {
    const alone = faultsOf('a', 0.5);
    const mixed = faultsOf('a', 0.5);
    const first = Array.from({ length: 40 }, () => alone('GET /a'));
    const second = Array.from({ length: 40 }, () => {
      mixed('GET /b');
      return mixed('GET /a');
    });
    expect(second).toEqual(first);
    expect(new Set(first.map((fault) => fault?.kind)).size).toBeGreaterThan(5);
  });

  it('are at most three in a row, and none at rate 0', () => {
    const always = faultsOf('a', 1);
    expect(Array.from({ length: 8 }, () => always('GET /a') !== undefined)).toEqual([
      true,
      true,
      true,
      false,
      true,
      true,
      true,
      false,
    ]);
    const never = faultsOf('a', 0);
    expect(Array.from({ length: 50 }, () => never('GET /a')).filter(Boolean)).toEqual([]);
  });

  it.each<[Fault, number | 'broken', number]>([
    [{ kind: 'html502', after: false }, 502, 0],
    [{ kind: 'html502', after: true }, 502, 1],
    [{ kind: 'empty504', after: true }, 504, 1],
    [{ kind: 'unavailable503', after: false }, 503, 0],
    [{ kind: 'error500', after: true }, 500, 1],
    [{ kind: 'limited429', after: false }, 429, 0],
    [{ kind: 'timeout408', after: false }, 408, 0],
    [{ kind: 'timeout408', after: true }, 408, 1],
    [{ kind: 'cutBeforeBytes', after: false }, 'broken', 0],
    [{ kind: 'cutBeforeBytes', after: true }, 'broken', 1],
    [{ kind: 'cutInBody', after: true }, 'broken', 1],
    [{ kind: 'html200', after: true }, 200, 1],
    [{ kind: 'truncatedJson', after: true }, 201, 1],
    [{ kind: 'truncatedGzip', after: true }, 201, 1],
  ])('%j', async (fault, status, done) => {
    service = await startFaithful({ seed: 'faults', moods: {}, practice: { tags: 0 }, faults: () => fault });
    const { url, organization, token } = service;
    const headers = { authorization: `Bearer ${token}`, 'organization-id': organization };
    const sent = fetch(`${url}/api/v1/transactiontags`, { headers, method: 'POST', body: JSON.stringify(TAG.body) });
    const got = await sent
      .then(async (response) => ({ status: response.status, text: await response.text() }))
      .catch(() => 'broken');
    expect(typeof got === 'string' ? got : got.status).toBe(status);
    if (typeof got !== 'string') expect(() => envelopeOf(got.text)).toThrow();
    expect(service.records('transactiontags')).toHaveLength(done);
    expect(service.requests).toEqual([expect.objectContaining({ fault })]);
  });

  it('late: the work is done after the request has ended', async () => {
    let now = Date.UTC(2026, 0, 1);
    let left = 1;
    const faults = () => (left-- > 0 ? ({ kind: 'empty504', after: false, late: 500 } as const) : undefined);
    service = await startFaithful({ seed: 'faults', moods: {}, practice: { tags: 0 }, faults, now: () => now });
    const all = () => ask(service as Faithful, '/transactiontags', 'tagText~=L');
    await ask(service, '/transactiontags', undefined, TAG).catch(() => undefined);
    const before = rowsOf(await all());
    now += 500;
    expect([before, rowsOf(await all())]).toEqual([[], [expect.objectContaining({ tagText: 'Late' })]]);
  });

  it.each(['cutInBody', 'truncatedJson', 'html200'] as const)('of downloads: %s cuts the connection', async (kind) => {
    const faults = (of: string) => (of.includes('/file-') ? { kind, after: true } : undefined);
    service = await startFaithful({ seed: 'faults', moods: {}, faults });
    const [document] = rowsOf(await ask(service, '/documents'));
    const { original } = (document?.storage ?? {}) as { original: string };
    await expect(fetch(original).then((response) => response.arrayBuffer())).rejects.toThrow();
  });

  it('leave later requests alone', async () => {
    let left = 1;
    const faults = () => (left-- > 0 ? ({ kind: 'cutInBody', after: true } as const) : undefined);
    service = await startFaithful({ seed: 'faults', moods: {}, practice: { tags: 0 }, faults });
    await ask(service, '/transactiontags', undefined, TAG).catch(() => undefined);
    expect((await ask(service, '/transactiontags', undefined, TAG)).status).toBe(201);
    expect(service.requests.map(({ status }) => status)).toEqual([201, 201]);
  });
});

/** The data of a whole, successful answer; throws for anything else. */
function envelopeOf(text: string): unknown {
  const { data } = JSON.parse(text) as { data: unknown };
  if (data === null) throw new Error('No success.');
  return data;
}
