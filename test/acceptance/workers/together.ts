import { execFileSync } from 'node:child_process';
import { Agent, type IncomingHttpHeaders, request as send } from 'node:http';
import { gunzipSync } from 'node:zlib';
import { describe } from 'vitest';
import { type TestDatabase, testDatabase } from '../../support/postgres.ts';
import { testPostgres } from '../../support/services.ts';
import { ORGANIZATION, type Served, serve, TOKEN, workplace, writeFixture } from '../molar.ts';

export const HEADERS = { authorization: `Bearer ${TOKEN}`, 'organization-id': ORGANIZATION };

/** What makes a tag, with a text of its own. */
export const TAG = (tagText: string) => ({ tagText, tagType: 'PAYMENT_TAG', isPredefined: false });

/** So many that every process has some, whichever it is that is given more of them. */
const CONNECTIONS = 6;

/** A server of two processes, and a folder with what it has imported. */
export interface Together {
  readonly served: Served;
  readonly path: string;
  /** How commands find the data of the server. */
  readonly data: readonly string[];
  /** Connections that stay, of all processes. */
  readonly connections: readonly Connection[];
  end(): Promise<void>;
}

interface Place {
  readonly path: string;
  readonly data: readonly string[];
  remove(): Promise<void>;
}

/** Describes what a server of several processes does wherever its records are: on SQLite. */
export function onSqlite(name: string, tests: (newPlace: () => Promise<Place>) => void): void {
  describe(name, () => tests(() => newPlace(false)));
}

/** Describes a server of several processes on each store that there is. */
export async function onStores(
  name: string,
  tests: (newPlace: () => Promise<Place>, hasDatabase: boolean) => void,
): Promise<void> {
  const stores: [string, boolean][] = [['SQLite', false]];
  if ((await testPostgres()) !== undefined) stores.push(['PostgreSQL', true]);
  for (const [store, hasDatabase] of stores) {
    describe(`${name} on ${store}`, () => {
      tests(() => newPlace(hasDatabase), hasDatabase);
    });
  }
}

async function newPlace(hasDatabase: boolean): Promise<Place> {
  const { path, remove } = await workplace();
  await writeFixture(path, 40);
  const database: TestDatabase | undefined = hasDatabase ? await testDatabase() : undefined;
  return {
    path,
    data: database === undefined ? ['--data', 'd'] : ['--database', database.url, '--files', 'files'],
    async remove() {
      await database?.drop();
      await remove();
    },
  };
}

/** Starts a server of two processes on data of its own, with the fixture. */
export async function together(place: Place, args: readonly string[] = [], workers = 2): Promise<Together> {
  const imports = ['--import', 'fixture.ndjson'];
  const served = await serve(place.path, [...place.data, ...imports, '--workers', String(workers), ...args]);
  const connections = await openConnections(served.url);
  return {
    ...place,
    served,
    connections,
    async end() {
      for (const connection of connections) connection.close();
      await served.stop('SIGKILL');
      await place.remove();
    },
  };
}

/** Opens connections that stay, all at once, so that each process gets some. */
export async function openConnections(url: string, count = CONNECTIONS): Promise<Connection[]> {
  const opened = Array.from({ length: count }, () => new Connection(url));
  await Promise.all(opened.map((connection) => connection.ask('GET', '/healthz')));
  return opened;
}

/** The processes of a server, as the system tells them: id of each, the first that was started first. */
export function processesOf({ child }: Served): number[] {
  const rows = execFileSync('ps', ['-A', '-o', 'pid=,ppid=,args='], { encoding: 'utf8' }).trim().split('\n');
  return rows
    .map((row) => /^\s*(\d+)\s+(\d+)\s+(.*)$/.exec(row) ?? [])
    .filter(([, , parent, args]) => Number(parent) === child.pid && /workerprocess/.test(args ?? ''))
    .map(([, pid]) => Number(pid))
    .toSorted((a, b) => a - b);
}

export interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

interface Asking {
  readonly headers?: Readonly<Record<string, string>>;
  /** An object is sent as JSON. */
  readonly body?: object | string;
}

/** One connection to a server, which is kept from request to request. */
export class Connection {
  private readonly agent = new Agent({ keepAlive: true, maxSockets: 1 });

  constructor(private readonly url: string) {}

  /** GET by the token of the fixture; rejects as `ask` does. */
  read(path: string, headers: Readonly<Record<string, string>> = {}): Promise<Answer> {
    return this.ask('GET', path, { headers: { ...HEADERS, ...headers } });
  }

  /** Rejects when no whole answer comes. */
  ask(method: string, path: string, { headers = HEADERS, body }: Asking = {}): Promise<Answer> {
    const text = typeof body === 'object' ? JSON.stringify(body) : body;
    const type =
      text === undefined ? {} : { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) };
    return new Promise((resolve, reject) => {
      const asked = send(this.url + path, { method, agent: this.agent, headers: { ...type, ...headers } });
      asked.once('error', reject);
      asked.once('response', (response) => {
        const chunks: Buffer[] = [];
        response.on('data', (chunk: Buffer) => chunks.push(chunk));
        response.once('error', reject);
        response.once('end', () => {
          const { statusCode: status = 0, headers: answered } = response;
          const bytes = Buffer.concat(chunks);
          const body = answered['content-encoding'] === 'gzip' ? gunzipSync(bytes) : bytes;
          resolve({ status, headers: answered, body: body.toString() });
        });
      });
      asked.end(text);
    });
  }

  close(): void {
    this.agent.destroy();
  }
}
