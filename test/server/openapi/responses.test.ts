import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { beforeAll, describe, expect, it } from 'vitest';
import { callSample, operations } from '../../contract/operations.ts';
import type { Called } from '../../support/calls.ts';
import { sharedService, testService } from '../../support/service.ts';
import { type Described, servedDocument } from './served.ts';

const service = sharedService();
let document: Described;
let check: Ajv2020;
/** By the text of the schema: many responses share one, and to compile it takes longer than all else. */
const validators = new Map<string, ValidateFunction>();

beforeAll(async () => {
  document = await servedDocument(service);
  check = new Ajv2020({ strict: false, allErrors: true });
  addFormats.default(check);
  check.addSchema({ $id: 'openapi', components: document.components });
});

/** How a response differs from the document: its status, its form, or a key that the document does not have. */
function differences(path: string, method: string, called: Called): string[] {
  const responses = document.paths[`/api/v1${path}`]?.[method.toLowerCase()]?.responses;
  const response = responses?.[String(called.status)] as
    | { $ref?: string; content?: Record<string, { schema: object }> }
    | undefined;
  if (response === undefined) return [`status ${called.status} is not described: ${called.text}`];
  const schema = response.$ref
    ? { $ref: `openapi${response.$ref}/content/application~1json/schema` }
    : response.content?.['application/json']?.schema;
  const name = JSON.stringify(schema ?? false);
  const validate = validators.get(name) ?? check.compile(absolute(schema ?? false) as object);
  validators.set(name, validate);
  if (validate(called.body)) return [];
  return (validate.errors ?? []).map((error) => `${error.instancePath} ${error.message}`);
}

/** References of a part of the document as they are from outside. */
function absolute(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(absolute);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, inner]) => [
      name,
      name === '$ref' && String(inner).startsWith('#') ? `openapi${inner}` : absolute(inner),
    ]),
  );
}

/** Fields of records that the document does not know: schemas of responses are open, so validation alone finds none. */
function unknownFields(path: string, method: string, called: Called): string[] {
  const name = `${method} ${path}`;
  const { data } = called.body;
  const records = (Array.isArray(data) ? data : [data]) as Record<string, unknown>[];
  const known = knownFields(path, method);
  return [...new Set(records.flatMap((record) => Object.keys(record)))]
    .filter((field) => !known.includes(field))
    .map((field) => `${name} ${field}`);
}

function knownFields(path: string, method: string): string[] {
  interface Node {
    readonly $ref?: string;
    readonly items?: Node;
    readonly properties?: Readonly<Record<string, Node>>;
  }
  const resolve = (node: Node | undefined): Node | undefined => {
    if (node?.$ref) return resolve(document.components.schemas[node.$ref.split('/').at(-1) ?? ''] as unknown as Node);
    return node?.items ? resolve(node.items) : node;
  };
  const item = document.paths[`/api/v1${path}`]?.[method.toLowerCase()];
  const success = (item?.responses['200'] ?? item?.responses['201']) as unknown as {
    content: Record<string, { schema: Node }>;
  };
  const wrapper = resolve(success.content['application/json']?.schema);
  return Object.keys(resolve(wrapper?.properties?.data)?.properties ?? {});
}

describe.each(operations())('%s', (_id, tested) => {
  const { method, path } = tested.operation;

  it('responds as it is described', async () => {
    const used = method === 'GET' ? service : await testService();
    const called = await callSample(used, tested);
    if (used !== service) await used.close();
    expect(called.status, called.text).toBe(tested.operation.success);
    expect(differences(path, method, called)).toEqual([]);
    expect(unknownFields(path, method, called)).toEqual([]);
  });

  it.each([
    ['without a token', { token: null }, 401],
    ['without an organization', { organization: null }, 400],
    ['with a token of another organization', { token: 'token-other-practice' }, 403],
  ] as const)('refuses a request %s as it is described', async (_what, change, status) => {
    const called = await callSample(service, tested, change);
    expect(called.status).toBe(status);
    expect(differences(path, method, called)).toEqual([]);
  });
});

describe('the comparison', () => {
  const [[, tested]] = operations('list') as [ReturnType<typeof operations>[number]];

  it('finds a value of the wrong type', async () => {
    const called = await callSample(service, tested);
    const [first] = called.body.data as Record<string, unknown>[];
    const body = { ...called.body, data: [{ ...first, id: 'x', extra: 1 }] };
    const { method, path } = tested.operation;
    expect(differences(path, method, { ...called, body })).toEqual(['/data/0/id must be integer']);
    expect(unknownFields(path, method, { ...called, body })).toEqual([`${method} ${path} extra`]);
  });
});
