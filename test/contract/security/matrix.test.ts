import { beforeAll, describe, expect, it } from 'vitest';
import { allOperations } from '../../../src/catalog/catalog.ts';
import type { Called, CallOptions } from '../../support/calls.ts';
import { allRecords } from '../../support/practice.ts';
import { sharedService } from '../../support/service.ts';
import { credentialLines, credentialsOf } from './credentials.ts';
import { ASKED_FOR, type Credential, type Need, refusalBy } from './oracle.ts';
import { ACCESS, routesOf } from './routes.ts';

const service = sharedService(() => [...allRecords(), ...credentialLines()]);
let credentials: readonly Credential[] = [];
beforeAll(async () => {
  credentials = await credentialsOf(service);
});

/** Wrong in every later step: where identity lets it pass, it is refused there and changes nothing. */
const WRONG = { query: { filter: 'nosuch==1', lastEventId: 'x', recurrenceTarget: 'x' }, body: { nosuch: 1 } };

async function send(route: string, credential: Credential, organization: string | undefined): Promise<Called> {
  const [method = '', url = ''] = route.split(' ');
  const path = url.replace(/:\w+/g, 'no-such-id');
  const options: CallOptions = {
    token: null,
    organization: organization ?? null,
    query: WRONG.query,
    ...((method === 'POST' || method === 'PUT') && { body: WRONG.body }),
    ...(credential.authorization !== undefined && { headers: { authorization: credential.authorization } }),
  };
  return service.call(method, `/${path}`, options);
}

/** Status, code and source, as the oracle writes them; a HEAD has a status only. */
function told(route: string, called: Called): string {
  if (route.startsWith('HEAD ')) return String(called.status);
  return [called.status, ...(called.body.errors ?? []).slice(0, 1).flatMap(({ code, source }) => [code, source])].join(
    ' ',
  );
}

const short = (route: string, answer: string) => (route.startsWith('HEAD ') ? answer.slice(0, 3) : answer);

/** What a route answers to those who may pass, to be told from every refusal of D2. */
type Passed = (answer: string) => boolean;

/** Tries a route with every credential and every organization; gives what was not as D2 wants it. */
async function wrongAt(route: string, need: Need, passed: Passed, tried = credentials): Promise<string[]> {
  const wrong: string[] = [];
  for (const credential of tried) {
    for (const [whose, organization] of ASKED_FOR) {
      const answer = told(route, await send(route, credential, organization));
      const wanted = refusalBy(credential, organization, need);
      const right = wanted === undefined ? passed(answer) : answer === short(route, wanted);
      if (!right) wrong.push(`${credential.name}, for ${whose}: ${answer}, not ${wanted ?? 'a later step'}`);
    }
  }
  return wrong;
}

const isScope = (need: string): need is Need => need.includes(':');
const API = Object.entries(ACCESS).flatMap(([route, need]) => (isScope(need) ? [[route, need] as const] : []));
const rest = (kind: string) => Object.keys(ACCESS).filter((route) => ACCESS[route] === kind);

/** A validation comes before a record (D2): a wrong body or a wrong query is told before a path id that is none. */
function laterStep(route: string): Passed {
  const byId = route.includes('/:id') && !/^(POST|PUT)/.test(route);
  return (answer) =>
    (byId ? /^404 |^404$|^400 query|^400 field.choice recurrenceTarget/ : /^400\b|^404\b/).test(answer);
}

describe('the table of routes', () => {
  it('has a row for every route of the app, and no other', () => {
    const served = routesOf(service.app).filter((route) => !route.startsWith('HEAD '));
    expect(served.toSorted()).toEqual(Object.keys(ACCESS).toSorted());
  });

  it('has HEAD for every GET but the stream, and for nothing else', () => {
    const heads = routesOf(service.app).filter((route) => route.startsWith('HEAD '));
    const gets = Object.keys(ACCESS).filter((route) => route.startsWith('GET ') && !route.endsWith('/stream'));
    expect(heads.toSorted()).toEqual(gets.map((route) => route.replace('GET', 'HEAD')).toSorted());
  });

  it('agrees with the scopes of the catalog', () => {
    const declared = allOperations().map(({ operation }) => [
      `${operation.method} /api/v1${operation.path.replace(/\{\w+\}/, ':id')}`,
      operation.scope,
    ]);
    expect(Object.fromEntries([...declared, ['GET /api/v1/stream', 'model:read']])).toEqual(Object.fromEntries(API));
  });
});

