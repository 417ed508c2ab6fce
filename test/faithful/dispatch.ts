import { STATUS_CODES } from 'node:http';
import type { Outgoing } from './answering.ts';
import type { Call, Reply, Route, World } from './call.ts';
import { dressed } from './dress.ts';
import { TOKEN, type Violation } from './origin.ts';
import { decline, Refusal, refuse } from './refusal.ts';
import { ROUTES } from './routes/routes.ts';

/** A request as it came. */
export interface Sent {
  readonly method: string;
  readonly path: string;
  readonly query: readonly (readonly [string, string])[];
  readonly token: string | undefined;
  readonly organization: string | undefined;
  readonly body: string;
}

const PREFIX = '/api/v1';

/** Does what a request asks and gives the answer; notes what the specification does not list. */
export function dispatch(world: World, sent: Sent, violations: Violation[]): Outgoing {
  try {
    const { route, path } = routeOf(sent);
    admit(world, sent);
    const reply = route.answer({ world, path, query: queryOf(sent, route), body: bodyOf(sent, route) });
    return { status: reply.status ?? 200, body: enveloped(reply, world) };
  } catch (refusal) {
    if (!(refusal instanceof Refusal)) throw refusal;
    if (refusal.violation) violations.push({ method: sent.method, path: sent.path, what: refusal.message });
    return { status: refusal.status, body: problem(refusal, world) };
  }
}

function enveloped({ data, warnings = [], meta }: Reply, { moods }: World) {
  const envelope = { data, warnings, errors: [], ...(meta ? { meta: { pagination: meta } } : {}) };
  const shown = dressed(envelope, moods) as Record<string, unknown>;
  return moods.missingFields && data === null ? { data: null, ...shown } : shown;
}

function problem({ message, status }: Refusal, { moods }: World) {
  const items = {
    descriptions: { description: message },
    messages: { message },
    titles: { title: STATUS_CODES[status] ?? 'Refused' },
  };
  return { data: null, warnings: [], errors: [items[moods.errorItems]] };
}

function routeOf({ method, path }: Sent): { route: Route; path: Call['path'] } {
  const found = ROUTES.map((route) => ({ route, path: placeholders(route.path, path) })).filter(hasPath);
  if (found.length === 0) refuse(`The path ${path} is not listed.`, 404);
  const fewest = Math.min(...found.map(({ path: values }) => Object.keys(values).length));
  const best = found.filter(({ path: values }) => Object.keys(values).length === fewest);
  return best.find(({ route }) => route.method === method) ?? refuse(`${method} ${path} is not listed.`, 405);
}

function hasPath(found: {
  route: Route;
  path: Call['path'] | undefined;
}): found is { route: Route; path: Call['path'] } {
  return found.path !== undefined;
}

/** Values of the placeholders of a pattern in a path, or undefined when the path is another. */
function placeholders(pattern: string, path: string): Call['path'] | undefined {
  const wanted = `${PREFIX}${pattern}`.split('/');
  const parts = path.split('/');
  if (wanted.length !== parts.length) return undefined;
  const values: Record<string, string> = {};
  for (const [index, part] of parts.entries()) {
    const name = /^\{(.*)\}$/.exec(wanted[index] ?? '')?.[1];
    if (name) values[name] = decodeURIComponent(part);
    else if (wanted[index] !== part) return undefined;
  }
  return values;
}

function admit({ practice }: World, { token, organization }: Sent): void {
  if (organization === undefined) refuse('The header Organization-ID is required.');
  if (token !== TOKEN) refuse('A valid Bearer token is required.', 401);
  if (organization !== practice.organization) decline(403, 'There is no access to the organization.');
}

function queryOf({ query }: Sent, route: Route): ReadonlyMap<string, string> {
  const values = new Map<string, string>();
  for (const [name, value] of query) {
    if (!route.query.includes(name)) refuse(`The query parameter ${name} is not listed.`);
    if (values.has(name)) refuse(`The query parameter ${name} was sent twice.`);
    values.set(name, value);
  }
  return values;
}

function bodyOf({ body }: Sent, { method }: Route): unknown {
  if (body === '') return undefined;
  if (method === 'GET' || method === 'DELETE') refuse(`A body is not listed for ${method}.`);
  try {
    return JSON.parse(body);
  } catch {
    return refuse('The body is not JSON.');
  }
}
