import sql from 'sql-template-tag';
import type { StreamMessage } from '../../../src/catalog/stream/messages.ts';
import { findOrganization } from '../../../src/server/organizations.ts';
import type { Positions } from '../../../src/server/stream/positions.ts';
import type { WireRecord } from '../../support/calls.ts';
import { ORGANIZATION } from '../../support/ids.ts';
import type { TestService } from '../../support/service.ts';

/** Every message of the store, those of an organization oldest first. */
export async function allMessages({ service }: Pick<TestService, 'service'>): Promise<StreamMessage[]> {
  const orgs = await service.store.read.all<{ org: number }>(sql`SELECT org FROM stream_heads ORDER BY org`);
  const messages: StreamMessage[] = [];
  for (const { org } of orgs) {
    for (let last = 0; ; ) {
      const page = await service.stream.readMessages({ org }, last, 1000);
      if (page.messages.length === 0) break;
      messages.push(...page.messages.map(({ text }) => JSON.parse(text) as StreamMessage));
      last = page.messages.at(-1)?.number ?? last;
    }
  }
  return messages;
}

/** The key in the store of the organization that calls are for. */
export async function ownOrg({ service }: Pick<TestService, 'service'>): Promise<number> {
  return (await findOrganization(service.store.read, ORGANIZATION))?.org ?? 0;
}

/** The messages of the organization that calls are for, oldest first. */
export async function ownMessages(service: TestService): Promise<StreamMessage[]> {
  return (await allMessages(service)).filter(({ organizationId }) => organizationId === ORGANIZATION);
}

/** What that organization has of the stream, in its own numbers. */
export async function ownPositions({ service }: TestService): Promise<Positions> {
  return service.stream.positionsOf(await ownOrg({ service }));
}

/** The messages that come of some work, oldest first. */
export async function messagesOf(service: TestService, work: () => Promise<unknown>): Promise<StreamMessage[]> {
  const nameOf = ({ organizationId, id }: StreamMessage) => `${organizationId} ${id}`;
  const before = new Set((await allMessages(service)).map(nameOf));
  await work();
  return (await allMessages(service)).filter((message) => !before.has(nameOf(message)));
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