/** Of credentials that are wrong by themselves, one of each kind: what reads them is the same on every route. */
const few = () =>
  credentials.filter(({ name }) =>
    /^no header|Bearer alone|nobody|^an? .*token( with|$)|other organization$/.test(name),
  );

/** A route of each scope is tried with every credential. */
const WHOLE = new Set(
  ['model:read', 'model:write', 'practice:read'].map((scope) => API.find(([, need]) => need === scope)?.[0]),
);

describe.each(API)('%s', (route, need) => {
  it(`is for ${need}, in its own organization, with a token that is good (D2)`, async () => {
    expect(await wrongAt(route, need, laterStep(route), WHOLE.has(route) ? credentials : few())).toEqual([]);
  });
});

/** One that there is not, one that nobody takes, one that lacks a scope, and one that may pass. */
const fewest = () => credentials.filter(({ name }) => /^no header|^a token with (no|all) scope|nobody has/.test(name));

it('credentials and routes that stand for all others are those', () => {
  const names = ['no header', 'a token that nobody has', 'a token with all scopes', 'a token with no scope'];
  expect(fewest().map(({ name }) => name)).toEqual(names);
  const more = few().map(({ name }) => name);
  expect(more).toHaveLength(13);
  expect(more).toEqual(expect.arrayContaining([...names, 'a token of the other organization', 'an expired token']));
  const scopes = API.filter(([route]) => WHOLE.has(route)).map(([, need]) => need);
  expect(new Set(scopes)).toEqual(new Set(API.map(([, need]) => need)));
  expect(scopes).toHaveLength(WHOLE.size);
});

describe.each([...new Set(API.map(([route]) => route.split(' ')[1] ?? ''))])('%s', (path) => {
  const methods = API.filter(([route]) => route.endsWith(` ${path}`)).map(([route]) => route.split(' ')[0] ?? '');

  it('answers HEAD to the same callers as GET', async () => {
    const need = ACCESS[`GET ${path}`] as Need | undefined;
    const head = `HEAD ${path}`;
    const served = need !== undefined && !path.endsWith('/stream');
    const wrong = served
      ? await wrongAt(head, need, laterStep(head), fewest())
      : await wrongAt(head, 'caller', (answer) => answer === '405', fewest());
    expect(wrong).toEqual([]);
  });

  it('tells known callers alone that it does not take a method', async () => {
    const passed: Passed = (answer) => answer.startsWith('405 route.method');
    for (const method of ['OPTIONS', 'PATCH', 'TRACE', 'PROPFIND']) {
      expect(await wrongAt(`${method} ${path}`, 'caller', passed, fewest())).toEqual([]);
      expect(methods).not.toContain(method);
    }
  });
});

describe.each(['GET /api/v1/nosuch', 'POST /api/v1', 'GET /api/v1/patients/5/5', 'DELETE /api/v1/patients/'])(
  '%s',
  (route) => {
    it('is an unknown route to those alone who may know', async () => {
      const [method, path] = route.split(' ');
      const unknown: Passed = (answer) => /^404 r|^405 route.method/.test(answer);
      expect(await wrongAt(`${method} ${path}`, 'caller', unknown)).toEqual([]);
    });
  },
);

describe.each([
  ...rest('open').map((route) => [route, '200'] as const),
  ...rest('signed').map((route) => [route, '403 file.signature signature'] as const),
  ...rest('client').map((route) => [route, '400 auth.grant_type grant_type'] as const),
])('%s', (route, answer) => {
  it(`answers ${answer} whatever token comes with it`, async () => {
    for (const credential of few())
      for (const [whose, organization] of ASKED_FOR.slice(3))
        expect(told(route, await send(route, credential, organization)), `${credential.name}, ${whose}`).toBe(answer);
  });

  it('tells anybody which methods it takes', async () => {
    const [method, path] = route.split(' ');
    for (const other of ['DELETE', 'OPTIONS', 'PATCH', 'TRACE']) {
      const called = await send(`${other} ${path}`, credentials[0] as Credential, undefined);
      expect([called.status, called.headers.allow]).toEqual([405, method]);
    }
  });
});
