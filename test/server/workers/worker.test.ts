import { EventEmitter, once } from 'node:events';
import { Socket } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import type { App } from '../../../src/server/http/app.ts';
import type { Service } from '../../../src/server/service.ts';
import type { SignIn } from '../../../src/server/signin/signin.ts';
import { Link } from '../../../src/server/workers/link.ts';
import type { Role } from '../../../src/server/workers/member.ts';
import { Worker } from '../../../src/server/workers/worker.ts';

interface Message {
  readonly ask?: number;
  readonly answer?: number;
  readonly what?: string;
  readonly value?: unknown;
}

const workers: Worker[] = [];

afterEach(async () => {
  for (const worker of workers.splice(0)) await worker.close();
});

/** A worker of so many; the test is its supervisor, and answers what it asks. */
function newWorker(role: Role, number = 1, count = 2, answers: Readonly<Record<string, unknown>> = {}) {
  const told: string[] = [];
  let receive: (message: unknown, socket?: Socket) => void = () => undefined;
  const link = new Link({
    send({ ask, what, value }: Message) {
      if (ask === undefined) told.push(`${what} ${value ?? ''}`.trim());
      else queueMicrotask(() => receive({ answer: ask, value: answers[what ?? ''] }));
    },
    onMessage: (listener) => {
      receive = listener;
    },
    onEnd: () => undefined,
  });
  const worker = new Worker({ number, count, role, fills: false, writerPath: '/no/such/writer' }, link);
  workers.push(worker);
  return { worker, told, give: (value: object, socket?: Socket) => receive({ what: 'connection', value }, socket) };
}

/** A peer that takes connections, and those that it serves. */
async function listening() {
  const made = newWorker('peer', 1, 2, { listen: 'http://127.0.0.1:1' });
  const server = new EventEmitter();
  const app = { server, ready: async () => undefined, tellMetrics: async () => undefined };
  const url = await made.worker.listen(app as unknown as App, {} as Service, {} as SignIn);
  return { ...made, url, server };
}

describe('a connection', () => {
  it('is told to be taken, and to be closed when it is', async () => {
    const { told, give, server, url } = await listening();
    expect([url, told]).toEqual(['http://127.0.0.1:1', ['ready']]);
    const served: unknown[] = [];
    server.on('connection', (socket: Socket) => served.push([socket, socket.allowHalfOpen]));
    const socket = new Socket();
    give({ number: 1, admitted: true }, socket);
    // Who has sent a request may be done with sending.
    expect(served).toEqual([[socket, true]]);
    expect(told).toEqual(['ready', 'taken 1']);
    socket.destroy();
    await once(socket, 'close');
    expect(told).toEqual(['ready', 'taken 1', 'closed 1']);
  });

  it('that was closed on its way is taken and closed at once', async () => {
    const { told, give } = await listening();
    give({ number: 7, admitted: true });
    expect(told).toEqual(['ready', 'taken 7', 'closed 7']);
  });

  it('for which there was no room is refused, and no other', async () => {
    const { worker, give } = await listening();
    const [admitted, refused] = [new Socket(), new Socket()];
    give({ number: 1, admitted: true }, admitted);
    give({ number: 2, admitted: false }, refused);
    const { decide } = worker.folder.budgetPart ?? {};
    expect([decide?.(admitted), decide?.(refused)]).toEqual(['count', 'refuse']);
  });
});

describe('the turn of an image', () => {
  it.each<[string, () => Promise<string>]>([
    ['is done', async () => 'done'],
    ['fails', () => Promise.reject(new Error('no image'))],
  ])('is given back when its work %s', async (_name, work) => {
    const { worker, told } = newWorker('peer', 1, 2, { beginImage: 5 });
    const images = worker.folder.budgetPart?.images;
    const ended = images?.run(1, work).catch(() => 'failed');
    await expect.poll(() => told).toEqual(['endImage 5']);
    expect(['done', 'failed']).toContain(await ended);
    expect(images?.working.most).toBe(0);
  });

  it('that never comes refuses the image, and nothing is given back', async () => {
    const { worker, told } = newWorker('peer');
    const images = worker.folder.budgetPart?.images;
    await expect(images?.run(1, async () => 'done')).rejects.toMatchObject({ budget: 'images' });
    expect(told).toEqual([]);
  });
});

describe('the limits of a server', () => {
  const partOf = (role: Role, rateLimit = 100) => newWorker(role, 2, 4).worker.appOptions({ rateLimit }, {});

  it('a peer has its part of the failed sign-ins; the writer counts all of them, also those of readers', () => {
    expect((['peer', 'writer', 'reader'] as const).map((role) => partOf(role).attempts)).toEqual([0.25, 1, 1]);
  });

  it('a reader takes the rate from the writer, where there is one, and hands over what it does not answer', () => {
    const shares = ({ limit, handOver }: ReturnType<typeof partOf>) => [limit !== undefined, handOver !== undefined];
    expect((['peer', 'writer', 'reader'] as const).map((role) => shares(partOf(role)))).toEqual([
      [false, false],
      [false, false],
      [true, true],
    ]);
    expect(shares(partOf('reader', 0))).toEqual([false, true]);
  });

  it('only peers take turns of images from the supervisor, since of the others one works on them', () => {
    const roles = ['peer', 'writer', 'reader'] as const;
    const hasTurns = roles.map((role) => newWorker(role).worker.folder.budgetPart?.images !== undefined);
    expect(hasTurns).toEqual([true, false, false]);
  });
});

it.each([2, 3, 8])('%i processes have one budget of answers together, and one of them tells of the store', (count) => {
  const rolesOf = (kind: 'peers' | 'readers') =>
    Array.from({ length: count }, (_, at): Role => (kind === 'peers' ? 'peer' : at === 0 ? 'writer' : 'reader'));
  for (const kind of ['peers', 'readers'] as const) {
    const parts = rolesOf(kind).map((role, at) => newWorker(role, at + 1, count).worker.folder.budgetPart);
    expect(parts.reduce((sum, part) => sum + (part?.answers ?? 0), 0)).toBeCloseTo(1, 10);
    expect(parts.filter((part) => part?.tellsStore)).toHaveLength(1);
    // The writer answers what is too large for a reader.
    const [first = 0, second = 0] = parts.map((part) => part?.answers);
    expect(kind === 'peers' ? first === second : first > second).toBe(true);
  }
});
