import { describe, expect, it } from 'vitest';
import { allOperations } from '../../../src/catalog/catalog.ts';
import type { Problem, Warning } from '../../../src/catalog/failures.ts';
import { checkFilter } from '../../../src/catalog/filter/check.ts';
import { emittedFields, readFields } from '../../../src/catalog/record.ts';
import { exampleBody, exampleRequest, exampleResponse } from '../../../src/server/openapi/examples.ts';

const all = allOperations().map(({ resource, operation }) => [operation.id, resource, operation] as const);

describe.each(all)('the example of %s', (_id, resource, operation) => {
  it('has a filter that the operation takes', () => {
    const { filter } = exampleRequest(resource, operation).query;
    expect(filter === undefined).toBe(operation.filters === undefined);
    if (filter !== undefined) expect(checkFilter(filter, operation.filters ?? {}).length).toBeGreaterThan(0);
  });

  it('has a body without problems or warnings', () => {
    const fields = operation.body;
    if (fields === undefined) return;
    const body = exampleBody(resource, operation);
    const problems: Problem[] = [];
    const warnings: Warning[] = [];
    const mode = operation.shape === 'update' ? 'update' : 'create';
    for (const record of Array.isArray(body) ? body : [body]) readFields(fields, record, { mode, problems, warnings });
    expect({ problems, warnings }).toEqual({ problems: [], warnings: [] });
  });

  it('has a response with every field', () => {
    const { data } = exampleResponse(resource, operation) as { data: object };
    const record = Array.isArray(data) ? data[0] : data;
    if (operation.shape === 'count') expect(Object.keys(record)).toEqual(operation.countNames);
    else if (operation.fields !== undefined) expect(Object.keys(record)).toEqual(emittedFields(operation.fields));
  });

  it('fills in the path', () => {
    expect(exampleRequest(resource, operation).path).toMatch(/^\/api\/v1\/[a-z]+(\/([a-z]+|\d+))*$/);
  });
});
