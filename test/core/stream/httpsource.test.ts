import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Failure, localFailure } from '../../../src/core/failure.ts';
import { HttpSource, type HttpStreamOptions } from '../../../src/core/stream/httpsource.ts';
import { ConnectionLost, type StreamItem } from '../../../src/core/stream/source.ts';
import { ApiFailure } from '../../../src/core/transport/apifailure.ts';
import type { ClientOptions } from '../../../src/core/transport/client.ts';
import { ConnectionFailure } from '../../../src/core/transport/send.ts';
import { answer, broken, clientOf, problem, Script, type Step } from '../transport/script.ts';
import { eventOf, messageOf, streamAnswer } from './messages.ts';

const never = new AbortController().signal;

function sourceOf(script: Script, question: Partial<HttpStreamOptions> = {}, options: Partial<ClientOptions> = {}) {
  return new HttpSource(clientOf(script, options), { keys: [], after: undefined, now: () => 0, ...question });
}

/** What one connection gives, in short: `12` for a message, which is handled at once, `~40` for a sign of life. */
async function connect(source: HttpSource, signal = never): Promise<string[]> {
  const seen: string[] = [];
  for await (const item of source.connect(signal)) {
    seen.push(shortly(item));
    if (item.kind === 'message') item.handled();
  }
  return seen;
}

function shortly(item: StreamItem): string {
  if (item.kind === 'opened') return `from ${item.position}`;
  return item.kind === 'seen' ? `~${item.position}` : String(item.message.id);
}

async function thrownBy(step: Step): Promise<unknown> {
  return connect(sourceOf(new Script(step))).catch((cause: unknown) => cause);
}

