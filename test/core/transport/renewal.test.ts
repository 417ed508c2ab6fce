import { describe, expect, it } from 'vitest';
import { clientCredentialToken } from '../../../src/core/connection/clientcredentials.ts';
import { Pacer } from '../../../src/core/transport/pacer.ts';
import { DEFAULT_RETRY } from '../../../src/core/transport/retry.ts';
import type { OutgoingRequest } from '../../../src/core/transport/send.ts';
import { answer, broken, clientOf, problem, Script, SleepLog, success } from './script.ts';

const READ = { method: 'GET', path: '/api/v1/patients' } as const;
const DELETE = { method: 'DELETE', path: '/api/v1/documents/5' } as const;

describe('a token', () => {
  it('that is refused is renewed once', async () => {
    const tokens = ['old', 'new'];
    const token = { token: async () => tokens[0] ?? '', renew: () => tokens.shift() !== undefined };
    const script = new Script(answer(401, ''), success([]));
    await clientOf(script, { token }).request(READ);
    expect(script.requests.map(({ headers }) => headers.authorization)).toEqual(['Bearer old', 'Bearer new']);
  });

  it('that is refused again ends it', async () => {
    const token = { token: async () => 'x', renew: () => true };
    const script = new Script(answer(401, ''), answer(401, ''));
    await expect(clientOf(script, { token }).request(READ)).rejects.toMatchObject({ exitCode: 3 });
    expect(script.left).toBe(0);
  });

  it('is renewed without forgetting that an earlier DELETE may have been done', async () => {
    const token = { token: async () => 'x', renew: () => true };
    const script = new Script(broken(true), answer(401, ''), problem(404, 'record.not_found', 'id', 'Gone.'));
    expect(await clientOf(script, { token }).request(DELETE)).toMatchObject({ status: 404, data: null });
  });
});

/** Gives out token-1, token-2, … and takes only those that have not expired. */
function tokenServer() {
  const grants: number[] = [];
  const seen: (string | undefined)[] = [];
  let valid = 'Bearer token-1';
  const send = async (request: OutgoingRequest) => {
    await new Promise((done) => setImmediate(done));
    if (request.url.includes('/oauth/')) {
      grants.push(grants.length + 1);
      return answer(200, { access_token: `token-${grants.length}`, expires_in: '3600' });
    }
    seen.push(request.headers.authorization);
    return request.headers.authorization === valid ? success([]) : answer(401, '');
  };
  const expire = () => {
    valid = `Bearer token-${grants.length + 1}`;
  };
  return { send, grants, seen, expire };
}

function clientWithCredentials(send: ReturnType<typeof tokenServer>['send']) {
  const clock = new SleepLog();
  const exchange = { send, policy: DEFAULT_RETRY, pacer: new Pacer(clock), clock, random: () => 1, timeout: 1000 };
  const credentials = { clientId: 'me', clientSecret: 'secret', tokenUrl: 'https://api.example.com/oauth/token' };
  return clientOf(new Script(), { clock, send, token: clientCredentialToken(credentials, exchange) });
}

describe('parallel requests', () => {
  it('get one token, and one more when it is refused to all of them', async () => {
    const server = tokenServer();
    const client = clientWithCredentials(server.send);
    await Promise.all(Array.from({ length: 8 }, () => client.request(READ)));
    expect(server.grants).toHaveLength(1);
    server.expire();
    await Promise.all(Array.from({ length: 8 }, () => client.request(READ)));
    expect(server.grants).toHaveLength(2);
    expect(server.seen.filter((header) => header === 'Bearer token-2')).toHaveLength(8);
  });

  it('get their token although the one that asked for it gives up', async () => {
    const server = tokenServer();
    const client = clientWithCredentials(server.send);
    const stop = new AbortController();
    const first = client.request({ ...READ, signal: stop.signal });
    const second = client.request(READ);
    stop.abort(new Error('stopped'));
    await expect(first).rejects.toThrow('stopped');
    expect((await second).data).toEqual([]);
    expect(server.grants).toHaveLength(1);
  });
});
