import { API_PREFIX } from '../../catalog/catalog.ts';
import type { Operation, Resource } from '../../catalog/define.ts';
import { byName, type Json, ref } from './json.ts';
import { bodyName, operationName } from './names.ts';
import { parametersOf } from './parameters.ts';
import { exampleBody } from './requests.ts';
import { responsesOf } from './responses.ts';

/** Path items of every operation of the catalog, by path. */
export function operationPaths(resources: readonly Resource[]): Readonly<Record<string, Json>> {
  const paths = new Map<string, [string, Json][]>();
  for (const resource of resources) {
    for (const operation of Object.values(resource.operations)) {
      const path = API_PREFIX + operation.path;
      const item = [operation.method.toLowerCase(), operationObject(resource, operation)] as [string, Json];
      paths.set(path, [...(paths.get(path) ?? []), item]);
    }
  }
  return byName([...paths].map(([path, items]) => [path, byName(items)] as const));
}

function operationObject(resource: Resource, operation: Operation): Json {
  const body = bodyName(resource, operation);
  return {
    operationId: operationName(operation),
    tags: [resource.name],
    summary: operation.summary,
    description: [`${operation.summary}.`, accessNote(operation), ...notesOf(operation)].join('\n\n'),
    parameters: parametersOf(resource.one, operation),
    ...(body !== undefined && { requestBody: requestBody(resource, operation, body) }),
    responses: responsesOf(resource, operation),
    security: [{ bearer: [] }, { clientCredentials: [operation.scope] }],
  };
}

function requestBody(resource: Resource, operation: Operation, body: string): Json {
  const schema = ref('schemas', body);
  const content = {
    schema: operation.bodyIsArray ? { type: 'array', items: schema } : schema,
    example: exampleBody(resource, operation),
  };
  return { required: true, content: { 'application/json': content } };
}

function accessNote({ scope, rateLimited }: Operation): string {
  return `Needs the scope \`${scope}\`.${rateLimited ? ' Rate limited.' : ''}`;
}

/** What is worth knowing about an operation beside its parameters, one sentence each. */
export function notesOf(operation: Operation): string[] {
  const { defaultDate, newestFirst, order, shape, countNames = [] } = operation;
  return [
    ...(shape === 'update' ? ['Only what the body has changes; null clears a value that is not required.'] : []),
    ...(shape === 'replace' ? ['The body replaces the whole list; an empty one clears it.'] : []),
    ...(shape === 'async'
      ? [
          'Answers the first 10 records; all of them go to the stream (`GET /api/v1/stream`) as READ messages whose correlationId is the X-Correlation-ID of the answer, followed by one READ_COMPLETE with their total.',
        ]
      : []),
    ...(countNames.length > 1 ? [`${countNames.join(' and ')} are the same number.`] : []),
    ...(order === 'descending' ? ['Newest first: ids descend.'] : []),
    ...(newestFirst
      ? [`Newest first when filtered by ${newestFirst.join(' or ')} without lastId; send lastId to walk all of them.`]
      : []),
    ...(defaultDate
      ? [
          `Without a filter on ${defaultDate.limiting.join(' or ')}, only ${defaultDate.key} of the last year is answered, and a warning says so.`,
        ]
      : []),
    ...(operation.method === 'POST' ? ['Takes an Idempotency-Key, so that it can be repeated safely.'] : []),
  ];
}
