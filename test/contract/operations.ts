import { allOperations } from '../../src/catalog/catalog.ts';
import type { Operation, Resource, Shape } from '../../src/catalog/define.ts';
import type { Called, CallOptions } from '../support/calls.ts';
import type { ResourceFixture, SampleRequest } from '../support/fixture.ts';
import { FIXTURES } from '../support/resources.ts';
import type { TestService } from '../support/service.ts';

/** An operation of the catalog with the fixture of its resource. */
export interface TestedOperation {
  readonly operation: Operation;
  readonly resource: Resource;
  readonly fixture: ResourceFixture;
}

/**
 * Rows for `describe.each`: the operation's id and what to call. Without shapes: every operation. A resource without
 * a fixture has no rows; `success.test.ts` fails for it.
 */
export function operations(...shapes: readonly Shape[]): [id: string, tested: TestedOperation][] {
  return allOperations()
    .filter(({ operation }) => shapes.length === 0 || shapes.includes(operation.shape))
    .flatMap(({ operation, resource }): [string, TestedOperation][] => {
      const fixture = FIXTURES.find((candidate) => candidate.resource === resource);
      return fixture === undefined ? [] : [[operation.id, { operation, resource, fixture }]];
    });
}

/** Rows for the operations that a predicate picks. */
export function operationsThat(pick: (operation: Operation) => boolean): [id: string, tested: TestedOperation][] {
  return operations().filter(([, { operation }]) => pick(operation));
}

let created = 0;

/** A body that POST of the resource takes; every one differs from those before. */
export function newBody({ fixture }: TestedOperation): Readonly<Record<string, unknown>> {
  if (fixture.create === undefined) throw new Error(`The fixture of ${fixture.resource.name} has no create.`);
  return fixture.create(++created);
}

/** A body that PUT of the resource takes and that changes any record; every one differs from those before. */
export function changedBody({ fixture }: TestedOperation): Readonly<Record<string, unknown>> {
  if (fixture.update === undefined) throw new Error(`The fixture of ${fixture.resource.name} has no update.`);
  return fixture.update(++created);
}

/** A request that succeeds on a service with the fixture records. */
export function sample(tested: TestedOperation): SampleRequest {
  const { operation, fixture } = tested;
  const verb = operation.id.slice(operation.id.indexOf('.') + 1);
  return { ...usual(tested), ...fixture.samples?.[verb] };
}

/** What the shape of an operation asks for. */
function usual(tested: TestedOperation): SampleRequest {
  const { operation, fixture } = tested;
  const filter = fixture.always;
  const id = fixture.records.at(-1)?.id as number;
  switch (operation.shape) {
    case 'list':
    case 'async':
    case 'count':
      return filter === undefined ? {} : { query: { filter } };
    case 'create':
      return { body: newBody(tested) };
    case 'update':
      return { id, body: changedBody(tested) };
    case 'get':
    case 'delete':
      return { id };
    default:
      return {};
  }
}

export function pathFor({ operation }: TestedOperation, id?: unknown): string {
  return operation.path.replace(/\{\w+\}/, encodeURIComponent(String(id ?? '')));
}

/** Whether the path holds a record id. */
export function hasId({ operation }: TestedOperation): boolean {
  return operation.path.includes('{');
}

/** Calls an operation with its sample request, changed as told; a `query` is added to the sample's. */
export function callSample(
  service: TestService,
  tested: TestedOperation,
  change: CallOptions & { id?: unknown } = {},
): Promise<Called> {
  const { id, query, body } = sample(tested);
  const { id: otherId, ...options } = change;
  return service.call(tested.operation.method, pathFor(tested, otherId ?? id), {
    ...(body !== undefined && { body }),
    ...options,
    query: { ...query, ...options.query },
  });
}

/** `filter` of a bulk read: the term given, and those that every bulk read of the resource carries. */
export function filterWith({ fixture }: TestedOperation, ...terms: readonly string[]): string {
  return [...(fixture.always === undefined ? [] : [fixture.always]), ...terms].join(',');
}
