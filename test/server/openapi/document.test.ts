import spectral, { type RulesetDefinition } from '@stoplight/spectral-core';
import rulesets from '@stoplight/spectral-rulesets';
import { describe, expect, it } from 'vitest';
import { allOperations, RESOURCES } from '../../../src/catalog/catalog.ts';
import { FAILURES } from '../../../src/catalog/failures.ts';
import { sharedService } from '../../support/service.ts';
import { type Described, type DescribedSchema, describedRoutes, servedDocument, servedRoutes } from './served.ts';

const service = sharedService();
const load = () => servedDocument(service);

const operationAt = (document: Described, method: string, path: string) => {
  const operation = document.paths[path]?.[method];
  if (operation === undefined) throw new Error(`No ${method} ${path}`);
  return operation;
};

const schema = (document: Described, name: string): DescribedSchema => {
  const found = document.components.schemas[name];
  if (found === undefined) throw new Error(`No schema ${name}`);
  return found;
};

/** The linter takes seconds for the whole document, more on a busy machine. */
const LINT_MS = 120_000;

const linter = new spectral.Spectral();
linter.setRuleset({ extends: [[rulesets.oas as unknown as RulesetDefinition, 'recommended']] });

/** What the default rules of Spectral find, warnings included. */
async function findings(text: string): Promise<string[]> {
  const results = await linter.run(text);
  return results.map(({ code, path, message }) => `${code} ${path.join('.')}: ${message}`);
}

describe('GET /openapi.json', () => {
  it('needs no token', async () => {
    const response = await service.app.inject('/openapi.json');
    expect(response.statusCode).toBe(200);
    expect(response.headers['content-type']).toBe('application/json; charset=utf-8');
    expect(response.json()).toMatchObject({ openapi: '3.1.0' });
  });

  it(
    'passes the default rules of Spectral without error or warning',
    async () => {
      expect(await findings((await service.app.inject('/openapi.json')).body)).toEqual([]);
    },
    LINT_MS,
  );

  it('fails those rules where something is missing', async () => {
    const { openapi, paths } = await load();
    const found = await findings(JSON.stringify({ openapi, info: {}, paths: { '/healthz': paths['/healthz'] } }));
    expect(found).toContain(
      'operation-tag-defined paths./healthz.get.tags.0: Operation tags must be defined in global tags.',
    );
  });

  it('describes every route that is served, and no other', async () => {
    const served = servedRoutes(service.app);
    expect(served).toEqual(
      expect.arrayContaining(['GET /api/v1/patients/{}', 'POST /api/v1/patients/{}/billingtypes']),
    );
    expect(describedRoutes(await load())).toEqual(served);
  });

  it('names operations, one tag for each resource', async () => {
    const document = await load();
    const all = Object.values(document.paths).flatMap((item) => Object.values(item));
    const ids = all.map(({ operationId }) => operationId);
    expect(ids.filter((id) => !/^[a-z][A-Za-z]+$/.test(id))).toEqual([]);
    expect(new Set(ids).size).toBe(ids.length);
    expect(ids).toEqual(expect.arrayContaining(['patientsList', 'patientsBillingtypesSet', 'documentsCreate']));
    expect(document.tags.map(({ name }) => name)).toEqual([
      ...RESOURCES.map(({ name }) => name),
      ...['authentication', 'stream', 'files', 'service'],
    ]);
  });

  it('asks for the scope of each operation, by token or by client credentials', async () => {
    const document = await load();
    for (const { operation } of allOperations()) {
      const described = operationAt(document, operation.method.toLowerCase(), `/api/v1${operation.path}`);
      expect(described.security, operation.id).toEqual([{ bearer: [] }, { clientCredentials: [operation.scope] }]);
    }
    expect(document.components.securitySchemes).toMatchObject({
      bearer: { type: 'http', scheme: 'bearer' },
      clientCredentials: {
        type: 'oauth2',
        flows: {
          clientCredentials: {
            tokenUrl: '/oauth/client_credential/accesstoken?grant_type=client_credentials',
            scopes: {
              'model:read': expect.any(String),
              'model:write': expect.any(String),
              'practice:read': expect.any(String),
            },
          },
        },
      },
    });
    for (const path of ['/healthz', '/readyz', '/metrics', '/openapi.json', '/docs']) {
      expect(operationAt(document, 'get', path).security).toEqual([]);
    }
  });
});

