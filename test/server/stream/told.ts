import type { StreamMessage } from '../../../src/catalog/stream/messages.ts';
import { findOrganization } from '../../../src/server/organizations.ts';
import type { Positions } from '../../../src/server/stream/positions.ts';
import type { WireRecord } from '../../support/calls.ts';
import { ORGANIZATION } from '../../support/ids.ts';
import type { TestService } from '../../support/service.ts';

/** Every message of the store, oldest first. */
export async function allMessages({ service }: TestService): Promise<StreamMessage[]> {
  const messages: StreamMessage[] = [];
  for (let last = 0; ; ) {
    const page = await service.stream.readMessages(last, 1000);
    if (page.length === 0) return messages;
    messages.push(...page.map(({ text }) => JSON.parse(text) as StreamMessage));
    last = page.at(-1)?.id ?? last;
  }
}

/** The messages of the organization that calls are for, oldest first. */
export async function ownMessages(service: TestService): Promise<StreamMessage[]> {
  return (await allMessages(service)).filter(({ organizationId }) => organizationId === ORGANIZATION);
}

/** What that organization has of the stream, in its own numbers. */
export async function ownPositions({ service }: TestService): Promise<Positions> {
  const organization = await findOrganization(service.store.read, ORGANIZATION);
  return service.stream.positionsOf(organization?.org ?? 0);
}

/** The messages that come of some work, oldest first. */
export async function messagesOf(service: TestService, work: () => Promise<unknown>): Promise<StreamMessage[]> {
  const before = (await allMessages(service)).length;
  await work();
  return (await allMessages(service)).slice(before);
}

/** A message in short: routing key without the organization, and payload. */
export type Told = readonly [key: string, payload: WireRecord];

/** What the stream tells of some work, in short; each envelope is checked to agree with its own routing key. */
export async function told(service: TestService, work: () => Promise<unknown>): Promise<Told[]> {
  const messages = await messagesOf(service, work);
  return messages.map((message) => {
    const { routingKey, organizationId, locationId, domainType, operation, payload } = message;
    if (routingKey !== [organizationId, locationId, domainType, operation].join('.')) throw new Error(routingKey);
    if (organizationId !== ORGANIZATION) throw new Error(`A message of ${organizationId}`);
    return [`${locationId}.${domainType}.${operation}`, payload];
  });
}
