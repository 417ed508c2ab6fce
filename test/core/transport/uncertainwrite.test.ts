import { describe, expect, it } from 'vitest';
import { LOCAL_FAILURES, localFailure } from '../../../src/core/failure.ts';
import { ApiFailure } from '../../../src/core/transport/apifailure.ts';
import type { ApiRequest } from '../../../src/core/transport/client.ts';
import { DEFAULT_RETRY } from '../../../src/core/transport/retry.ts';
import type { PostAttempt } from '../../../src/core/transport/uncertainwrite.ts';
import { answer, broken, clientOf, failureOf, problem, Script, SleepLog, type Step, success } from './script.ts';

const CREATE: ApiRequest = { method: 'POST', path: '/api/v1/patients', body: { firstName: 'Ann' } };

describe('a POST of unknown outcome', () => {
  const failed = () => problem(500, 'server.unexpected', null, 'Unexpected.');
  const ENDS: [string, () => Step][] = [
    ['no answer', () => broken(true)],
    ['half an answer', () => answer(201, '{"data"', { 'content-length': '99' })],
    ['a page of HTML', () => answer(200, '<html>')],
    ['a timeout', () => problem(408, 'request.timeout', null, 'Too long.')],
    ['a failure of the API', failed],
    ['a gateway error', () => answer(502, '<html>')],
    ['a server that is not ready', () => problem(503, 'server.unavailable', null, 'Not ready.')],
    ['a gateway that waited too long', () => answer(504, '')],
  ];
  const NO_RECORD: [string, () => Step] = ['an answer without a record', () => success(null)];
  /** Looks that find, one after the other; nothing after the last. */
  const lookingUp = (found: readonly unknown[]) => {
    const left = [...found];
    return { ...CREATE, lookUp: async () => left.shift() };
  };
  const posts = (script: Script) => script.requests.filter(({ method }) => method === 'POST').length;

  it.each(ENDS)('fails without a look-up after %s, and is not sent again', async (_name, end) => {
    const script = new Script(end());
    const failure = await failureOf(clientOf(script).request(CREATE));
    expect(failure).toMatchObject({ code: 'network.outcome_unknown', exitCode: 8 });
    expect(failure.message).toContain('It may have been done.');
    expect(failure.requestId).not.toBeNull();
  });

  it('says what came of it', async () => {
    const failure = await failureOf(clientOf(new Script(failed())).request(CREATE));
    expect(failure.message).toBe('The server failed (HTTP 500): Unexpected. It may have been done.');
    expect(failure.cause).toBeInstanceOf(ApiFailure);
  });

  it.each([...ENDS, NO_RECORD])('is taken as done after %s when it is found', async (_name, end) => {
    const script = new Script(end());
    expect(await clientOf(script).request(lookingUp([{ id: 7 }]))).toMatchObject({ status: 200, data: { id: 7 } });
    expect(posts(script)).toBe(1);
  });

  it.each(ENDS)('is taken as done after %s when it is found only after the wait', async (_name, end) => {
    const script = new Script(end());
    const clock = new SleepLog();
    const { data } = await clientOf(script, { clock, random: () => 0 }).request(lookingUp([undefined, { id: 7 }]));
    expect(data).toEqual({ id: 7 });
    expect(posts(script)).toBe(1);
    expect(clock.sleeps).toEqual([1000]);
  });

  it.each([...ENDS, NO_RECORD])('is sent again after %s with the same key when it is not found', async (_name, end) => {
    const script = new Script(end(), success({ id: 8 }));
    let looked = 0;
    const lookUp = async () => void looked++;
    expect((await clientOf(script).request({ ...CREATE, lookUp })).data).toEqual({ id: 8 });
    expect(looked).toBe(2);
    expect(script.requests.map(({ headers }) => headers['idempotency-key'])).toEqual(['id-1', 'id-1']);
  });

  it('is looked up before each further attempt, whatever the last one came to', async () => {
    const script = new Script(broken(true), answer(429, ''));
    expect((await clientOf(script).request(lookingUp([undefined, undefined, { id: 7 }]))).data).toEqual({ id: 7 });
    expect(posts(script)).toBe(2);
  });

  it('is taken as done when a second one is refused because of the first', async () => {
    const script = new Script(broken(true), problem(400, 'field.duplicate', 'tagText', 'It is there.'));
    expect((await clientOf(script).request(lookingUp([undefined, undefined, { id: 7 }]))).data).toEqual({ id: 7 });
  });

  it('is refused when the second one is, and nothing is there', async () => {
    const script = new Script(broken(true), problem(400, 'field.length', 'title', 'Too long.'));
    expect(await failureOf(clientOf(script).request(lookingUp([])))).toMatchObject({ status: 400, exitCode: 5 });
  });

  it.each([
    ['at once', [{ id: 7 }], []],
    ['after a moment', [undefined, { id: 7 }], [1000]],
  ])('is looked up after the last attempt, too: found %s', async (_name, found, sleeps) => {
    const script = new Script(broken(true));
    const [clock, retry] = [new SleepLog(), { ...DEFAULT_RETRY, maxRetries: 0 }];
    const onRetry = () => expect.unreachable('There is no other attempt.');
    expect((await clientOf(script, { clock, retry, onRetry }).request(lookingUp(found))).data).toEqual({ id: 7 });
    expect(clock.sleeps).toEqual(sleeps);
  });

  it.each([
    ['a failure of the API', failed, { code: 'server.unexpected', status: 500, exitCode: 8 }],
    [...NO_RECORD, { code: 'response.malformed', requestId: 'req-1', exitCode: 8 }],
  ])('fails as the last attempt did when nothing is there after %s', async (_name, end, expected) => {
    const retry = { ...DEFAULT_RETRY, maxRetries: 0 };
    const failure = await failureOf(clientOf(new Script(end()), { retry }).request(lookingUp([])));
    expect(failure).toMatchObject(expected);
  });

  it('is not tried again where that is no use, but looked up', async () => {
    const script = new Script(answer(501, ''), answer(501, ''));
    expect((await clientOf(script).request(lookingUp([{ id: 7 }]))).data).toEqual({ id: 7 });
    expect(await failureOf(clientOf(script).request(lookingUp([])))).toMatchObject({ status: 501 });
  });

  it('stays unknown when the look-up fails, and says why', async () => {
    const script = new Script(broken(true));
    const lookUp = async () => {
      throw new ApiFailure(403, [], 'req-2');
    };
    const failure = await failureOf(clientOf(script).request({ ...CREATE, lookUp }));
    expect(failure).toMatchObject({ code: 'network.outcome_unknown', exitCode: 8, requestId: 'id-2' });
    expect(failure.message).toContain('Looking it up failed: Not allowed (HTTP 403).');
    expect(posts(script)).toBe(1);
  });

  it.each([
    ['its own next step, which names what to compare', 'network.outcome_unknown', 'Compare it.'],
    ['the usual one', 'local.file', LOCAL_FAILURES['network.outcome_unknown'].next],
  ] as const)('gives, when the look-up fails, %s', async (_name, code, hint) => {
    const lookUp = () => Promise.reject(localFailure(code, 'Patient 7 may be it.', { hint: 'Compare it.' }));
    const failure = await failureOf(clientOf(new Script(broken(true))).request({ ...CREATE, lookUp }));
    expect(failure).toMatchObject({ code: 'network.outcome_unknown', hint });
  });

  it('is looked up once the pause is over that a server asks for', async () => {
    const clock = new SleepLog();
    const script = new Script(answer(503, '', { 'retry-after': '9' }), success({ id: 8 }));
    const looks: number[] = [];
    const lookUp = async () => void looks.push(clock.sleeps.length);
    await clientOf(script, { clock }).request({ ...CREATE, lookUp });
    expect(clock.sleeps[0]).toBe(9000);
    expect(looks).toEqual([1]);
  });

  it('knows how much time has passed since it was sent', async () => {
    const clock = new SleepLog();
    const script = new Script(broken(true), success({ id: 8 }));
    const elapsed: number[] = [];
    const lookUp = async (posted: PostAttempt) => void elapsed.push(posted.elapsed());
    await clientOf(script, { clock }).request({ ...CREATE, lookUp });
    expect(elapsed).toEqual([0, 1000]);
  });

  const failing = new ApiFailure(500, [], 'req-2');

  it.each<[string, () => Promise<void>]>([
    ['comes to nothing', async () => undefined],
    ['fails', () => Promise.reject(failing)],
  ])('has succeeded once a further attempt has, though the look back %s', async (_name, look) => {
    const script = new Script(broken(true), success({ id: 8 }));
    const elapsed: number[] = [];
    const checkDuplicates = (posted: PostAttempt) => {
      elapsed.push(posted.elapsed());
      return look();
    };
    expect((await clientOf(script).request({ ...lookingUp([]), checkDuplicates })).data).toEqual({ id: 8 });
    expect(elapsed).toEqual([1000]);
  });

  it('has succeeded though the signal comes during the look back', async () => {
    const stop = new AbortController();
    const checkDuplicates = async () => {
      stop.abort(new Error('stopped'));
      throw stop.signal.reason;
    };
    const request = { ...lookingUp([]), checkDuplicates, signal: stop.signal };
    expect((await clientOf(new Script(broken(true), success({ id: 8 }))).request(request)).data).toEqual({ id: 8 });
  });

  it.each<[string, Step[]]>([
    ['an attempt that was none', [broken(false)]],
    ['a refusal by rate', [answer(429, '')]],
  ])('is neither looked up nor looked back at after %s', async (_name, steps) => {
    const lookUp = () => Promise.reject(new Error('Not in doubt.'));
    const script = new Script(...steps, success({ id: 8 }));
    const request = { ...CREATE, lookUp, checkDuplicates: lookUp };
    expect((await clientOf(script).request(request)).data).toEqual({ id: 8 });
  });

  it('tells a fault of ours in the look back', async () => {
    const checkDuplicates = () => Promise.reject(new TypeError('odd'));
    const script = new Script(broken(true), success({ id: 8 }));
    await expect(clientOf(script).request({ ...lookingUp([]), checkDuplicates })).rejects.toThrow('odd');
  });

  it.each([new Error('stopped'), localFailure('run.overtime', 'Too late.')])(
    'ends with the signal while it is looked up: %s',
    async (reason) => {
      const stop = new AbortController();
      const lookUp = async () => {
        stop.abort(reason);
        throw reason;
      };
      const request = { ...CREATE, lookUp, signal: stop.signal };
      await expect(clientOf(new Script(broken(true))).request(request)).rejects.toBe(reason);
    },
  );
});