describe('parameters', () => {
  const names = async (method: string, path: string) =>
    (operationAt(await load(), method, path).parameters ?? []).map(
      (parameter) => parameter.name ?? parameter.$ref?.split('/').at(-1),
    );

  it.each([
    [
      'get',
      '/api/v1/patients',
      ['filter', 'responseFields', 'pageSize', 'page', 'LastId', 'OrganizationId', 'RequestId'],
    ],
    ['get', '/api/v1/patients/{patientId}', ['patientId', 'responseFields', 'OrganizationId', 'RequestId']],
    ['get', '/api/v1/patients/totalcount', ['filter', 'OrganizationId', 'RequestId']],
    ['post', '/api/v1/patients', ['OrganizationId', 'IdempotencyKey', 'RequestId']],
    [
      'get',
      '/api/v1/appointmenthistories',
      ['filter', 'responseFields', 'pageSize', 'page', 'OrganizationId', 'RequestId'],
    ],
    [
      'put',
      '/api/v1/events/{eventId}',
      ['eventId', 'responseFields', 'recurrenceTarget', 'OrganizationId', 'RequestId'],
    ],
  ])('of %s %s', async (method, path, expected) => {
    expect(await names(method, path)).toEqual(expected);
  });

  it('list the filter keys with their operators', async () => {
    const { parameters = [] } = operationAt(await load(), 'get', '/api/v1/patients');
    const filter = parameters.find(({ name }) => name === 'filter');
    expect(filter?.required).toBeUndefined();
    expect(filter?.description).toContain('| lastName | == != ~= <>= | text | Last name |');
    expect(filter?.description).toContain('| chartNumber | == .absent .present |');
  });

  it('say what is required, deprecated and how large a page may be', async () => {
    const document = await load();
    const of = (path: string, name: string) =>
      operationAt(document, 'get', path).parameters?.find((parameter) => parameter.name === name);
    expect(of('/api/v1/transactions', 'filter')?.required).toBe(true);
    expect(of('/api/v1/patients/calculated', 'responseFields')?.required).toBe(true);
    expect(of('/api/v1/patients', 'page')?.deprecated).toBe(true);
    expect(of('/api/v1/transactions', 'page')?.deprecated).toBeUndefined();
    expect(of('/api/v1/patients', 'pageSize')?.schema).toEqual({
      type: 'integer',
      minimum: 1,
      maximum: 500,
      default: 100,
    });
    expect(of('/api/v1/patients/async', 'pageSize')?.schema).toEqual({ type: 'integer', minimum: 1, default: 10 });
  });

  it('list the fields that can be chosen', async () => {
    const { parameters = [] } = operationAt(await load(), 'get', '/api/v1/transactiontags');
    expect(parameters.find(({ name }) => name === 'responseFields')?.schema).toEqual({
      type: 'array',
      items: { type: 'string', enum: ['ALL', 'id', 'tagText', 'isPredefined', 'tagType'] },
    });
  });
});

describe('bodies', () => {
  it('of a creation have what can be written, and ask for what is required', async () => {
    const body = schema(await load(), 'TransactionTagCreateV1');
    expect(body).toEqual({
      type: 'object',
      properties: {
        tagText: { type: 'string', minLength: 1, maxLength: 30, description: expect.any(String) },
        isPredefined: { type: 'boolean', description: expect.any(String) },
        tagType: { type: 'string', enum: ['PAYMENT_TAG', 'ADJUSTMENT_TAG'], description: expect.any(String) },
      },
      required: ['tagText', 'isPredefined', 'tagType'],
      additionalProperties: false,
    });
  });

  it('of a new patient require what the specification does', async () => {
    const body = schema(await load(), 'PatientCreateV1');
    // Specification, Patient: "Create requires …".
    const required =
      'firstName lastName contactMethod languageType patientStatus gender dateOfBirth preferredLocation address1 city state postalCode';
    expect([...(body.required ?? [])].sort()).toEqual(required.split(' ').sort());
    for (const name of ['id', 'firstVisitDate', 'lastModified', 'referredPatients'])
      expect(body.properties).not.toHaveProperty(name);
    expect(body.properties.emailAddress?.type).toEqual(['string', 'null']);
    expect(body.properties.preferredLocation).toMatchObject({ $ref: '#/components/schemas/Link' });
    expect(body.properties.discountType?.enum).toEqual(['BASIC', 'SLIDING_FEES', null]);
  });

  it('of an update require nothing and leave out what only a creation sets', async () => {
    const document = await load();
    expect(schema(document, 'PatientUpdateV1').required).toBeUndefined();
    expect(Object.keys(schema(document, 'DocumentUpdateV1').properties)).toEqual(['name', 'tags']);
    expect(Object.keys(schema(document, 'DocumentCreateV1').properties)).toEqual(
      expect.arrayContaining(['name', 'mimeType', 'file', 'ownerPatient', 'tags', 'userDefinedDate']),
    );
  });

  it('of billing types are an array of ids', async () => {
    const document = await load();
    const { requestBody } = operationAt(document, 'post', '/api/v1/patients/{patientId}/billingtypes');
    expect(requestBody?.content['application/json']?.schema).toEqual({
      type: 'array',
      items: { $ref: '#/components/schemas/BillingTypeSetV1' },
    });
    expect(schema(document, 'BillingTypeSetV1')).toMatchObject({ required: ['id'], additionalProperties: false });
  });
});

