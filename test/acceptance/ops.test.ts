import { spawnSync } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { testDatabase } from '../support/postgres.ts';
import { testPostgres } from '../support/services.ts';
import { cleanEnv, type Served, serve, workplace, writeFixture } from './molar.ts';

const OPS = resolve(import.meta.dirname, '../../ops');
const read = (name: string) => readFile(join(OPS, name), 'utf8');

let place: Awaited<ReturnType<typeof workplace>>;
let served: Served;
/** Lines of /metrics: of a server with a relay on SQLite, and, where there is one, on PostgreSQL. */
let samples: string[];

const NOWHERE = ['--amqp', 'amqp://127.0.0.1:1', '--log-level', 'silent'];

async function samplesOf({ url }: Served): Promise<string[]> {
  // So that there are requests to be told of, this one's own among them.
  await fetch(`${url}/readyz`);
  const text = await (await fetch(`${url}/metrics`)).text();
  return text.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
}

beforeAll(async () => {
  place = await workplace();
  await writeFixture(place.path, 1);
  served = await serve(place.path, ['--data', 'd', '--import', 'fixture.ndjson', ...NOWHERE]);
  samples = await samplesOf(served);
  if ((await testPostgres()) === undefined) return;
  const database = await testDatabase();
  const other = await serve(place.path, ['--database', database.url, '--files', 'files', ...NOWHERE]);
  samples.push(...(await samplesOf(other)));
  await other.stop();
  await database.drop();
});
afterAll(async () => {
  await served?.stop();
  await place.remove();
});

/** Expressions of PromQL as metrics with the labels that they select or group by. */
function selectorsOf(expression: string): { readonly metric: string; readonly labels: readonly string[] }[] {
  const plain = expression.replaceAll('\n', ' ');
  const grouped = [...plain.matchAll(/by \(([\w, ]+)\)/g)].flatMap(([, names = '']) => names.split(', '));
  return [...plain.matchAll(/\b((?:molar|nodejs|process)_\w+|up\b)(?:\{([^}]*)\})?/g)].map(
    ([, metric = '', terms = '']) => ({
      metric,
      labels: [...[...terms.matchAll(/(\w+)\s*(?:=~|!~|!=|=)/g)].map(([, name = '']) => name), ...grouped],
    }),
  );
}

/** Labels that Prometheus adds when it reads /metrics. */
const ADDED = ['instance', 'job'];

/** What an expression asks that no server tells. */
function unknownIn(expression: string): string[] {
  return selectorsOf(expression).flatMap(({ metric, labels }) => {
    if (metric === 'up') return [];
    const own = samples.filter((line) => line.startsWith(`${metric}{`) || line.startsWith(`${metric} `));
    if (own.length === 0) return isOnlyOfPostgres(metric) ? [] : [metric];
    return labels
      .filter((label) => !ADDED.includes(label) && !own.some((line) => new RegExp(`[{,]${label}="`).test(line)))
      .map((label) => `${metric}{${label}}`);
  });
}

/** Not to be told apart from a mistake where no PostgreSQL is; in CI there is one. */
function isOnlyOfPostgres(metric: string): boolean {
  return (
    process.env.CI !== 'true' &&
    metric.startsWith('molar_database_connections_') &&
    !samples.some((line) => line.startsWith('molar_database'))
  );
}

describe('the metrics', () => {
  it('that alerts ask are those that a server has', async () => {
    const text = await read('prometheus/alerts.yml');
    const expressions = [...text.matchAll(/^ {8}expr: (?:>-\n((?: {10}.*\n)+)|(.*)\n)/gm)].map(
      ([, long, short]) => long ?? short ?? '',
    );
    expect(expressions).toHaveLength([...text.matchAll(/^ +- alert:/gm)].length);
    expect(expressions.flatMap(selectorsOf).length).toBeGreaterThanOrEqual(expressions.length);
    expect(expressions.flatMap(unknownIn)).toEqual([]);
  });

  it('that the dashboard shows are those that a server has', async () => {
    const { panels } = JSON.parse(await read('grafana/molar.json')) as { panels: { targets: { expr: string }[] }[] };
    const expressions = panels.flatMap(({ targets }) => targets.map(({ expr }) => expr));
    expect(expressions.length).toBeGreaterThan(20);
    expect(expressions.filter((expression) => selectorsOf(expression).length === 0)).toEqual([]);
    expect(expressions.flatMap(unknownIn)).toEqual([]);
  });

  it.each([
    ['sum(rate(molar_http_request_total[5m]))', ['molar_http_request_total']],
    ['sum by (code) (rate(molar_http_requests_total{status="200"}[5m]))', ['molar_http_requests_total{code}']],
    ['molar_budget_used{organization="x",budget="async"}', ['molar_budget_used{organization}']],
  ])('are judged rightly in %s', (expression, unknown) => {
    expect(unknownIn(expression)).toEqual(unknown);
  });
});

it('the health check of the image is good while the server is ready, and not when it has ended', async () => {
  const [, command = '[]'] = /HEALTHCHECK [^[]*(\[.*\])/.exec(await read('container/Dockerfile')) ?? [];
  const [program = '', ...args] = JSON.parse(command) as string[];
  const env = cleanEnv({ MOLAR_READY_URL: `${served.url}/readyz` });
  const check = () => spawnSync(program, args, { env, encoding: 'utf8' }).status;
  expect(check()).toBe(0);
  // The other tests read what it told before they began.
  await served.stop();
  expect(check()).toBe(1);
});
