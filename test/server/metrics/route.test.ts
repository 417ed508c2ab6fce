import { once } from 'node:events';
import { get } from 'node:http';
import fastify, { type FastifyInstance } from 'fastify';
import { afterEach, describe, expect, it } from 'vitest';
import { mountMetrics } from '../../../src/server/metrics/route.ts';
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
