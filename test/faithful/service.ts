import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { type Outgoing, send, sendFault } from './answering.ts';
import type { World } from './call.ts';
import { change, create, stamp } from './call.ts';
import { dispatch, type Sent } from './dispatch.ts';
import { type Fault, type Faults, NO_FAULTS } from './faults.ts';
import { openFiles } from './fileorigin.ts';
import { type Moods, moodsOf, PLAIN } from './moods.ts';
import { listen, shut, TOKEN, type Violation } from './origin.ts';
import { makePractice, type Sizes, SMALL } from './practice/practice.ts';
import { Draws } from './random.ts';
import type { Fields, Practice, Resource, Stored } from './store.ts';

/** A request that came; `status` is 0 when nothing was sent back. */
export interface Seen {
  readonly method: string;
  readonly path: string;
  readonly query: Readonly<Record<string, string>>;
  readonly status: number;
  readonly fault?: Fault;
}

export interface Options {
  readonly seed: string;
  /** Over PLAIN; drawn from the seed where absent. */
  readonly moods?: Partial<Moods>;
  readonly faults?: Faults;
  /** Over SMALL. */
  readonly practice?: Partial<Sizes>;
  /** Milliseconds; that of the machine where absent. */
  readonly now?: () => number;
  /** Whether each request has a connection of its own, as on a network without sockets; otherwise they are used again. */
  readonly closesConnections?: boolean;
}

/** A running service that keeps the specification and nothing more. */
export interface Faithful {
  readonly url: string;
  readonly organization: string;
  readonly token: string;
  /** What connects the command line. */
  readonly env: Readonly<Record<string, string>>;
  readonly moods: Moods;
  readonly practice: Practice;
  readonly violations: readonly Violation[];
  readonly requests: readonly Seen[];
  /** Called with each request before it is answered; changes made in it are seen by its answer. */
  onRequest: ((request: { readonly method: string; readonly path: string }) => void) | undefined;
  /** The records that are stored now, by ascending id: ids are numbers, instants in UTC with milliseconds. */
  records(resource: Resource): readonly Fields[];
  /** Those of them that some bulk read can bring, whatever the filter. */
  reachable(resource: Resource): readonly Fields[];
  /** Stores a record as another user would; fields beside the given ones are those of a record that is there. */
  add(resource: Resource, fields?: Fields): Fields;
  addPatient(fields?: Fields): Fields;
  addEvent(fields?: Fields): Fields;
  /** Changes a record as another user would, with a new lastModified. */
  edit(resource: Resource, id: number, fields: Fields): void;
  /** Corrects a transaction, which is no longer active (Transaction corrections); answers what replaces it. */
  correct(id: number): Fields;
  remove(resource: Resource, id: number): void;
  /** Answers on a connection that was made without a socket; `acceptFile` as the origin of contents. */
  readonly accept: (connection: Duplex) => void;
  readonly acceptFile: (connection: Duplex) => void;
  close(): Promise<void>;
}

