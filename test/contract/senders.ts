import { type Called, rowOf } from '../support/calls.ts';
import type { TestService } from '../support/service.ts';
import { callSample, newBody, operations, type TestedOperation } from './operations.ts';

/** A way by which single values of a record can be written. */
export interface Sender {
  readonly name: string;
  /** Whether a field can be sent at all. */
  readonly takes: (name: string) => boolean;
  /** Sends one value, with what a body must hold beside it. */
  readonly send: (name: string, value: unknown) => Promise<Called>;
}

/** POST, and PUT to a record that POST made: both read their bodies by the same rules. */
function sendersOf(service: TestService, tested: TestedOperation): Sender[] {
  const { fixture, resource } = tested;
  const accessOf = (name: string) => resource.fields[name]?.access;
  const companions = (name: string, value: unknown) => fixture.companions?.(name, value) ?? {};
  const post: Sender = {
    name: 'POST',
    takes: (name) => accessOf(name) !== 'readOnly',
    send: (name, value) =>
      service.call('POST', tested.operation.path, {
        body: { ...newBody(tested), ...companions(name, value), [name]: value },
      }),
  };
  const [update] = operations('update').filter(([, other]) => other.resource === resource);
  if (update === undefined) return [post];
  let id: unknown;
  const put: Sender = {
    name: 'PUT',
    takes: (name) => accessOf(name) === 'readWrite',
    async send(name, value) {
      id ??= rowOf(await callSample(service, tested)).id;
      return callSample(service, update[1], { id, body: { ...companions(name, value), [name]: value } });
    },
  };
  return [post, put];
}

/** One row a field of the table and way of sending it, for `it.each`. */
export function rowsFor<T extends readonly [name: string, ...rest: unknown[]]>(
  service: TestService,
  tested: TestedOperation,
  table: readonly T[] = [],
) {
  return sendersOf(service, tested).flatMap((sender) =>
    table.filter(([name]) => sender.takes(name)).map((row) => [`${sender.name} ${row[0]}`, sender, row] as const),
  );
}
