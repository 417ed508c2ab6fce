import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { loadDriver } from '../../../src/sqlite/open.ts';
import { onPostgres, type TestDatabase, testDatabase } from '../../support/postgres.ts';
import { molarHere } from '../inprocess.ts';
import { type Ended, fixturePatients, ORGANIZATION, PATIENT, type Served, serve, workplace } from '../molar.ts';

export const LOCATION = 7000000000005;
export const OTHER_LOCATION = 7000000000006;

/** An entry as `molar server audit export` prints it. */
export interface Entry {
  readonly id: number;
  readonly who: string;
  readonly address: string | null;
  readonly requestId: string | null;
  readonly operation: string;
  readonly ids: readonly (number | readonly [number, number])[];
  readonly patients: readonly (number | readonly [number, number])[];
  readonly status?: number;
  readonly client?: string;
  readonly via?: string;
  readonly all?: boolean;
}

/** A practice that is served from a folder or a database, and asked over HTTP and by commands alone. */
export interface Practice {
  readonly path: string;
  readonly served: Served;
  /** A new token, by `molar server tokens create`. */
  token(...flags: string[]): Promise<{ readonly id: string; readonly token: string }>;
  /** One request with a token. */
  call(token: string, method: string, path: string, body?: unknown, headers?: object): Promise<Answer>;
  /** `molar server …` on its data, in this process. */
  server(...args: string[]): Promise<Ended>;
  entries(): Promise<Entry[]>;
  /** Runs SQL on its database, past the server. */
  sql(...statements: string[]): Promise<void>;
  restart(...flags: string[]): Promise<void>;
  end(): Promise<void>;
}

export interface Answer {
  readonly status: number;
  readonly requestId: string;
  readonly headers: Headers;
  readonly body: { data: never; errors?: readonly { code: string; source: string | null }[] };
}

/** The stores, by name; PostgreSQL where there is one. */
export type Store = 'SQLite' | 'PostgreSQL';

/** Serves 120 patients: the last 20 of them prefer the other location. */
export async function practice(store: Store, ...flags: string[]): Promise<Practice> {
  const place = await workplace();
  await writePractice(place.path);
  const database = store === 'PostgreSQL' ? await testDatabase() : undefined;
  const where =
    database === undefined
      ? ['--data', join(place.path, 'd')]
      : ['--database', database.url, '--files', join(place.path, 'files')];
  let served = await serve(place.path, [...where, '--import', 'practice.ndjson', ...flags]);
  const server = (...args: string[]) => molarHere(['server', ...args, ...where]);
  return {
    path: place.path,
    get served() {
      return served;
    },
    async token(...more) {
      const made = await server('tokens', 'create', '--for', ORGANIZATION, '--json', ...more);
      if (made.code !== 0) throw new Error(made.stderr);
      return JSON.parse(made.stdout);
    },
    async call(token, method, path, body, headers = {}) {
      const answer = await fetch(path.startsWith('http') ? path : `${served.url}/api/v1${path}`, {
        method,
        headers: {
          authorization: `Bearer ${token}`,
          'organization-id': ORGANIZATION,
          ...(body !== undefined && { 'content-type': 'application/json' }),
          ...headers,
        },
        ...(body !== undefined && { body: JSON.stringify(body) }),
      });
      const text = await answer.text();
      const isJson = answer.headers.get('content-type')?.includes('json') === true && text !== '';
      return {
        status: answer.status,
        requestId: answer.headers.get('x-request-id') ?? '',
        headers: answer.headers,
        body: isJson ? JSON.parse(text) : {},
      };
    },
    server,
    async entries() {
      const { stdout } = await server('audit', 'export');
      return stdout
        .split('\n')
        .filter((line) => line !== '')
        .map((line) => JSON.parse(line) as Entry);
    },
    sql: (...statements) => onDatabase(database, join(place.path, 'd', 'molar.sqlite'), statements),
    async restart(...more) {
      await served.stop();
      served = await serve(place.path, [...where, ...flags, ...more]);
    },
    async end() {
      await served.stop('SIGKILL');
      await database?.drop();
      await place.remove();
    },
  };
}

async function writePractice(folder: string): Promise<void> {
  const location = (id: number) => ({
    type: 'Location',
    organizationId: ORGANIZATION,
    id,
    name: `L${id}`,
    timezone: 'UTC',
  });
  const lines = [
    { type: 'Organization', id: ORGANIZATION, name: 'Example', timezone: 'UTC', createdDate: '2020-01-01' },
    ...[location(LOCATION), location(OTHER_LOCATION)],
    ...fixturePatients(120).map((patient) =>
      patient.id < PATIENT + 100 ? patient : { ...patient, preferredLocation: { id: OTHER_LOCATION } },
    ),
  ];
  await writeFile(join(folder, 'practice.ndjson'), lines.map((line) => `${JSON.stringify(line)}\n`).join(''));
}

async function onDatabase(database: TestDatabase | undefined, file: string, statements: readonly string[]) {
  if (database !== undefined) {
    await onPostgres(async (client) => {
      for (const statement of statements) await client.query(statement);
    }, database.url);
    return;
  }
  const connection = new (loadDriver())(file);
  for (const statement of statements) connection.exec(statement);
  connection.close();
}