/** Starts a service on free ports of the loopback interface. */
export async function startFaithful(options: Options): Promise<Faithful> {
  const { seed, faults = NO_FAULTS, now = Date.now, closesConnections = false } = options;
  const moods = options.moods ? { ...PLAIN, ...options.moods } : moodsOf(seed);
  const practice = makePractice(seed, moods, { ...SMALL, ...options.practice }, now());
  const violations: Violation[] = [];
  const requests: Seen[] = [];
  const files = await openFiles(practice, faults, (violation) => violations.push(violation));
  const clock = () => now() + moods.clockAhead;
  const world: World = { practice, moods, draws: new Draws(`service ${seed}`), clock, link: files.link };
  const server = createServer((request, response) => {
    // A request that is cut off before its end asks for nothing.
    readBody(request).then(
      (body) => answer(request, response, body),
      () => undefined,
    );
  });
  // A connection that was closed for being idle might be the one that the next request goes out on.
  server.keepAliveTimeout = 0;

  let late: { readonly due: number; readonly sent: Sent }[] = [];
  /** Does the work of requests that ended before it, once its time has come. */
  const finishLate = (until: number) => {
    const due = late.filter((work) => work.due <= until);
    late = late.filter((work) => work.due > until);
    for (const { sent } of due) dispatch(world, sent, violations);
  };

  const answer = (request: IncomingMessage, response: ServerResponse, body: Buffer) => {
    const sent = sentOf(request, body);
    finishLate(now());
    service.onRequest?.(sent);
    const fault = faults(`${sent.method} ${request.url}`);
    const report = (status: number) => {
      const seen = { method: sent.method, path: sent.path, query: Object.fromEntries(sent.query), status };
      requests.push(fault ? { ...seen, fault } : seen);
    };
    response.setHeader('date', new Date(clock()).toUTCString());
    if (closesConnections) response.setHeader('connection', 'close');
    const outgoing: Outgoing = fault && !fault.after ? NOTHING_DONE : dispatch(world, sent, violations);
    if (fault?.late !== undefined) late.push({ due: now() + fault.late, sent });
    if (fault) report(sendFault(request, response, fault, outgoing));
    else {
      report(outgoing.status);
      send(request, response, outgoing, moods);
    }
  };

  const url = await listen(server);
  const service: Faithful = {
    url,
    organization: practice.organization,
    token: TOKEN,
    env: { MOLAR_URL: url, MOLAR_ORGANIZATION: practice.organization, MOLAR_TOKEN: TOKEN },
    moods,
    practice,
    violations,
    requests,
    onRequest: undefined,
    records: (resource) => {
      finishLate(Number.POSITIVE_INFINITY);
      return practice.shelves[resource].all().map(({ record }) => record);
    },
    reachable: (resource) => {
      // Every bulk read of patients has a lastModified filter then; those of events may have one by start instead.
      const dated = resource === 'patients' && moods.automaticDates && !moods.automaticKeepsUndated;
      return service.records(resource).filter(({ lastModified }) => !dated || lastModified !== null);
    },
    add: (resource, fields = {}) => addLike(world, resource, fields).record,
    addPatient: (fields) => service.add('patients', fields),
    addEvent: (fields) => service.add('events', fields),
    edit: (resource, id, fields) => {
      const stored = practice.shelves[resource].get(id);
      if (stored) change(world, resource, stored, { ...stamped(world, stored), ...fields });
    },
    correct: (id) => correct(world, id),
    remove: (resource, id) => practice.shelves[resource].remove(id),
    accept: (connection) => void server.emit('connection', connection),
    acceptFile: files.accept,
    close: async () => {
      await Promise.all([files.close(), shut(server)]);
    },
  };
  return service;
}

const NOTHING_DONE: Outgoing = { status: 200, body: { data: null, warnings: [], errors: [] } };

/** A new record like the first one there is; there must be one. */
function addLike(world: World, resource: Resource, fields: Fields): Stored {
  const [like] = world.practice.shelves[resource].all();
  if (!like) throw new Error(`There is no record of ${resource} to add another one like.`);
  const { id, ...rest } = like.record;
  return create(world, resource, { ...rest, ...stamped(world, like), ...fields });
}

function correct(world: World, id: number): Fields {
  const original = world.practice.shelves.transactions.get(id);
  if (!original) throw new Error(`There is no transaction ${id} to correct.`);
  const { id: _, ...rest } = original.record;
  const links = { previousTransaction: { id }, replacedByTransaction: null };
  const { record } = create(world, 'transactions', { ...rest, ...stamped(world, original), ...links, isActive: true });
  const date = world.moods.correctionsAreDated ? stamped(world, original) : {};
  change(world, 'transactions', original, { isActive: false, replacedByTransaction: { id: record.id }, ...date });
  return record;
}

function stamped(world: World, { record }: Stored): Fields {
  return 'lastModified' in record ? { lastModified: stamp(world) } : {};
}

function sentOf(request: IncomingMessage, body: Buffer): Sent {
  const [path = '', query = ''] = (request.url ?? '').split(/\?(.*)/s);
  const { authorization = '' } = request.headers;
  const organization = request.headers['organization-id'];
  return {
    method: request.method ?? '',
    path,
    query: [...new URLSearchParams(query)],
    token: authorization.startsWith('Bearer ') ? authorization.slice(7) : undefined,
    organization: typeof organization === 'string' ? organization : undefined,
    body: body.toString(),
  };
}

async function readBody(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}
