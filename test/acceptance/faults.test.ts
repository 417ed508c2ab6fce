import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { rowsOf } from '../support/calls.ts';
import {
  ALL_FAULTS,
  type FaultKind,
  FaultPlan,
  FORWARDED,
  HARMLESS,
  UNFORWARDED,
} from '../support/faults/faultplan.ts';
import { type FaultProxy, openFaultProxy } from '../support/faults/faultproxy.ts';
import { runFaulty } from '../support/faults/runfaulty.ts';
import { ORGANIZATION, TOKENS } from '../support/ids.ts';
import { type TestService, testService } from '../support/service.ts';

const LIST = ['patients', 'list', '--page-size', '1', '--fields', 'id,lastModified'];

/** Faults that a run cannot get through when they do not end; a restart does. */
const LASTING = ALL_FAULTS.filter((kind) => ![...HARMLESS, 'restart'].includes(kind));

let service: TestService;
let proxy: FaultProxy;
let folder: string;

beforeAll(async () => {
  service = await testService();
  proxy = await openFaultProxy(await service.app.listen({ port: 0, host: '127.0.0.1' }));
  folder = await mkdtemp(join(tmpdir(), 'molar-faults-'));
});

afterAll(async () => {
  await proxy.close();
  await service.close();
  await rm(folder, { recursive: true, force: true });
});

describe('a fault plan', () => {
  const requests = Array.from({ length: 300 }, (_, at) => ({ method: 'GET', url: `/patients?lastId=${at % 7}` }));
  const planned = (seed: number) => {
    const plan = new FaultPlan({ seed, share: 0.9, most: 2 });
    return requests.map((request) => plan.next(request).kind);
  };

  it('is the same for the same seed', () => {
    expect(planned(5)).toEqual(planned(5));
    expect(planned(5)).not.toEqual(planned(6));
  });

  it('lets a request through after as many faults as it may have in a row', () => {
    const kinds = planned(5);
    for (let own = 0; own < 7; own++) {
      const ofOne = kinds.filter((_, at) => at % 7 === own).map((kind) => (kind === 'pass' ? '.' : 'x'));
      expect(ofOne.join('')).not.toContain('xxx');
    }
    expect(new Set(kinds)).toEqual(new Set([...ALL_FAULTS, 'pass']));
    expect(kinds.filter((kind) => kind === 'restart')).toHaveLength(1);
  });
});

describe('the fault proxy', () => {
  it.each([
    ...UNFORWARDED.map((kind) => [kind, false] as const),
    ...[...FORWARDED, ...HARMLESS].map((kind) => [kind, true] as const),
  ])('with %s has the service do what was asked: %s', async (kind, done) => {
    await proxy.follow(new FaultPlan({ seed: 3, share: 1, kinds: [kind] }));
    const body = { tagText: kind, isPredefined: false, tagType: 'PAYMENT_TAG' };
    await fetch(`${proxy.url}/api/v1/transactiontags`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${TOKENS.full}`,
        'organization-id': ORGANIZATION,
        'content-type': 'application/json',
      },
      body: JSON.stringify(body),
    })
      .then((answer) => answer.text())
      .catch(() => undefined);
    await proxy.idle();
    const tags = rowsOf(await service.call('GET', '/transactiontags', { query: { pageSize: 500 } }));
    expect(tags.some(({ tagText }) => tagText === kind)).toBe(done);
  });
});

describe('a command behind the fault proxy', () => {
  /** What the command prints when nothing goes wrong; no test of this file changes patients. */
  let undisturbed: string;
  beforeAll(async () => {
    undisturbed = (await runFaulty(0, LIST, { proxy, share: 0 })).stdout.toString();
  });

  it.each(ALL_FAULTS)('gets through %s', async (kind: FaultKind) => {
    const file = join(folder, `${kind}.csv`);
    const run = await runFaulty(1, [...LIST, '--out', file], { proxy, kinds: [kind], share: 0.7, restarts: 1 });
    expect(run.exitCode, run.stderr + run.plan.describe()).toBe(0);
    expect(await readFile(file, 'utf8')).toBe(undisturbed);
    expect(run.plan.describe()).toContain(` ${kind}`);
  });

  it.each(LASTING)('fails when %s does not end', async (kind: FaultKind) => {
    const run = await runFaulty(2, LIST, { proxy, kinds: [kind], share: 0, breaksAt: 2 });
    expect([7, 8], run.stderr + run.plan.describe()).toContain(run.exitCode);
    // The first page, and the first and five more attempts of the second. A head that comes whole says what the page after
    // it is, so that one is asked for early, and again while the second is. A page that times out is asked for by time.
    expect(run.plan.requests).toBeGreaterThanOrEqual(7);
    expect(run.plan.requests).toBeLessThanOrEqual(kind === 'refused' ? 19 : 13);
    const [header, first] = undisturbed.split('\n');
    expect(run.stdout.toString()).toBe(`${header}\n${first}\n`);
  });

  it('gives no JSON at all when it fails', async () => {
    const json = [...LIST, '--format', 'json'];
    const whole = await runFaulty(2, json, { proxy, kinds: ['refused'], share: 0, breaksAt: 2 });
    expect([whole.exitCode, whole.stdout.toString()]).toEqual([8, '']);
    expect(Object.keys(JSON.parse(whole.stderr))).toEqual(['error']);
  });
});
