import type { EventEmitter } from 'node:events';
import type { Socket } from 'node:net';
import pg from 'pg';
import { TEST_POSTGRES } from './services.ts';

/** What the driver has for the protocol, below a client: it says what was received as events. */
interface Wire extends EventEmitter {
  readonly stream: Socket;
  parsedStatements: Record<string, string>;
  connect(port: number, host: string): void;
  query(text: string): void;
  end(): void;
}

interface Client {
  connection: Wire;
  readonly host: string;
  readonly port: number;
  readonly connectionParameters: { readonly options?: string; readonly application_name?: string };
}

/** A connection that nobody has, and what its server said of it when it was made. */
interface Kept {
  readonly wire: Wire;
  readonly schema: string;
  /** All that it was made with. */
  readonly settings: string;
  readonly key: unknown;
}

/**
 * The connections of clients of pools that have ended, the last of them at the end. PostgreSQL takes longer to make one, and
 * to read its catalog for it, than for all that most tests ask of it: with kept ones, the tests on PostgreSQL take 229 s
 * instead of 281 s on two cores, and 425 s of processor time instead of 546 s.
 */
const kept: Kept[] = [];

/** As many as a service of tests has; all workers together stay below the 100 that a server usually allows. */
const MOST_KEPT = 6;

/** Schemas whose connections are kept. */
const schemas = new Set<string>();

/** Makes a connection as a new one is; what it knows of the catalog stays. */
const RESET =
  'ROLLBACK; RESET ALL; UNLISTEN *; SELECT pg_advisory_unlock_all(); CLOSE ALL; DEALLOCATE ALL; DISCARD TEMP; DISCARD SEQUENCES';

/** From now on, clients whose only schema is this one get connections that others have left. */
export function keepConnections(schema: string): void {
  schemas.add(schema);
}

export function dropConnections(schema: string): void {
  schemas.delete(schema);
  for (const one of kept.filter((each) => each.schema === schema)) discard(one);
}

const prototype = pg.Client.prototype as unknown as { connect(this: Client, callback?: unknown): unknown };
const { connect } = prototype;
prototype.connect = function (callback) {
  // Only pools have a callback. Who connects by himself may have brought a socket, which is his to close.
  if (callback !== undefined) lend(this);
  return connect.call(this, callback);
};

function lend(client: Client): void {
  const settings = JSON.stringify([client.host, client.port, client.connectionParameters]);
  const index = kept.findLastIndex((each) => each.settings === settings);
  const schema = schemaOf(client);
  if (index >= 0) client.connection = handedOver(kept.splice(index, 1)[0] as Kept);
  else {
    const [oldest] = kept;
    if (oldest !== undefined) discard(oldest);
    if (schema !== undefined) keepAfter(client.connection, schema, settings);
  }
}

function schemaOf({ host, port, connectionParameters }: Client): string | undefined {
  const { hostname, port: usual } = new URL(TEST_POSTGRES);
  // Those that go another way, through a gate, break when the test says so.
  if (host !== hostname || port !== Number(usual || 5432)) return undefined;
  // Who names his connections looks for those that are left.
  if (connectionParameters.application_name) return undefined;
  const [, schema = ''] = /search_path=(\w+)/.exec(connectionParameters.options ?? '') ?? [];
  return schemas.has(schema) ? schema : undefined;
}

/** When the client ends, the server is not told; the client does not notice. */
function keepAfter(wire: Wire, schema: string, settings: string): void {
  let key: unknown;
  wire.once('backendKeyData', (message) => {
    key = message;
  });
  wire.end = () =>
    setImmediate(() => {
      const ended = wire.listeners('end');
      const leave = () => {
        wire.removeAllListeners();
        wire.on('error', () => {});
        for (const listener of ended) listener();
      };
      wire.removeAllListeners();
      const one = { wire, schema, settings, key };
      for (const failure of ['error', 'errorMessage', 'end'])
        wire.once(failure, () => {
          leave();
          wire.stream.destroy();
        });
      wire.once('readyForQuery', () => {
        leave();
        wire.once('end', () => remove(one));
        if (schemas.has(schema)) keep(one);
        else discard(one);
      });
      wire.parsedStatements = {};
      wire.query(RESET);
    });
}

function keep(one: Kept): void {
  one.wire.stream.unref();
  kept.push(one);
  if (kept.length > MOST_KEPT) discard(kept[0] as Kept);
}

function handedOver({ wire, key }: Kept): Wire {
  wire.removeAllListeners();
  wire.stream.ref();
  wire.connect = () =>
    setImmediate(() => {
      wire.emit('backendKeyData', key);
      wire.emit('readyForQuery', { status: 'I' });
    });
  return wire;
}

function discard(one: Kept): void {
  remove(one);
  one.wire.stream.end();
}

function remove(one: Kept): void {
  const index = kept.indexOf(one);
  if (index >= 0) kept.splice(index, 1);
}
