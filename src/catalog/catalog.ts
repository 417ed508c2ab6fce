import type { Operation, Resource } from './define.ts';
import { appointments } from './resources/appointments.ts';
import { documents } from './resources/documents.ts';
import { patients } from './resources/patients.ts';
import { transactions } from './resources/transactions.ts';

/** Every resource of the service, in the order of the specification. */
export const RESOURCES: readonly Resource[] = [documents, patients, transactions, appointments];

export const API_PREFIX = '/api/v1';

/** Every operation with the resource it belongs to. */
export function allOperations(): { resource: Resource; operation: Operation }[] {
  return RESOURCES.flatMap((resource) =>
    Object.values(resource.operations).map((operation) => ({ resource, operation })),
  );
}

/** An operation that the resource is known to have. */
export function operationOf(resource: Resource, verb: string): Operation {
  const operation = resource.operations[verb];
  if (operation === undefined) throw new Error(`${resource.name} has no operation ${verb}`);
  return operation;
}

/** Path with its parameters filled in. */
export function pathOf(operation: Operation, id?: string | number): string {
  return API_PREFIX + operation.path.replace(/\{\w+\}/, encodeURIComponent(String(id ?? '')));
}
