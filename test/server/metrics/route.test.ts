import { once } from 'node:events';
import { get } from 'node:http';
import fastify, { type FastifyInstance } from 'fastify';
import { afterEach, describe, expect, it } from 'vitest';
import { mountMetrics, type ToldMetrics } from '../../../src/server/metrics/route.ts';
import { PATIENTS, TOKENS } from '../../support/ids.ts';
import { testService } from '../../support/service.ts';

const opened: { close(): Promise<unknown> }[] = [];

afterEach(async () => {
  for (const each of opened.splice(0)) await each.close();
});

async function service() {
  const made = await testService();
  opened.push(made);
  return made;
}

/** Samples of a metric by their labels, as they stand in the text. */
async function samples(app: FastifyInstance, name: string): Promise<Record<string, number>> {
  const { body } = await app.inject('/metrics');
  const found = [...body.matchAll(new RegExp(`^${name}(\\{.*\\})? (\\S+)$`, 'gm'))];
  return Object.fromEntries(found.map(([, labels = '', value]) => [labels, Number(value)]));
}

describe('GET /metrics', () => {
  it('answers Prometheus text without a token', async () => {
    const { app } = await service();
    const response = await app.inject('/metrics');
    expect(response.statusCode).toBe(200);
    expect(response.headers['content-type']).toBe('text/plain; version=0.0.4; charset=utf-8');
    expect(response.body).toContain('# TYPE molar_http_requests_total counter');
    expect(response.body).toContain('# TYPE molar_http_request_duration_seconds histogram');
    expect(response.body).toMatch(/^process_cpu_seconds_total \S+$/m);
    expect(response.body).toMatch(/^nodejs_version_info\{/m);
  });

  it('counts requests by method, route template and status', async () => {
    const { app, call } = await service();
    await call('GET', '/patients', { query: { filter: 'lastName==Secretname' } });
    await call('GET', `/patients/${PATIENTS.ann}`);
    await call('GET', `/patients/${PATIENTS.bob}`);
    await call('GET', '/patients/424242');
    await call('GET', '/patients', { token: null });
    await call('GET', '//nosuch/path');
    const expected = {
      '{method="GET",route="/api/v1/patients",status="200"}': 1,
      '{method="GET",route="/api/v1/patients/:id",status="200"}': 2,
      '{method="GET",route="/api/v1/patients/:id",status="404"}': 1,
      '{method="GET",route="/api/v1/patients",status="401"}': 1,
      '{method="GET",route="unknown",status="404"}': 1,
    };
    expect(await samples(app, 'molar_http_requests_total')).toEqual(expected);
    expect(await samples(app, 'molar_http_request_duration_seconds_count')).toMatchObject(expected);
  });

  it('tells how long requests took, in seconds', async () => {
    const { app, call } = await service();
    const began = performance.now();
    await call('GET', '/patients');
    const [sum = 0] = Object.values(await samples(app, 'molar_http_request_duration_seconds_sum'));
    expect(sum).toBeGreaterThan(0);
    expect(sum).toBeLessThanOrEqual((performance.now() - began) / 1000);
  });

  it('tells nothing of whom and what was asked for', async () => {
    const { app, call } = await service();
    await call('GET', '/patients', { query: { filter: 'lastName==Secretname' } });
    await call('GET', `/patients/${PATIENTS.ann}`);
    const { body } = await app.inject('/metrics');
    for (const secret of ['Secretname', String(PATIENTS.ann), '5f0c1e2d3a4b5c6d7e8f9a0b', TOKENS.full, 'filter']) {
      expect(body).not.toContain(secret);
    }
  });

  it('keeps the counts of two apps apart', async () => {
    const [one, other] = [await service(), await service()];
    await one.call('GET', '/patients');
    expect(await samples(other.app, 'molar_http_requests_total')).toEqual({});
    expect(await samples(one.app, 'molar_http_requests_total')).toEqual({
      '{method="GET",route="/api/v1/patients",status="200"}': 1,
    });
  });

  it('counts writes and the commits they share', async () => {
    const { app, call } = await service();
    const tag = (tagText: string) => ({ body: { tagText, isPredefined: false, tagType: 'PAYMENT_TAG' } });
    // Writes are in order: what a server writes when it starts is counted by then.
    await call('POST', '/transactiontags', tag('first'));
    const before = await samples(app, 'molar_store_writes_total');
    const commits = await samples(app, 'molar_store_commits_total');
    await Promise.all(['a', 'b', 'c'].map((text) => call('POST', '/transactiontags', tag(text))));
    const grown = (await samples(app, 'molar_store_writes_total'))['']! - before['']!;
    expect(grown).toBe(3);
    const shared = (await samples(app, 'molar_store_commits_total'))['']! - commits['']!;
    expect(shared).toBeGreaterThanOrEqual(1);
    expect(shared).toBeLessThanOrEqual(3);
  });
});

describe('metrics of other parts', () => {
  const store = { counts: { writes: 0, commits: 0 } };

  it('that count are told alike to everybody who asks at the same time', async () => {
    const app: FastifyInstance = fastify();
    opened.push(app);
    mountMetrics(app, store, [
      {
        name: 'molar_told_total',
        help: 'Told.',
        kind: 'counter',
        label: 'what',
        read: async () => new Map([['x', 5]]),
      },
    ]);
    const told = () => samples(app, 'molar_told_total');
    expect(await Promise.all([told(), told(), told()])).toEqual(Array(3).fill({ '{what="x"}': 5 }));
  });

  it('tell of the connections of a database each by its name, and of none where there are none', async () => {
    const connections = () => ({ open: 7, idle: 4, waiting: 2 });
    const apps = [{ ...store, connections }, store].map((each) => {
      const app: FastifyInstance = fastify();
      opened.push(app);
      mountMetrics(app, each);
      return app;
    });
    const told = (app: FastifyInstance) =>
      Promise.all(['open', 'idle', 'waiting'].map((name) => samples(app, `molar_database_connections_${name}`)));
    const of = (...values: number[]) => values.map((value) => ({ '': value }));
    expect(await Promise.all(apps.map(told))).toEqual([of(7, 4, 2), [{}, {}, {}]]);
  });

  it('of a server of several processes say since when its first one has run', async () => {
    const app: FastifyInstance = fastify();
    opened.push(app);
    const began = 'process_start_time_seconds';
    const older = ({ requests, others }: ToldMetrics): ToldMetrics => ({
      requests,
      others: others.map((metric) => ('name' in metric && metric.name === began ? withValue(metric, 1000) : metric)),
    });
    const withValue = (metric: object, value: number) => ({ ...metric, values: [{ value, labels: {} }] });
    mountMetrics(app, store, [], undefined, {
      ofOthers: async (own) => [older(own)],
      isCountedElsewhere: () => false,
    });
    expect(await samples(app, began)).toEqual({ '': 1000 });
  });
});

describe('requests in flight', () => {
  /** An app with a route that is answered when the test says so. */
  async function waitingApp() {
    const app: FastifyInstance = fastify();
    const begun = new EventTarget();
    let release = () => {};
    const released = new Promise<void>((resolve) => {
      release = resolve;
    });
    mountMetrics(app, { counts: { writes: 0, commits: 0 } });
    app.get('/slow', async () => {
      begun.dispatchEvent(new Event('begun'));
      await released;
      return 'done';
    });
    opened.push(app);
    const url = await app.listen({ host: '127.0.0.1', port: 0 });
    return { app, url, release, begun: once(begun, 'begun') };
  }

  it('are counted while they last, the scrape itself included', async () => {
    const { app, url, release, begun } = await waitingApp();
    const answer = fetch(`${url}/slow`);
    await begun;
    expect(await samples(app, 'molar_http_requests_in_flight')).toEqual({ '': 2 });
    release();
    expect(await (await answer).text()).toBe('done');
    expect(await samples(app, 'molar_http_requests_in_flight')).toEqual({ '': 1 });
  });

  it('end when the caller goes away, and are told as aborted', async () => {
    const { app, url, release, begun } = await waitingApp();
    const request = get(`${url}/slow`, { agent: false }).on('error', () => {});
    await begun;
    request.destroy();
    await expect.poll(() => samples(app, 'molar_http_requests_in_flight')).toEqual({ '': 1 });
    expect(await samples(app, 'molar_http_requests_total')).toMatchObject({
      '{method="GET",route="/slow",status="aborted"}': 1,
    });
    release();
  });
});
