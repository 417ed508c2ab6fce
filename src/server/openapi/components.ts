import type { Operation, Resource } from '../../catalog/define.ts';
import { FAILURES } from '../../catalog/failures.ts';
import type { Fields } from '../../catalog/record.ts';
import { answered, dataForm, paginationNames } from './answers.ts';
import { byName, type Json, ref } from './json.ts';
import { bodyName, namedFields } from './names.ts';
import { wrapperName } from './responses.ts';
import { answerSchema, bodySchema } from './schemas.ts';

/** Schemas that every operation shares. */
const SHARED_SCHEMAS: Readonly<Record<string, Json>> = {
  Link: {
    type: 'object',
    description: 'A link to a record of the same organization.',
    properties: { id: { type: 'integer', format: 'int64', minimum: 1 } },
    required: ['id'],
  },
  OrganizationLink: {
    type: 'object',
    description: 'A link to an organization, whose ids are text.',
    properties: { id: { type: 'string' } },
    required: ['id'],
  },
  Warning: {
    type: 'object',
    description: 'Something worth knowing about a request that succeeded.',
    properties: {
      title: { type: 'string' },
      description: { type: 'string' },
      source: { type: ['string', 'null'], description: 'The parameter, filter key or property it is about' },
    },
    required: ['title', 'description', 'source'],
  },
  FailureCode: {
    type: 'string',
    description: 'What was refused; codes are stable.',
    enum: Object.keys(FAILURES),
  },
  ErrorItem: {
    type: 'object',
    properties: {
      code: ref('schemas', 'FailureCode'),
      title: { type: 'string' },
      description: { type: 'string', description: 'What was wrong, and what would be right' },
      source: {
        type: ['string', 'null'],
        description: 'The body field path, filter key, query parameter or header at fault',
      },
    },
    required: ['code', 'title', 'description', 'source'],
  },
  Failure: {
    type: 'object',
    description: 'The body of every answer that refuses; all problems of a request are reported together.',
    properties: {
      statusCode: { type: 'integer' },
      data: { type: 'null' },
      warnings: { type: 'array', items: ref('schemas', 'Warning') },
      errors: { type: 'array', items: ref('schemas', 'ErrorItem'), minItems: 1 },
    },
    required: ['statusCode', 'data', 'warnings', 'errors'],
  },
};

interface Mounted {
  readonly resource: Resource;
  readonly operation: Operation;
}

/** Every schema of the document: those that are shared, and records, bodies and envelopes of each operation. */
export function schemasOf(resources: readonly Resource[]): Readonly<Record<string, Json>> {
  const all = resources.flatMap((resource): Mounted[] =>
    Object.values(resource.operations).map((operation) => ({ resource, operation })),
  );
  return {
    ...SHARED_SCHEMAS,
    ...recordSchemas(resources, all),
    ...bodySchemas(resources, all),
    ...byName(
      all.map((mounted) => [wrapperName(mounted.resource, mounted.operation), wrapperSchema(mounted)] as const),
    ),
  };
}

function recordSchemas(resources: readonly Resource[], all: readonly Mounted[]): Readonly<Record<string, Json>> {
  return byName(
    [...namedFields(resources)].map(([fields, name]) => {
      const using = all.filter((mounted) => mounted.operation.fields === fields);
      const style = {
        computed: all.some(({ resource }) => resource.computed && owns(resource, fields)),
        selectable: using.some(({ operation }) => Boolean(operation.selectable)),
      };
      return [name, answerSchema(fields, style, namedFields(resources))] as const;
    }),
  );
}

function owns(resource: Resource, fields: Fields): boolean {
  return (
    resource.fields === fields || Object.values(resource.operations).some((operation) => operation.fields === fields)
  );
}

function bodySchemas(resources: readonly Resource[], all: readonly Mounted[]): Readonly<Record<string, Json>> {
  return byName(
    all.flatMap(({ resource, operation }) => {
      const name = bodyName(resource, operation);
      if (name === undefined || operation.body === undefined) return [];
      const use = operation.shape === 'update' ? 'update' : 'create';
      return [[name, bodySchema(operation.body, use, namedFields(resources))] as const];
    }),
  );
}

/** The envelope of a successful answer (D6). */
function wrapperSchema({ resource, operation }: Mounted): Json {
  const pagination = paginationNames(operation);
  const always = operation.paging !== undefined && pagination !== undefined;
  return {
    type: 'object',
    properties: {
      data: dataSchema(resource, operation),
      warnings: { type: 'array', items: ref('schemas', 'Warning') },
      errors: { type: 'array', items: ref('schemas', 'ErrorItem'), maxItems: 0 },
      ...(pagination && { meta: metaSchema(pagination) }),
    },
    required: ['data', 'warnings', 'errors', ...(always ? ['meta'] : [])],
  };
}

function dataSchema(resource: Resource, operation: Operation): Json {
  const record = ref('schemas', answered(resource, operation).name);
  const integer = { type: 'integer', minimum: 0 };
  switch (dataForm(resource, operation)) {
    case 'counts': {
      const names = operation.countNames ?? [];
      return { type: 'object', properties: byName(names.map((name) => [name, integer])), required: names };
    }
    case 'deleted':
      return ref('schemas', 'Link');
    case 'records':
      return { type: 'array', items: record };
    case 'record':
      return record;
  }
}

function metaSchema({ always, sometimes }: { always: readonly string[]; sometimes: readonly string[] }): Json {
  const names = [...always, ...sometimes].map((name) => [name, { type: 'integer', format: 'int64' }] as const);
  const pagination = { type: 'object', properties: byName(names), required: always };
  return { type: 'object', properties: { pagination }, required: ['pagination'] };
}