describe('a connection to the stream', () => {
  it('asks for the keys as events, and begins where it is told', async () => {
    const script = new Script(streamAnswer([eventOf(messageOf(8))]));
    const keys = ['*.*.PatientV1.*', 'org-1.#'];
    expect(await connect(sourceOf(script, { keys, after: '7' }))).toEqual(['from 0a1b2c3d-40', '8']);
    const [request] = script.requests;
    expect(request?.url).toBe('https://api.example.com/api/v1/stream?routingKey=*.*.PatientV1.*&routingKey=org-1.%23');
    expect(request?.headers).toMatchObject({
      accept: 'text/event-stream',
      'cache-control': 'no-cache',
      'last-event-id': '7',
      authorization: 'Bearer secret',
      'organization-id': 'org-1',
    });
  });

  it.each<[string, string | undefined, string | undefined, string | undefined]>([
    ['what the server told', undefined, '0a1b2c3d-40', '0a1b2c3d-40'],
    ['now where that is nothing', undefined, undefined, undefined],
    ['now where that is no position', undefined, 'no position', undefined],
    // A resync on the way from one to the other may have been lost.
    ['its own position, not that of the server', '0a1b2c3d-7', '0a1b2c3d-40', '0a1b2c3d-7'],
  ])('that brought no message goes on from %s', async (_name, after, told, again) => {
    const placed = () => streamAnswer([], { headers: { 'x-stream-position': told as string } });
    const script = new Script(placed(), placed());
    const source = sourceOf(script, { after });
    expect(await connect(source)).toEqual([`from ${told === 'no position' ? undefined : told}`]);
    await connect(source);
    expect(script.requests.map(({ headers }) => headers['last-event-id'])).toEqual([after, again]);
    expect(script.requests[0]?.url).toBe('https://api.example.com/api/v1/stream');
  });

  it('goes on behind the last message that was handled', async () => {
    const pieces = [eventOf(messageOf(41)), eventOf(messageOf(42))];
    const script = new Script(streamAnswer(pieces), streamAnswer(pieces.slice(1)));
    const source = sourceOf(script);
    for await (const item of source.connect(never)) {
      if (item.kind !== 'message') continue;
      if (item.message.id === 42) break;
      item.handled();
    }
    expect(await connect(source)).toEqual(['from 0a1b2c3d-40', '42']);
    expect(script.requests[1]?.headers['last-event-id']).toBe('0a1b2c3d-41');
  });

  it('goes on behind a heartbeat', async () => {
    const script = new Script(streamAnswer([': heartbeat ffffffff-57\n\n']), streamAnswer([]));
    const source = sourceOf(script);
    expect(await connect(source)).toEqual(['from 0a1b2c3d-40', '~ffffffff-57']);
    await connect(source);
    expect(script.requests[1]?.headers['last-event-id']).toBe('ffffffff-57');
  });

  it('takes a heartbeat without a position as a sign of life, other comments as none', async () => {
    const pieces = [
      ': from 40\nretry: 1000\n\n',
      ': heartbeat\n\n',
      ':\n\n',
      ': heartbeat 3\n\n',
      ...[': a heartbeat\n\n', ': heartbeat 3 4\n\n', ': heartbeats\n\n', ': heartbeat  5\n\n', ': heartbeat !\n\n'],
      ': the token expired\n\n',
    ];
    expect(await connect(sourceOf(new Script(streamAnswer(pieces))))).toEqual([
      'from 0a1b2c3d-40',
      '~0a1b2c3d-40',
      '~0a1b2c3d-40',
      '~3',
      // It says nothing that could be a position.
      '~3',
    ]);
  });

  it('reads over what it does not know', async () => {
    const pieces = ['retry: soon\n\n', 'odd: field\n\n', eventOf(messageOf(1)).replace('id: ', 'id: no ')];
    const items: StreamItem[] = [];
    for await (const item of sourceOf(new Script(streamAnswer(pieces))).connect(never)) items.push(item);
    // Without a position that could be one, the number of the message is taken.
    expect(items.slice(1)).toMatchObject([{ kind: 'message', position: '1' }]);
  });

  it('ends for good on an event that would fill the memory', async () => {
    const endless = Array.from({ length: 65 }, () => 'x'.repeat(1024 * 1024));
    expect(await thrownBy(streamAnswer(['data: ', ...endless]))).toMatchObject({
      code: 'response.malformed',
      message: 'The stream holds an event that is too long.',
    });
  });

  it.each<[string, Failure, boolean]>([
    ['cannot be reached', localFailure('network.unreachable', 'Away.'), true],
    ['is busy', new ApiFailure(503, [], null), true],
    ['refuses', new ApiFailure(401, [], null), false],
    ['makes no sense', localFailure('response.malformed', 'What?'), false],
  ])('is tried again by whether who gives the token %s', async (_name, failure, isTemporary) => {
    const token = { token: () => Promise.reject(failure), renew: () => false };
    const thrown = await connect(sourceOf(new Script(), {}, { token })).catch((cause: unknown) => cause);
    expect(thrown instanceof ConnectionLost).toBe(isTemporary);
    expect(isTemporary ? thrown : { failure: thrown }).toMatchObject({ failure: { message: failure.message } });
  });

  it('drops what it has had, but not a resync to an earlier place', async () => {
    const resync = messageOf(30, {
      operation: 'resync',
      domainType: '*',
      payload: { requested: 41, resumedAfter: 30 },
    });
    const pieces = [41, 41, 40, 42].map((id) => eventOf(messageOf(id)));
    const script = new Script(streamAnswer([...pieces, eventOf(resync), eventOf(messageOf(31))]));
    expect(await connect(sourceOf(script))).toEqual(['from 0a1b2c3d-40', '41', '42', '30', '31']);
  });

  it('drops the message behind which it was to begin', async () => {
    const events = [41, 42].map((id) => eventOf(messageOf(id)));
    const source = sourceOf(new Script(streamAnswer(events)), { after: '41' });
    expect(await connect(source)).toEqual(['from 0a1b2c3d-40', '42']);
  });

  it('lets go of the connection when nobody takes more of it', async () => {
    const script = new Script(streamAnswer([eventOf(messageOf(41))], { hangs: true }));
    for await (const item of sourceOf(script).connect(never)) if (item.kind === 'message') break;
    expect(script.requests[0]?.signal?.aborted).toBe(true);
  });

  it('drops an event that was cut off', async () => {
    const cut = eventOf(messageOf(42)).trimEnd();
    expect(await connect(sourceOf(new Script(streamAnswer([eventOf(messageOf(41)), cut]))))).toEqual([
      'from 0a1b2c3d-40',
      '41',
    ]);
  });

  it('reads the same however the bytes are cut', async () => {
    const messages = [41, 42, 43].map((id) => messageOf(id, { payload: { id, lastName: 'Ågren ✓ "x"' } }));
    const bytes = Buffer.from(`: from 40\n\n${messages.map(eventOf).join(': heartbeat 41\n\n')}`);
    await fc.assert(
      fc.asyncProperty(fc.array(fc.nat(bytes.length), { maxLength: 8 }), async (cuts) => {
        const places = [0, ...cuts.toSorted((a, b) => a - b), bytes.length];
        const pieces = places.slice(1).map((place, at) => bytes.subarray(places[at], place));
        const texts: string[] = [];
        for await (const item of sourceOf(new Script(streamAnswer(pieces))).connect(never)) {
          if (item.kind !== 'message') continue;
          texts.push(item.text);
          item.handled();
        }
        expect(texts).toEqual(messages.map((message) => JSON.stringify(message)));
      }),
    );
  });

  it('renews a token that can be renewed, once', async () => {
    const tokens = ['old', 'new'];
    const token = { token: () => Promise.resolve(tokens[0] ?? ''), renew: () => tokens.shift() !== undefined };
    const script = new Script(problem(401, 'auth.token_expired', null, 'Expired.'), streamAnswer([]));
    expect(await connect(sourceOf(script, {}, { token }))).toEqual(['from 0a1b2c3d-40']);
    expect(script.requests.map(({ headers }) => headers.authorization)).toEqual(['Bearer old', 'Bearer new']);
  });

  it.each([
    [401, 'auth.token_unknown', 3],
    [403, 'auth.scope_missing', 3],
    [400, 'stream.position', 5],
    [404, 'route.unknown', 4],
  ])('ends for good on %i', async (status, code, exitCode) => {
    const thrown = await thrownBy(problem(status, code, null, 'No.'));
    expect(thrown).toBeInstanceOf(Failure);
    expect(thrown).toMatchObject({ code, exitCode, status, requestId: 'req-1' });
    expect(String(thrown).includes('There is no stream at GET /api/v1/stream')).toBe(status === 404);
  });

  it.each([
    [408, {}, undefined],
    [429, { 'retry-after': '7' }, 7000],
    [500, {}, undefined],
    [503, { 'retry-after': '2' }, 2000],
    // By the clock that it is given, where the server tells none.
    [503, { 'retry-after': 'Thu, 01 Jan 1970 00:00:09 GMT' }, 9000],
  ])('may be tried again on %i', async (status, headers, retryAfter) => {
    const thrown = await thrownBy(answer(status, 'busy', headers as Record<string, string>));
    expect(thrown).toBeInstanceOf(ConnectionLost);
    expect(thrown).toMatchObject({ retryAfter, failure: { status } });
  });

  it('says what the server says, wherever its bytes are cut', async () => {
    for (const text of ['é'.repeat(200), `x${'é'.repeat(200)}`]) {
      expect(String(await thrownBy(problem(400, 'stream.position', null, text)))).toContain(text);
    }
  });

  it('is not tried again on what is no failure of the connection', async () => {
    const thrown = await connect(sourceOf(new Script())).catch((cause: unknown) => cause);
    expect(thrown).not.toBeInstanceOf(ConnectionLost);
    expect(String(thrown)).toContain('Unexpected request 1');
  });

  it('may be tried again when the connection fails, before or while it stands', async () => {
    expect(await thrownBy(broken(false))).toBeInstanceOf(ConnectionLost);
    const cut = streamAnswer([]);
    const body = (async function* () {
      yield Buffer.from(eventOf(messageOf(41)));
      throw new Error('other side closed');
    })();
    expect(await thrownBy({ ...cut, body })).toMatchObject({
      name: 'ConnectionLost',
      message: 'The connection was lost.',
    });
  });

  it.each<[string, Step, string]>([
    [
      'a certificate that is not trusted',
      new ConnectionFailure('No.', { sent: false, cause: Object.assign(new Error(), { code: 'CERT_HAS_EXPIRED' }) }),
      'network.certificate',
    ],
    ['a redirect', answer(302, '', { location: 'https://example.org/x' }), 'response.redirect'],
    ['a choice', answer(300, ''), 'response.redirect'],
    ['a page', answer(200, '', { 'content-type': 'text/html' }), 'response.malformed'],
    ['what says no type', answer(200, ''), 'response.malformed'],
    ['no content', answer(204, ''), 'response.malformed'],
  ])('ends for good on %s', async (_name, step, code) => {
    const requestId = step instanceof ConnectionFailure ? null : 'req-1';
    expect(await thrownBy(step)).toMatchObject({ name: 'Failure', code, exitCode: 8, requestId });
  });

  it('ends for good on an event that is no message', async () => {
    expect(await thrownBy(streamAnswer(['data: {"id":1}\n\n']))).toMatchObject({
      code: 'response.malformed',
      exitCode: 8,
    });
  });

  it('ends with the reason of the signal, also while it waits', async () => {
    const stop = new AbortController();
    const script = new Script(streamAnswer([eventOf(messageOf(41))], { hangs: true }));
    const run = async () => {
      for await (const item of sourceOf(script).connect(stop.signal)) {
        if (item.kind === 'message') setImmediate(() => stop.abort(new Error('stopped')));
      }
    };
    await expect(run()).rejects.toThrow('stopped');
  });
});
