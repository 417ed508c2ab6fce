import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { createServer, type IncomingHttpHeaders, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { connect } from 'amqplib';
import { afterAll, afterEach, beforeAll, expect, onTestFinished, test } from 'vitest';
import { testBroker } from '../support/services.ts';
import {
  fixturePatients,
  ORGANIZATION,
  PATIENT,
  RUN,
  type Served,
  serve,
  TOKEN,
  text,
  workplace,
  writeFixture,
} from './molar.ts';

/** A span as OTLP has it in JSON. */
interface Span {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly name: string;
  readonly kind: number;
  readonly attributes: readonly { readonly key: string; readonly value: Record<string, string | number> }[];
  readonly events: readonly { readonly name: string }[];
}

const SERVER_KIND = 2;

let place: Awaited<ReturnType<typeof workplace>>;
let collector: Server;
let received: { readonly path: string; readonly headers: IncomingHttpHeaders; readonly body: string }[];
let served: Served | undefined;

beforeAll(async () => {
  place = await workplace();
  await writeFixture(place.path, 5);
  collector = createServer(async (request, response) => {
    const { url = '', headers } = request;
    received.push({ path: url, headers, body: await text(request) });
    response.writeHead(200, { 'content-type': 'application/json' }).end('{}');
  });
  await once(collector.listen(0, '127.0.0.1'), 'listening');
});

afterEach(async () => {
  await served?.stop('SIGKILL');
  served = undefined;
});

afterAll(async () => {
  collector.close();
  await place.remove();
});

/** A server whose traces go to the collector, on a folder of its own. */
async function started(
  folder: string,
  env: Record<string, string> = {},
  args: readonly string[] = [],
): Promise<Served> {
  received = [];
  const { port } = collector.address() as AddressInfo;
  const common = { OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${port}` };
  const data = ['--data', folder, '--import', 'fixture.ndjson'];
  served = await serve(place.path, [...data, ...args], RUN, { ...common, ...env });
  return served;
}

function call(path: string, init: RequestInit = {}): Promise<Response> {
  const headers = { authorization: `Bearer ${TOKEN}`, 'organization-id': ORGANIZATION, ...init.headers };
  return fetch(`${served?.url}/api/v1${path}`, { ...init, headers });
}

const spans = () =>
  received
    .map(({ body }) => JSON.parse(body) as { resourceSpans: { scopeSpans: { spans: Span[] }[] }[] })
    .flatMap(({ resourceSpans }) =>
      resourceSpans.flatMap(({ scopeSpans }) => scopeSpans.flatMap((scope) => scope.spans)),
    );

const valuesOf = ({ attributes }: Span) =>
  Object.fromEntries(attributes.map(({ key, value }) => [key, Object.values(value)[0]]));

/** The span of the request with this id. */
const spanOf = (requestId: string) =>
  spans().find((span) => span.kind === SERVER_KIND && valuesOf(span)['molar.request_id'] === requestId);

/** Spans within a span, at any depth. */
function within(span: Span | undefined): Span[] {
  const inner = spans().filter(({ parentSpanId }) => parentSpanId === span?.spanId);
  return inner.flatMap((child) => [child, ...within(child)]);
}

test('a collector gets a span for each request, and spans of what it waited for, when the server ends', async () => {
  await writeFile(join(place.path, 'headers'), 'x-key=key%20of%20the%20collector\n');
  await writeFile(join(place.path, 'traces.toml'), '[secrets]\nOTEL_EXPORTER_OTLP_HEADERS = { file = "headers" }');
  await started('spans', { OTEL_SERVICE_NAME: 'practice', OTEL_RESOURCE_ATTRIBUTES: 'deployment=test' }, [
    '--config',
    'traces.toml',
  ]);
  const filter = encodeURIComponent("lastName=='Smith'");
  const list = await call(`/patients?filter=${filter}`, { headers: { 'x-request-id': 'the-list' } });
  expect(list.status).toBe(200);
  const { type: _, organizationId: __, id: ___, ...body } = fixturePatients(1)[0] as Record<string, unknown>;
  const caller = { trace: '0af7651916cd43dd8448eb211c80319c', span: 'b7ad6b7169203331' };
  const write = await call('/patients', {
    method: 'POST',
    body: JSON.stringify({ ...body, firstName: 'Canaria' }),
    headers: {
      'content-type': 'application/json',
      'x-request-id': 'the-write',
      traceparent: `00-${caller.trace}-${caller.span}-01`,
    },
  });
  expect(write.status).toBe(201);
  const written = ((await write.json()) as { data: { id: number } }).data.id;
  expect((await call(`/patients/${PATIENT}`, { headers: { 'x-request-id': 'the-get' } })).status).toBe(200);
  expect((await call('/patients/1/nothing', { headers: { 'x-request-id': 'the-miss' } })).status).toBe(404);
  expect(await served?.stop()).toBe(0);

  expect(received.map(({ path }) => path)).toContain('/v1/traces');
  expect(received.every(({ headers }) => headers['x-key'] === 'key of the collector')).toBe(true);
  const all = received.map(({ body: sent }) => sent).join('\n');
  expect(all).toContain('{"key":"service.name","value":{"stringValue":"practice"}}');
  expect(all).toContain('{"key":"deployment","value":{"stringValue":"test"}}');

  const listed = spanOf('the-list');
  expect(listed?.name).toBe('GET /api/v1/patients');
  expect(valuesOf(listed as Span)).toEqual({
    'http.request.method': 'GET',
    'http.route': '/api/v1/patients',
    'http.response.status_code': 200,
    'molar.request_id': 'the-list',
  });
  expect(listed?.parentSpanId).toBeUndefined();
  expect(within(listed).map(({ name }) => name)).toEqual(expect.arrayContaining(['SELECT sqlite', 'APPEND sqlite']));

  const wrote = spanOf('the-write');
  expect(wrote).toMatchObject({ traceId: caller.trace, parentSpanId: caller.span });
  expect(
    within(wrote)
      .find(({ name }) => name === 'WRITE sqlite')
      ?.events.map(({ name }) => name),
  ).toEqual(['begun', 'done']);
  expect(spanOf('the-get')?.name).toBe('GET /api/v1/patients/:id');
  expect(valuesOf(spanOf('the-miss') as Span)).toMatchObject({
    'http.route': 'unknown',
    'http.response.status_code': 404,
  });

  // Nothing of a patient, of an organization or of a credential, and no query string.
  const secrets = [
    'Smith',
    'Canaria',
    'lastName',
    'filter',
    String(PATIENT),
    String(written),
    TOKEN,
    ORGANIZATION,
    'FROM ',
  ];
  expect(secrets.filter((secret) => all.includes(secret))).toEqual([]);
});

test('what the relay sends, and an async delivery, are traces of their own', async (context) => {
  const broker = await testBroker();
  if (broker === undefined) return context.skip('needs a broker');
  const exchange = `molar-test-${randomUUID()}`;
  const relaying = ['--amqp', `${new URL(broker).href}?exchange=${exchange}`];
  await started('apart', { OTEL_BSP_SCHEDULE_DELAY: '50' }, relaying);
  const spanNamed = async (name: string) => {
    await expect.poll(() => spans().some((span) => span.name === name)).toBe(true);
    return spans().find((span) => span.name === name) as Span;
  };
  const model = await connect(broker);
  onTestFinished(async () => {
    await served?.stop();
    await (await model.createChannel()).deleteExchange(exchange);
    await model.close();
  });
  const relayed = await spanNamed('relay messages');
  expect(relayed.parentSpanId).toBeUndefined();
  expect(valuesOf(relayed)).toEqual({ 'messaging.system': 'rabbitmq', 'messaging.batch.message_count': 5 });
  const asked = await call('/patients/async', { headers: { 'x-request-id': 'who-asked' } });
  expect(asked.status).toBe(200);
  const delivered = await spanNamed('deliver chunk');
  expect(delivered.parentSpanId).toBeUndefined();
  expect(valuesOf(delivered)).toEqual({
    'molar.operation': expect.stringMatching(/^patients\./),
    'molar.request_id': 'who-asked',
  });
});

// The other switches are tested in test/server/tracing; this one is read by the library.
test('OTEL_TRACES_SAMPLER switches traces off', async () => {
  await started('off', { OTEL_TRACES_SAMPLER: 'always_off' });
  expect((await call('/patients')).status).toBe(200);
  await served?.stop();
  expect(received).toEqual([]);
});

test('a collector that is away changes no answer, and is told in the log once', async () => {
  await started('away', { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:1', OTEL_EXPORTER_OTLP_TIMEOUT: '200' });
  for (let n = 0; n < 3; n++) expect((await call('/patients')).status).toBe(200);
  const began = performance.now();
  expect(await served?.stop()).toBe(0);
  expect(performance.now() - began).toBeLessThan(10_000);
  const lines = (await (served as Served).errors).split('\n').filter((line) => line.includes('traces cannot be sent'));
  expect(lines).toHaveLength(1);
});