describe('responses', () => {
  it('have the names of the specification', async () => {
    // Specification, Appointment history, Missed appointments, Patient insurance plans.
    for (const name of ['AppointmentHistory', 'MissedAppointment', 'PatientInsurancePlan']) {
      const wrapper = schema(await load(), `${name}BulkResponseWrapperV1`);
      expect(Object.keys(wrapper.properties)).toEqual(['data', 'warnings', 'errors', 'meta']);
    }
  });

  it.each([
    ['get', '/api/v1/patients', '200 400 401 403 408 429 500'],
    ['get', '/api/v1/patients/{patientId}', '200 400 401 403 404 408 429 500'],
    ['post', '/api/v1/patients', '201 400 401 403 408 409 413 415 429 500'],
    ['put', '/api/v1/patients/{patientId}', '200 400 401 403 404 408 413 415 429 500'],
    ['post', '/api/v1/patients/{patientId}/billingtypes', '200 400 401 403 404 408 409 413 415 429 500'],
    ['delete', '/api/v1/documents/{documentId}', '200 400 401 403 404 408 429 500'],
    ['get', '/api/v1/agingbalances/report', '200 400 401 403 404 408 429 500'],
    ['get', '/readyz', '200 503'],
    ['get', '/files/{organization}/documents/{document}/{variant}', '200 206 403 404 416 500'],
  ])('of %s %s', async (method, path, statuses) => {
    expect(Object.keys(operationAt(await load(), method, path).responses).join(' ')).toBe(statuses);
  });

  it('name every failure code', async () => {
    expect((await load()).components.schemas.FailureCode).toMatchObject({ enum: Object.keys(FAILURES) });
  });

  it('say what a refusal of one operation can be about', async () => {
    const document = await load();
    const about = (method: string, path: string) =>
      (operationAt(document, method, path).responses['400'] as { description: string }).description;
    expect(about('get', '/api/v1/transactions')).toContain('`filter.missing`');
    expect(about('get', '/api/v1/patients/{patientId}')).not.toContain('filter.');
    expect(about('post', '/api/v1/patients')).toContain('`idempotency.body_differs`');
  });

  it('allow null but in ids, types and lists', async () => {
    const { properties, required } = schema(await load(), 'DocumentV1');
    expect(required).toEqual(['id', 'type']);
    expect(properties.type).toMatchObject({ type: 'string', const: 'DocumentV1' });
    expect(properties.tags?.type).toBe('array');
    expect(properties.userDefinedDate).toMatchObject({ type: ['string', 'null'], format: 'date' });
    expect(properties.ownerPatient?.anyOf).toEqual([{ $ref: '#/components/schemas/Link' }, { type: 'null' }]);
    expect(properties).not.toHaveProperty('file');
  });

  it('know what pagination each list has (D17)', async () => {
    const document = await load();
    const pagination = (name: string) => {
      const meta = schema(document, name).properties.meta as unknown as DescribedSchema;
      const inner = meta.properties.pagination as unknown as DescribedSchema;
      return {
        all: Object.keys(inner.properties).sort().join(' '),
        always: [...(inner.required ?? [])].sort().join(' '),
      };
    };
    expect(pagination('DocumentBulkResponseWrapperV1')).toEqual({
      all: 'lastId limit offset total',
      always: 'limit offset total',
    });
    expect(pagination('PatientBulkResponseWrapperV1')).toEqual({ all: 'lastId limit total', always: 'limit' });
    expect(pagination('TransactionBulkResponseWrapper')).toEqual({
      all: 'lastId limit offset page pageSize total',
      always: 'limit offset page pageSize total',
    });
    expect(pagination('AppointmentHistoryBulkResponseWrapperV1')).toEqual({
      all: 'limit offset total',
      always: 'limit offset',
    });
    expect(schema(document, 'PatientListResponseWrapperV1').properties).not.toHaveProperty('meta');
  });
});
